"""Sums of kernels, the split of a step, and step times around a window."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from dlprof.analysis import kernels, step_split, step_times
from dlprof.ingest.kernels.events import CPU
from dlprof.rundir import RunDir
from dlprof.schema.manifest import Manifest
from dlprof.schema.tables import TABLES
from dlprof.store.run import Run

WHO = {"host": "h", "rank": 0, "pid": 1}


def table(name: str, rows: list[dict[str, Any]]) -> pa.Table:
    """A table of the schema; process columns are filled."""
    who = WHO if "host" in TABLES[name].names else {}
    return pa.Table.from_pylist([{**who, **row} for row in rows], schema=TABLES[name])


def make_run(**tables: pa.Table) -> Run:
    """A run of these tables."""
    whole = {name: tables.get(name, schema.empty_table()) for name, schema in TABLES.items()}
    return Run(RunDir(Path("run")), Manifest(), whole)


def op(
    number: int, kind: str, name: str, layer: str | None = None, direction: str | None = None, **more: Any
) -> dict[str, Any]:
    """A row of kernel_ops."""
    return {
        "op_id": number,
        "kind": kind,
        "name": name,
        "op": name,
        "category": "other",
        "layer": layer,
        "direction": direction,
        **more,
    }


def event(number: int, start: int, dur: int, device: int = CPU, **more: Any) -> dict[str, Any]:
    """A row of kernel_events."""
    return {
        "op_id": number,
        "device": device,
        "lane": "0",
        "start_ns": start,
        "dur_ns": dur,
        "nested_ns": 0,
        "window": 0,
        **more,
    }


RUN = make_run(
    kernel_ops=table("kernel_ops", [
        op(0, "operator", "linear", "dense_1", "forward"), op(1, "operator", "mm", "dense_1", "forward", flops=8.0),
        op(2, "kernel", "sgemm", "dense_1", "forward"), op(3, "transfer", "copy", None, None, bytes=64.0),
        op(4, "runtime", "launch"),
    ]),
    kernel_events=table("kernel_events", [
        event(0, 0, 100, nested_ns=60), event(1, 20, 60, phase="fit.steps", step=3), event(1, 200, 20, phase="evaluate"),
        event(2, 50, 40, 0, delay_ns=25, step=3), event(2, 70, 40, 0), event(3, 200, 10, 1), event(4, 30, 5),
    ]),
    kernel_windows=table("kernel_windows", [{"window": 0, "start_ns": 0, "dur_ns": 1000, "dropped": 2}]),
)  # fmt: skip


def by(name: str, **more: Any) -> dict[tuple[Any, ...], tuple[int, int, int, int | None]]:
    """Keys to (count, total, own, union)."""
    found = kernels.summarise(RUN, name, **more)
    return {
        tuple(row.keys.get(k) for k in (*kernels.GROUPS[name], "kind", "device")): (
            row.count,
            row.total_ns,
            row.self_ns,
            row.union_ns,
        )
        for row in found.rows
    }


def test_by_operator_a_total_contains_what_runs_inside() -> None:
    """As in the engines' own summaries; own time does not."""
    assert by("op") == {
        ("linear", "operator", "cpu"): (1, 100, 40, 100), ("mm", "operator", "cpu"): (2, 80, 80, 80),
        ("sgemm", "kernel", "gpu:0"): (2, 80, 80, 60), ("copy", "transfer", "gpu:1"): (1, 10, 10, 10),
    }  # fmt: skip


def test_by_layer_rows_sum_to_the_time_of_all_kernels() -> None:
    """Nothing is counted twice, and what belongs to no layer is a row of its own."""
    found = kernels.summarise(RUN, "layer")

    assert sum(row.total_ns for row in found.rows) == found.all_ns == 40 + 80 + 80 + 10
    assert found.unattributed_ns == 10
    assert found.dropped_events == 2


def test_overlapping_kernels_count_once_on_the_wall() -> None:
    """50 to 90 and 70 to 110 are 60 ns of wall time."""
    assert by("device")["kernel", "gpu:0"] == (2, 80, 80, 60)


def test_only_a_phase_is_summed_where_that_is_asked_for() -> None:
    """`fit` is also fit.steps."""
    assert by("op", phase="fit") == {("mm", "operator", "cpu"): (1, 60, 60, 60)}


def test_launch_delay_operations_and_bytes_are_null_where_they_are_not_known() -> None:
    """Never zero."""
    rows = {row.keys["op"]: row for row in kernels.summarise(RUN, "op").rows}

    assert (rows["sgemm"].delay_ns, rows["mm"].delay_ns) == (25.0, None)
    assert (rows["mm"].flops, rows["sgemm"].flops, rows["copy"].bytes) == (16.0, None, 64.0)


