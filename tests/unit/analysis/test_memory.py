"""Memory of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dlprof.analysis import memory
from dlprof.analysis.memory import GrownAt
from dlprof.analysis.memory_parts import Moment
from tests.unit.analysis.memory_runs import MB, S, over_training, sample, split, stood
from tests.unit.runs import fit_span, span, steps, trained


def owner(kind: str, size: int | None, **more: Any) -> dict[str, Any]:
    """A row of `memory_owners`."""
    return {"model": 1, "layer": "dense", "kind": kind, "bytes": size, "how": "exact", "count": 1, **more}


def test_the_peak_has_its_time_phase_and_line(tmp_path: Path) -> None:
    """The innermost line of the user's own; the library's below it is not."""
    samples = [split(1, 100), split(4, 700, 100), split(9, 200)]
    found = memory.of_run(trained(tmp_path / "r", process_samples=samples, **stood(3.9, 4.1, 12)))

    assert found.peak == Moment(4 * S, 800, "fit.steps", "train.py", 12)
    assert found.kinds == {"anonymous_bytes": 700, "file_bytes": 100, "shared_bytes": 0, "swap_bytes": 0}


def test_a_stack_of_another_time_says_nothing_of_the_peak(tmp_path: Path) -> None:
    """The reason is told."""
    found = memory.of_run(trained(tmp_path / "r", process_samples=[sample(4, 800)], **stood(3.0, 3.5, 12)))

    assert found.peak == Moment(4 * S, 800, "fit.steps", None, None)
    assert found.not_measured["peak_at.file"] == "no line of the script's own was seen then"


def test_a_stack_that_was_seen_first_in_another_phase_says_nothing(tmp_path: Path) -> None:
    """Sampled once a second, it is taken to last into what came then; fit begins at 2 s."""
    found = memory.of_run(trained(tmp_path / "r", process_samples=[sample(2.3, 800)], **stood(1.5, 2.5, 12)))

    assert found.peak == Moment(2_300_000_000, 800, "fit.steps", None, None)


def test_what_tracing_kernels_took_is_no_peak_of_the_run(tmp_path: Path) -> None:
    """It is told beside it."""
    spans = [span("dlprof", 3, 3.1, name="start kernel tracing"), span("dlprof", 5, 5.5, name="stop kernel tracing")]
    samples = [sample(2.5, 500), sample(4, 2800), sample(6, 600)]
    found = memory.of_run(trained(tmp_path / "r", process_samples=samples, spans=spans))

    assert (found.peak and found.peak.bytes, found.traced_peak and found.traced_peak.bytes) == (600, 2800)


def test_a_run_of_which_nothing_else_was_sampled_has_the_peak_of_its_window(tmp_path: Path) -> None:
    """Better than none."""
    spans = [span("dlprof", 1, 1.1, name="start kernel tracing")]
    found = memory.of_run(trained(tmp_path / "r", process_samples=[sample(4, 2800)], spans=spans))

    assert (found.peak and found.peak.bytes, found.traced_peak) == (2800, None)


def test_a_process_that_has_ended_holds_nothing_and_is_no_sample(tmp_path: Path) -> None:
    """Nobody has waited for it yet."""
    found = memory.of_run(trained(tmp_path / "r", process_samples=[sample(4, 500), sample(9.9, 0)]))

    assert [part.name for part in found.phases if part.peak is not None] == ["fit.steps"]


def test_what_holds_it_is_told_of_the_trainings_peak(tmp_path: Path) -> None:
    """At a larger one before, no model was there."""
    owners, samples = [owner("parameters", 300)], [sample(1, 900), sample(4, 800)]
    found = memory.of_run(trained(tmp_path / "r", process_samples=samples, memory_owners=owners))

    assert (found.peak and found.peak.bytes, found.owned_peak and found.owned_peak.bytes) == (900, 800)
    assert [(one.kind, one.bytes) for one in found.owners] == [("parameters", 300), ("other", 500)]


def test_each_phase_has_its_peak_and_growth(tmp_path: Path) -> None:
    """Growth is taken on a line between samples; a phase without a sample has neither."""
    samples = [sample(1, 100), sample(2, 200), sample(6, 600), sample(10, 200)]
    found = memory.of_run(trained(tmp_path / "r", process_samples=samples))

    assert [(part.name, part.peak.bytes if part.peak else None, part.growth_bytes) for part in found.phases] == [
        ("import", 100, 100),
        ("fit.steps", 600, 300),
        ("fit.callbacks", None, None),
        ("teardown", None, None),
    ]


def test_each_epoch_has_its_peak(tmp_path: Path) -> None:
    """They count from 1."""
    epochs = [{"loop_id": 1, "epoch": n, "start_ns": (2 + n) * S, "dur_ns": S, "steps": 9} for n in range(2)]
    samples = [sample(2.5, 300), sample(3.5, 500)]
    found = memory.of_run(trained(tmp_path / "r", process_samples=samples, epochs=epochs))

    assert [(part.name, part.peak.bytes if part.peak else None) for part in found.epochs] == [
        ("epoch 1", 300),
        ("epoch 2", 500),
    ]


def test_what_grows_says_where_the_thread_stood(tmp_path: Path) -> None:
    """1 MB at each sample, always at one line."""
    found = memory.of_run(over_training([n * MB for n in range(100)], tmp_path / "r", **stood(2, 8, 30)))

    assert found.growth is not None
    assert found.growth.is_growing
    assert found.grown_at == GrownAt("fit.steps", "train.py", 30, 1.0)


def test_what_no_owner_has_is_left(tmp_path: Path) -> None:
    """Of one model on the host."""
    owners = [owner("parameters", 300), owner("optimizer", 200)]
    found = memory.of_run(trained(tmp_path / "r", process_samples=[sample(4, 800)], memory_owners=owners))

    assert [(one.kind, one.bytes, one.how) for one in found.owners] == [
        ("parameters", 300, "exact"),
        ("optimizer", 200, "exact"),
        ("other", 300, "estimate"),
    ]


def test_memory_of_a_gpu_is_not_taken_off_the_hosts(tmp_path: Path) -> None:
    """Nor is anything left of several models, of which some may be gone."""
    on_gpu = [owner("parameters", 300, device="cuda:0")]
    several = [owner("parameters", 300), owner("parameters", 200, model=2)]

    for number, owners in enumerate((on_gpu, several)):
        run = trained(tmp_path / str(number), process_samples=[sample(4, 800)], memory_owners=owners)
        assert {one.kind for one in memory.of_run(run).owners} == {"parameters"}


def test_limits_and_how_near_it_came(tmp_path: Path) -> None:
    """Bytes; killed are those of the run."""
    machine = [
        {"time_ns": n * S, "interval_ns": S, "limit_address_space_bytes": 900, "limit_group_bytes": 500,
         "group_used_bytes": 100 * n, "group_killed_count": 3 + n // 2, "memory_available_bytes": 50}
        for n in (1, 2)
    ]  # fmt: skip
    run = trained(tmp_path / "r", process_samples=[sample(4, 800, address_space_bytes=850)], machine=machine)
    limits = memory.of_run(run).limits

    assert (limits.address_space, limits.address_space_peak, limits.data) == (900, 850, None)
    assert (limits.control_group, limits.control_group_peak, limits.killed) == (500, 200, 1)


def test_without_samples_each_figure_says_why(tmp_path: Path) -> None:
    """The process probe was off."""
    probes = [{"name": "cores", "state": "off", "reason": "it was not asked for"}]
    found = memory.of_run(trained(tmp_path / "r", probes=probes))

    assert (found.peak, found.phases, found.growth) == (None, (), None)
    assert found.not_measured["peak_bytes"] == "it was not asked for"
    assert found.not_measured["owners"].startswith("no training by a model of Keras")


def test_the_steps_with_the_largest_peaks_come_first(tmp_path: Path) -> None:
    """25 of 50 steps of 200 ms, with four samples each, and 25 more behind the last sample; the samples grow."""
    rows = [*steps(25, dur_ms=200), *steps(25, start_s=7, dur_ms=10)]
    found = memory.of_run(over_training([n * MB for n in range(100)], tmp_path / "r", steps=rows)).steps

    assert found is not None
    assert (found.sampled, found.count, len(found.largest)) == (25, 50, 20)
    peaks = [(one.name, one.peak.bytes if one.peak else None) for one in found.largest[:2]]
    assert peaks == [("epoch 1, step 25", 99 * MB), ("epoch 1, step 24", 95 * MB)]


def test_steps_in_which_kernels_were_traced_are_no_largest_ones(tmp_path: Path) -> None:
    """Tracing takes memory itself; a loop without epochs has steps only."""
    spans = [
        fit_span(),
        span("dlprof", 6.01, 6.02, span_id=8, name="start kernel tracing"),
        span("dlprof", 6.98, 6.99, span_id=9, name="stop kernel tracing"),
    ]
    rows = steps(25, dur_ms=200, epoch=None)
    found = memory.of_run(over_training([n * MB for n in range(100)], tmp_path / "r", steps=rows, spans=spans)).steps

    assert found is not None
    assert [one.name for one in found.largest[:1]] == ["step 21"]


def test_without_samples_no_steps_are_told(tmp_path: Path) -> None:
    """Not that there are none."""
    assert memory.of_run(trained(tmp_path / "r")).steps is None
