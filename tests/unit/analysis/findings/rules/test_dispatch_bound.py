"""Steps that are too small."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from dlprof.analysis.findings.finding import Diagnosis
from tests.unit import runs
from tests.unit.analysis.findings import foreign
from tests.unit.analysis.findings.cases import SMALL, Planted, diagnosed, in_callbacks, on, pick, quiet, slugs
from tests.unit.runs import MS, S


def planted() -> Planted:
    """2 samples a step, and kernels in a tenth of it."""
    return Planted(
        quiet(spans=[runs.fit_span(batch_size=2)], steps=runs.steps(300, samples=2), **runs.window(SMALL)),
        on("tensorflow"),
    )


def test_tiny_batches_are_dispatch_bound(tmp_path: Path) -> None:
    """2 samples a step, and kernels in a tenth of it."""
    finding = pick(planted().diagnosis(tmp_path), "dispatch-bound")

    assert finding.at_stake_ns == pytest.approx(5.4 * S * (1 - 2 / 128), rel=0.01)


def test_waits_for_other_ranks_are_no_part_of_starting_a_step(tmp_path: Path) -> None:
    """A rank stands still for 15 of the 18 ms outside of kernels in each step: larger batches save none of that."""
    waits = [
        {"kind": "backward", "process_group": "0", "ordinal": number, "start_ns": one["start_ns"] + 2 * MS,
         "dur_ns": 15 * MS, "blocked_ns": 15 * MS, "bytes": 400}
        for number, one in enumerate(runs.steps(300, samples=2))
    ]  # fmt: skip
    told = replace(planted(), tables={**planted().tables, "collectives": waits}).diagnosis(tmp_path)

    assert pick(told, "dispatch-bound").at_stake_ns == pytest.approx(0.9 * S * (1 - 2 / 128), rel=0.01)


def test_saves_between_small_steps_are_no_part_of_starting_them(tmp_path: Path) -> None:
    """Nine tenths of 4 s of steps, of which larger batches save half; 2 s of callbacks save the model."""
    tables = {
        **in_callbacks(("save", "keras/src/saving/saving_api.py", 5)),
        **runs.window(SMALL),
        "steps": runs.steps(200, samples=128),
        "spans": [runs.fit_span(), runs.span("save", 6, 7), runs.span("save", 7, 8)],
    }

    assert pick(diagnosed(tmp_path / "r", on("tensorflow"), **tables), "dispatch-bound").at_stake_ns == pytest.approx(
        1_800 * MS, rel=0.01
    )


def test_a_foreign_trace_with_long_idle_steps_is_not_judged() -> None:
    """A TPU that idles for two thirds of its 57 steps of 0.8 s: nothing tells that these are small."""
    because = foreign.abstained("xprof_tpu_v6e.xplane.pb.gz", "dispatch-bound")

    assert because == "a foreign trace does not tell its batch; gaps of a device tell more: small-kernels, gpu-idle"


def of_batch(path: Path, batch: int | None, kernels_ms: float) -> Diagnosis:
    """300 steps of 20 ms of so many samples, of which kernels take a part."""
    span = runs.fit_span(batch_size=batch)
    window = runs.window([{**SMALL[0], "ms": kernels_ms}])
    return diagnosed(
        path / "r", on("tensorflow"), **quiet(spans=[span], steps=runs.steps(300, samples=batch), **window)
    )


def test_usual_batches_are_small_only_where_starting_is_most_of_a_step(tmp_path: Path) -> None:
    """False on a script that was mended: 64 samples, and kernels in 9 of 20 ms. With 6 of 20 ms it is said."""
    assert "dispatch-bound" not in slugs(of_batch(tmp_path / "a", 64, 9))
    assert "dispatch-bound" in slugs(of_batch(tmp_path / "b", 64, 6))
    assert "dispatch-bound" in slugs(of_batch(tmp_path / "c", 8, 9))


def test_of_steps_whose_batch_nobody_told_it_is_asked(tmp_path: Path) -> None:
    """They may be as large as they can be."""
    assert pick(of_batch(tmp_path / "a", None, 2), "dispatch-bound").is_question
    assert not pick(of_batch(tmp_path / "b", 8, 2), "dispatch-bound").is_question


def test_steps_are_joined_by_keras_alone(tmp_path: Path) -> None:
    """False before: a loop of the script's own was told to set `steps_per_execution`."""
    own = replace(planted(), told=on("torch"))
    advice = [
        pick(one.diagnosis(tmp_path / name), "dispatch-bound").next_step for name, one in (("a", planted()), ("b", own))
    ]

    assert advice[0].startswith("Use a larger batch, or steps_per_execution")
    assert advice[1].startswith("Use a larger batch, so that")
