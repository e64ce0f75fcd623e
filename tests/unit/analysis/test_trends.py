"""What becomes more with the steps, beside memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis import trends
from dlprof.analysis.trends import Named, Trend, Trends
from dlprof.schema.vocabulary import Trended
from dlprof.store.run import Run
from tests.unit.runs import MS, S, span, steps, trained

MOMENTS = [2 + 0.1 * n for n in range(51)]
"""From 2 s to 7 s: the steps go from 2 s to 7 s, too."""


def samples(pid: int = 42, **columns: Any) -> list[dict[str, Any]]:
    """Samples of a process; each column is a function of the time (s)."""
    told = {"pid": pid, "interval_ns": S // 10, "rss_bytes": 1}
    return [
        {**told, "time_ns": round(at * S), **{name: value(at) for name, value in columns.items()}} for at in MOMENTS
    ]


def held(kind: str, *counts: int, **more: Any) -> list[dict[str, Any]]:
    """Rows of `held_objects` at equal times from 2 s to 7 s."""
    each = 5 / max(1, len(counts) - 1)
    return [
        {"time_ns": round((2 + each * n) * S), "kind": kind, "count": count, **more} for n, count in enumerate(counts)
    ]


def epochs(count: int) -> list[dict[str, Any]]:
    """Of 250 steps together."""
    return [{"loop_id": 1, "epoch": n, "start_ns": 2 * S, "dur_ns": S, "steps": 250 // count} for n in range(count)]


def of(path: Path, **tables: Any) -> Trends:
    """Of a run of 250 steps."""
    return trends.of_run(trained(path / "r", **tables))


def trend(path: Path, quantity: Trended, **tables: Any) -> Trend:
    """One that can be told."""
    found = of(path, **tables).of(quantity)
    assert found is not None
    return found


def test_threads_and_descriptors_are_the_traced_process_s(tmp_path: Path) -> None:
    """One more thread each 5 steps; those of a child are its own."""
    tables = [
        *samples(threads=lambda at: 4 + int(10 * (at - 2)), descriptors=lambda at: 7 if at % 1 < 0.05 else None),
        *samples(43, threads=lambda at: 900),
    ]
    found = of(tmp_path, process_samples=tables)

    threads, descriptors = found.of(Trended.THREADS), found.of(Trended.DESCRIPTORS)
    assert threads is not None
    assert descriptors is None
    assert threads.slope.per_step == pytest.approx(0.2, rel=0.05)
    assert threads.is_growing is True
    assert "5 samples, 24 steps and 1.5 s are needed" in found.not_measured[Trended.DESCRIPTORS]


def test_processes_below_are_counted_while_they_are_there(tmp_path: Path) -> None:
    """One that has ended, and that nobody has waited for, has nothing resident."""
    children = [
        row
        for number in range(10)
        for row in samples(100 + number, rss_bytes=lambda at, n=number: 1 if at >= 3 + n * 0.4 else 0)
    ]
    found = trend(tmp_path, Trended.PROCESSES, process_samples=[*samples(), *children])

    assert (found.slope.first, found.slope.last) == (1.5, 10.0)
    assert found.is_growing is True


@pytest.mark.parametrize(
    ("quantity", "counts", "grows"),
    [
        (Trended.OBJECTS, (100_000, 102_000, 104_000, 106_000, 108_000, 110_000), True),
        (Trended.OBJECTS, (100_000, 100_300, 100_600, 100_900, 101_200, 101_500), False),
        (Trended.TENSORS, (500, 550, 600, 650, 700, 750), True),
        (Trended.TENSORS, (500, 550, 560, 650, 660, 750), False),
        (Trended.TENSORS, (500, 500, 500, 500, 500, 500), False),
        (Trended.BLOCKS, tuple(range(400_000, 500_000, 10_000)), True),
        (Trended.BLOCKS, tuple(range(400_000, 400_100, 10)), False),
    ],
)
def test_what_python_holds_grows_by_numbers_that_matter(
    tmp_path: Path, quantity: Trended, counts: tuple[int, ...], grows: bool
) -> None:
    """A slope beyond doubt may be too small to matter."""
    assert trend(tmp_path, quantity, held_objects=held(quantity.value, *counts)).is_growing is grows


def test_types_of_which_there_are_more_are_named(tmp_path: Path) -> None:
    """By what came after the warm-up: most of the cache was there before it was first told."""
    rows = held("objects", *range(100_000, 160_000, 10_000))
    last = {"time_ns": 7 * S, "kind": "type", "pid": 42}
    rows += [
        {"time_ns": 4 * S, "kind": "type", "name": "list", "count": 895, "more_count": 5},
        {"time_ns": 4 * S, "kind": "type", "name": "torch.Tensor", "count": 50, "more_count": 10},
        {**last, "name": "list", "count": 900, "more_count": 10},
        {**last, "name": "torch.Tensor", "count": 70, "more_count": 30},
        {**last, "name": "cache", "count": 400, "more_count": 390},
    ]

    found = trend(tmp_path, Trended.OBJECTS, held_objects=rows)
    assert found.names == (Named("torch.Tensor", 70, 20), Named("list", 900, 5))


def test_descriptors_are_named_by_what_is_common_among_the_newest(tmp_path: Path) -> None:
    """A name that few have is not what there is more of."""
    named = {"pid": 42, "time_ns": 6 * S, "kind": "descriptors", "count": 60, "looked_at": 50}
    rows = [{**named, "name": "/data/#.log", "of_name": 45}, {**named, "name": "/dev/null", "of_name": 3}]
    found = trend(
        tmp_path, Trended.DESCRIPTORS, process_samples=samples(descriptors=lambda at: round(10 * at)), handles=rows
    )

    assert found.names == (Named("/data/#.log", 45, None),)


def test_graphs_are_those_that_were_compiled_until_then(tmp_path: Path) -> None:
    """One in each fifth step."""
    spans = [span("graph_compile", 2 + n / 10, 2.01 + n / 10, span_id=100 + n) for n in range(50)]
    found = trend(tmp_path, Trended.GRAPHS, spans=spans)

    assert found.slope.per_step == pytest.approx(0.2, rel=0.05)
    assert found.slope.last == pytest.approx(49, abs=1)
    assert found.is_growing is True


def test_the_time_of_steps_is_a_trend_without_those_that_compiled(tmp_path: Path) -> None:
    """Each takes 10 us longer than the one before; one compiled."""
    rows = steps(250)
    for number, row in enumerate(rows):
        row["dur_ns"] = 10 * MS + 10_000 * number
    rows[200].update(dur_ns=19 * MS, compiled=True)
    found = trend(tmp_path, Trended.STEP_TIME, steps=rows)

    assert found.slope.per_step == pytest.approx(10_000, rel=0.01)
    assert (found.unit, found.is_growing) == ("ns", True)


def test_an_epoch_has_the_slope_of_its_steps(tmp_path: Path) -> None:
    """Two of 125; of one epoch nothing is said."""
    rows = held("objects", *range(100_000, 160_000, 10_000))
    one, two = (trend(tmp_path / str(n), Trended.OBJECTS, held_objects=rows, epochs=epochs(n)) for n in (1, 2))

    assert one.per_epoch is None
    assert two.per_epoch == pytest.approx(two.slope.per_step * 125)


def test_what_was_not_counted_has_a_reason(tmp_path: Path) -> None:
    """None of them is 0."""
    found = of(tmp_path)

    assert found.of(Trended.STEP_TIME) is not None
    assert set(found.not_measured) == set(Trended) - {Trended.STEP_TIME}
    assert "that is done for 0.1 % of the time at most" in found.not_measured[Trended.TENSORS]


def test_a_run_without_a_training_has_one_reason_for_all(tmp_path: Path) -> None:
    """Steps are what trends go over."""
    run: Run = trained(tmp_path / "r", steps=[])

    assert set(trends.of_run(run).not_measured.values()) == {"the run has no steps of a training"}