def test_sums_of_profilers_without_times_have_no_wall_time() -> None:
    """They are marked."""
    run = make_run(
        kernel_ops=table("kernel_ops", [op(0, "kernel", "gemm")]),
        kernel_totals=table("kernel_totals", [{"op_id": 0, "device": 0, "count": 4, "total_ns": 100, "window": 0}]),
    )
    found = kernels.summarise(run, "kernel")

    assert [(row.count, row.total_ns, row.union_ns, row.p95_ns) for row in found.rows] == [(4, 100, None, None)]
    assert (found.aggregated, found.unattributed_ns) == (True, 100)


def step(number: int, start: int, dur: int, **more: Any) -> dict[str, Any]:
    """A row of steps: it waits 5, and its call begins 10 after its start and lasts 80 % of the step."""
    return {
        "thread_id": 1, "loop": "train", "loop_id": 1, "epoch": 0, "step": number, "count": 1, "start_ns": start, "dur_ns": dur,
        "input_ns": 5, "callbacks_ns": 0, "call_offset_ns": 10, "call_ns": dur * 8 // 10, "compiled": False, "first": False, **more,
    }  # fmt: skip


def traced_run() -> Run:
    """Three plain steps of 105, then two traced ones of 205 in a window from 1000 to 1420."""
    steps = [
        step(0, 100, 900, compiled=True),
        *(step(n, 2000 + 200 * n, 100) for n in range(3)),
        step(3, 1005, 200),
        step(4, 1215, 200),
    ]
    return make_run(
        steps=table("steps", steps),
        kernel_windows=table("kernel_windows", [
            {"window": 0, "engine": "torch", "source": "w", "loop": "train", "start_ns": 1000, "dur_ns": 420, "first_step": 4, "steps": 2,
             "start_cost_ns": 7, "stop_cost_ns": 9, "dropped": 0},
        ]),
        kernel_ops=table("kernel_ops", [op(0, "operator", "mm"), op(1, "transfer", "copy"), op(2, "wait", "sync")]),
        kernel_events=table("kernel_events", [
            event(0, 1020, 100), event(0, 1080, 60), event(1, 1130, 20), event(2, 1150, 10), event(0, 1230, 100),
        ]),
    )  # fmt: skip


def test_a_step_is_split_by_what_ran() -> None:
    """Kernels 1020-1140 and 1230-1330, a copy to 1150, waiting to 1160, calls 1015-1175 and 1225-1385; input twice 5."""
    split = step_split.of_run(traced_run())

    assert split is not None
    assert split.window_step_ns == 205
    assert split.window_ns == {
        "kernels": 110, "transfer": 5, "input": 5, "sync": 5, "idle": 0, "dispatch": 40, "host python": 40,
    }  # fmt: skip
    assert sum(filter(None, split.window_ns.values())) == 205


def test_the_split_is_scaled_to_a_plain_step() -> None:
    """In whole nanoseconds that sum to it."""
    split = step_split.of_run(traced_run())

    assert split is not None and split.plain_ns is not None
    assert split.plain_step_ns == 105
    assert split.slowdown == pytest.approx(205 / 105)
    assert sum(filter(None, split.plain_ns.values())) == 105


def test_a_run_without_windows_has_no_split() -> None:
    """None, not zeros."""
    assert step_split.of_run(make_run()) is None


def test_where_dispatch_is_asynchronous_whole_epochs_are_compared() -> None:
    """The second epoch has neither a first step nor a window: 300 ns of 3 steps."""
    tables = {
        "steps": table("steps", [step(0, 0, 10, compiled=True), step(1, 20, 10), *(step(n, 1000 + n, 1, epoch=1) for n in range(3))]),
        "epochs": table("epochs", [
            {"loop_id": 1, "epoch": 0, "start_ns": 0, "dur_ns": 500, "steps": 2},
            {"loop_id": 1, "epoch": 1, "start_ns": 900, "dur_ns": 400, "steps": 3},
        ]),
        "phase_intervals": table("phase_intervals", [
            {"phase": "fit.steps", "start_ns": 900, "dur_ns": 300}, {"phase": "fit.validation", "start_ns": 1200, "dur_ns": 100},
        ]),
        "kernel_windows": table("kernel_windows", [
            {"window": 0, "loop": "train", "start_ns": 15, "dur_ns": 400, "steps": 1, "start_cost_ns": 1, "stop_cost_ns": 1},
        ]),
    }  # fmt: skip
    found = step_times.compare(tables, 0, asynchronous=True)

    assert found == step_times.StepTimes(100, 400, 3, "mean")


def test_without_a_whole_plain_epoch_nothing_is_compared() -> None:
    """Not measured, rather than a figure in which other steps count."""
    tables = {name: TABLES[name].empty_table() for name in ("steps", "phase_intervals")}
    tables["epochs"] = table("epochs", [{"loop_id": 1, "epoch": 0, "start_ns": 0, "dur_ns": 500, "steps": 2}])
    tables["steps"] = table("steps", [step(0, 0, 10, compiled=True)])
    tables["kernel_windows"] = table(
        "kernel_windows", [{"window": 0, "loop": "train", "start_ns": 15, "dur_ns": 400, "steps": 4}]
    )

    assert step_times.compare(tables, 0, asynchronous=True).plain_ns is None
