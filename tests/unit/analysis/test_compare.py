"""Parity before speed, and a waterfall whose items sum to the gap."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis import compare
from dlprof.analysis.compare import Side
from dlprof.errors import UsageError
from dlprof.store.run import Run
from tests.unit import runs
from tests.unit.foreign import foreign, kernel, marked
from tests.unit.runs import MS, S

KERNELS = [{"op": "aten::mm", "category": "matmul", "layer": "dense", "direction": "forward", "ms": 10}]


def pair(tmp_path: Path, told: dict[str, Any] | None = None, **changes: list[dict[str, Any]]) -> tuple[Run, Run]:
    """A run, and one that differs from it as told."""
    return runs.trained(tmp_path / "a"), runs.trained(tmp_path / "b", told, **changes)


def compared(a: Run, b: Run) -> compare.Comparison:
    """Two runs as a comparison."""
    return compare.compare(Side("a", (a,)), Side("b", (b,)))


def slower(path: Path, import_s: float, **tables: list[dict[str, Any]]) -> Run:
    """A run whose import takes so long, and whose wall time is longer by that."""
    wall = int((8 + import_s) * S)
    told = runs.manifest(process={"pid": 42, "exit_code": 0, "signal": None, "wall_ns": wall})
    rows = [
        {"phase": "import", "parent": None, "dur_ns": int(import_s * S), "count": 1},
        *runs.phases(fit_steps=5, fit_callbacks=1, teardown=2),
    ]
    return runs.trained(path, told, phases=rows, **tables)


def test_the_same_run_twice_is_said_to_be_so(tmp_path: Path) -> None:
    """There is no gap in it."""
    run = runs.trained(tmp_path / "a")

    found = compared(run, run)

    assert found.parity.why_not == ("A and B are the same run",)
    assert found.parity.same_run
    assert found.parity.advice[0].startswith("that: name another run as one of them (dlprof runs lists all)")
    assert found.gap_ns == 0
    assert found.noise


def test_items_and_the_unattributed_sum_to_the_gap(tmp_path: Path) -> None:
    """To the nanosecond, also with means over runs."""
    a = Side("a", tuple(slower(tmp_path / f"a{n}", 3 + n / 7) for n in range(3)))
    b = Side("b", tuple(slower(tmp_path / f"b{n}", 1 + n / 7) for n in range(3)))

    found = compare.compare(a, b)

    assert sum(item.delta_ns for item in found.items) + found.unattributed_ns == found.gap_ns
    assert found.items[0].path == "import"


def test_three_runs_on_each_side_give_intervals(tmp_path: Path) -> None:
    """The import differs by 2 s, between runs by at most 0.2: its interval holds 2 s and not 0."""
    a = Side("a", tuple(slower(tmp_path / f"a{n}", 3 + n / 10) for n in range(3)))
    b = Side("b", tuple(slower(tmp_path / f"b{n}", 1 + n / 10) for n in range(3)))

    item = compare.compare(a, b).items[0]

    assert item.ci_ns is not None
    assert 1.7 * S < item.ci_ns[0] < 2 * S < item.ci_ns[1] < 2.3 * S
    assert not item.noise


def test_two_runs_give_no_interval(tmp_path: Path) -> None:
    """One run a side says nothing about the spread."""
    found = compared(*pair(tmp_path))

    assert {item.ci_ns for item in found.items} == {None}
    assert found.gap_ci_ns is None


@pytest.mark.parametrize(("import_s", "noise"), [(2.15, True), (2.5, False)])
def test_without_intervals_a_tenth_of_a_part_is_noise(tmp_path: Path, import_s: float, noise: bool) -> None:
    """2.15 s against 2 s may be chance; 2.5 s may not."""
    found = compared(slower(tmp_path / "a", import_s), runs.trained(tmp_path / "b"))

    assert found.items[0].noise is noise


def test_steps_are_one_item_where_one_side_has_no_window(tmp_path: Path) -> None:
    """A part that one side did not measure is no difference."""
    found = compared(runs.trained(tmp_path / "a", **runs.window(KERNELS)), runs.trained(tmp_path / "b"))

    assert "fit/steps" in {item.path for item in found.items}
    assert not any("kernels" in item.path for item in found.items)
    assert found.unsplit == "no kernel window was traced"


def test_of_a_run_without_phases_wall_time_and_kernels_are_compared(tmp_path: Path) -> None:
    """The sentence says why there is no more."""
    probes = [
        {"name": "phases", "state": "failed", "reason": "the disk was full", "cost_ns": None, "cost_source": None}
    ]
    bare = runs.make(tmp_path / "r", probes=probes, **runs.window(KERNELS))

    found = compared(runs.trained(tmp_path / "a", **runs.window(KERNELS)), bare)

    assert found.parity.why_not == ("B has no phases: the disk was full",)
    assert (found.gap_ns, found.unattributed_ns) == (0, -10 * S)
    assert sum(item.delta_ns for item in found.items) == 10 * S
    assert [(one.layer, one.b_ns) for one in found.layers] == [("dense", 100 * MS)]


def test_a_run_without_a_wall_time_cannot_be_compared(tmp_path: Path) -> None:
    """Nothing is known of it."""
    with pytest.raises(UsageError, match="r cannot be compared, because not even its wall time is known"):
        compared(runs.trained(tmp_path / "a"), runs.make(tmp_path / "r", runs.manifest(process={})))


def scaled(path: Path, factor: float, steps_factor: float) -> Run:
    """A run of which every part takes so much longer, and the steps as told."""
    seconds = {"startup": 2 * factor, "fit_steps": 5 * steps_factor, "fit_callbacks": factor, "teardown": 2 * factor}
    wall = round(sum(seconds.values()) * S)
    told = runs.manifest(process={"pid": 42, "exit_code": 0, "signal": None, "wall_ns": wall})
    return runs.trained(path, told, phases=runs.phases(**seconds))


def test_a_machine_that_was_slower_is_no_cause(tmp_path: Path) -> None:
    """Everything took 1.2 x as long: no difference beyond noise."""
    found = compared(scaled(tmp_path / "a", 1.2, 1.2), scaled(tmp_path / "b", 1, 1))

    assert found.common == pytest.approx(1.2)
    assert found.noise
    assert all(item.noise for item in found.items)


def test_steps_that_take_twice_as_long_are_not_put_down_to_the_machine(tmp_path: Path) -> None:
    """Even where they are most of the run."""
    found = compared(scaled(tmp_path / "a", 1, 2), scaled(tmp_path / "b", 1, 1))

    assert not found.noise
    assert found.items[0].path == "fit/steps"
    assert not found.items[0].noise


def test_parts_of_short_foreign_traces_differ_by_less_than_those_of_runs(tmp_path: Path) -> None:
    """A trace of 100 ms: 1 % of it, where it is 50 ms of a run of a process."""
    a = foreign(tmp_path / "a", kernel("gemm", 0, 60), kernel("gemm", 90, 10))
    b = foreign(tmp_path / "b", kernel("gemm", 0, 30), kernel("gemm", 90, 10))
    found = compare.compare(Side("a", (a,)), Side("b", (b,)))

    assert found.least_ns == 1 * MS
    assert [(str(item.path), item.delta_ns, item.noise) for item in found.items] == [
        ("trace/idle", -30 * MS, False),
        ("trace/kernels/matmul", 30 * MS, False),
    ]
    assert found.noise


def test_where_one_trace_names_no_steps_both_are_compared_as_a_whole(tmp_path: Path) -> None:
    """The same work: a part of the steps on one side is no part of another place on the other."""
    work = [kernel("gemm", 0, 30), kernel("gemm", 50, 30)]
    a = foreign(tmp_path / "a", *work, marked("train_step", 0, 30), marked("train_step", 50, 30))
    b = foreign(tmp_path / "b", *work)
    found = compare.compare(Side("a", (a,)), Side("b", (b,)))

    assert {str(item.path): (item.a_ns, item.b_ns) for item in found.items} == {
        "trace/idle": (20 * MS, 20 * MS),
        "trace/kernels/matmul": (60 * MS, 60 * MS),
    }


@pytest.mark.parametrize("is_new", [False, True])
def test_a_module_that_one_run_imports_alone_is_no_noise(is_new: bool, tmp_path: Path) -> None:
    """Imports of 2.3 s and 2 s differ by less than a fifth: noise, unless 0.25 s of it are a module of one run."""
    script, torch = runs.span("script", 0, 9, span_id=8), runs.span("import", 0, 1, name="torch", span_id=9)
    slow = runs.span("import", 1, 1.25, name="slow", span_id=10, parent_id=8)
    a = slower(tmp_path / "a", 2.3, spans=[runs.fit_span(), script, torch, *[slow] * is_new])
    b = slower(tmp_path / "b", 2.0, spans=[runs.fit_span(), script, torch])

    item = next(item for item in compared(a, b).items if item.path == "import")

    assert (item.delta_ns, item.noise) == (300 * MS, not is_new)


def uneven(path: Path, *products_ms: float) -> Run:
    """A run whose window has a step for each of these products."""
    tables = runs.window(KERNELS, count=len(products_ms))
    for event, ms in zip(tables["kernel_events"], products_ms, strict=True):
        event["dur_ns"] = int(ms * MS)
    return runs.trained(path, **tables)


def test_parts_that_differ_no_more_than_traced_steps_among_themselves_are_noise(tmp_path: Path) -> None:
    """Products of 10 ms in a step, in one of five 15; beside 8 ms, in one of five 11."""
    a, b = uneven(tmp_path / "a", 10, 10, 15, 10, 10), uneven(tmp_path / "b", 7.5, 7.5, 11, 7.5, 7.5)
    sure = uneven(tmp_path / "c", 10, 10, 10, 10, 10), uneven(tmp_path / "d", 7.5, 7.5, 7.5, 7.5, 7.5)
    found = {str(item.path): item.noise for item in compared(a, b).items}
    apart = {str(item.path): item.noise for item in compared(*sure).items}

    assert found["fit/steps/kernels/matmul"]
    assert not apart["fit/steps/kernels/matmul"]


def test_steps_are_one_part_where_the_traced_ones_do_not_agree(tmp_path: Path) -> None:
    """Of three, one is nearly all product, and the others are nearly none of it."""
    found = compared(uneven(tmp_path / "a", 2, 19, 2), uneven(tmp_path / "b", 2, 2, 2))

    assert found.unsplit is not None and found.unsplit.startswith("the few steps that were traced differ too much")
    assert "fit/steps" in {str(item.path) for item in found.items}
    assert found.layers == ()


def test_other_work_is_not_put_down_to_the_machine(tmp_path: Path) -> None:
    """All parts take 1.2 x as long: with as many weights that is the machine, with more it may be these."""

    def all_slower(path: Path, weights: int) -> Run:
        told = runs.manifest(process={"pid": 42, "exit_code": 0, "signal": None, "wall_ns": 12 * S})
        spans = [runs.fit_span(training={"weights": {"count": weights}})]
        phases = [{"phase": "import", "parent": None, "dur_ns": int(2.4 * S), "count": 1}]
        return runs.trained(
            path, told, spans=spans, phases=[*phases, *runs.phases(fit_steps=6, fit_callbacks=1.2, teardown=2.4)]
        )

    base = runs.trained(tmp_path / "b")
    found = [compared(all_slower(tmp_path / str(count), count), base).common for count in (10, 20)]

    assert found == [pytest.approx(1.2), 1.0]
