"""Figures of the report, from tables with literal rows."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from dlprof.analysis import lines, stacks, steps, utilisation
from dlprof.schema.tables import TABLES

MS = 1_000_000
WHO = {"host": "h", "rank": 0, "pid": 42}


NO_WINDOWS = TABLES["kernel_windows"].empty_table()


def table(name: str, rows: list[dict[str, Any]]) -> pa.Table:
    """Rows as a table of the schema; what is not given is null."""
    who = WHO if "host" in TABLES[name].names else {}
    return pa.Table.from_pylist([{**who, **row} for row in rows], schema=TABLES[name])


def step(number: int, dur_ms: float, **changes: Any) -> dict[str, Any]:
    """A training step of 100 samples that waited 1 ms for its input."""
    return {
        "thread_id": 1, "loop": "train", "loop_id": 1, "epoch": 0, "step": number, "count": 1,
        "start_ns": 1000 * MS + number * 20 * MS, "dur_ns": int(dur_ms * MS), "input_ns": MS, "callbacks_ns": 0,
        "call_offset_ns": 0, "call_ns": int(dur_ms * MS), "compiled": False, "first": False, "samples": 100, **changes,
    }  # fmt: skip


def test_steady_figures_leave_out_steps_that_compiled() -> None:
    """A step lasts from the end of the batch before it: 9 + 1 ms."""
    found = steps.summarise(
        table("steps", [step(0, 99, compiled=True), step(1, 9), step(2, 9), step(3, 11)]), NO_WINDOWS
    )[0]

    assert (found.count, found.first_ns, found.median_ns, found.compiled) == (4, 100 * MS, 10 * MS, 1)
    assert found.samples_per_s == pytest.approx(300 / 0.032)


def test_unknown_numbers_of_samples_give_no_throughput() -> None:
    """Not 0."""
    assert steps.summarise(table("steps", [step(1, 9, samples=None)]), NO_WINDOWS)[0].samples_per_s is None


def test_hottest_lines_take_off_calls_of_other_profiled_functions() -> None:
    """`main()` holds all of f, and 10 ms of its own."""
    rows = [("main", 1, 100, "f(1)"), ("f", 5, 90, "time.sleep(1)")]
    found = lines.functions(
        table(
            "lines",
            [
                {"file": "a.py", "function": n, "first_line": i, "line": i, "hits": 1, "time_ns": t * MS, "source": s}
                for n, i, t, s in rows
            ],
        )
    )

    assert [(row["line"], row["own_ns"]) for row in lines.hottest(found, 5)] == [(5, 90 * MS), (1, 10 * MS)]


def test_a_stack_is_shared_out_over_the_phases_it_stood_in() -> None:
    """60 ms in one, 40 ms in the next."""
    stood = table("stacks", [{"thread_id": 1, "thread": "MainThread", "start_ns": 0, "dur_ns": 100, "stack_id": 0}])
    frames = table("frames", [{"stack_id": 0, "depth": 0, "function": "f", "file": "a.py", "line": 1}])
    cuts = table(
        "phase_intervals",
        [{"phase": "import", "start_ns": 0, "dur_ns": 60}, {"phase": "script", "start_ns": 60, "dur_ns": 500}],
    )

    found = stacks.hottest(stood, frames, cuts, per_phase=1)

    assert [(stack.phase, stack.dur_ns) for stack in found] == [("import", 60), ("script", 40)]


def test_core_strips_weigh_samples_by_the_time_they_cover() -> None:
    """One second at 100 percent and one at 0, in two parts; the mean is 50."""
    rows = [{"time_ns": t, "interval_ns": 1000, "core": 0, "busy_pct": b} for t, b in ((1000, 100.0), (2000, 0.0))]

    found = utilisation.cores(table("cores", rows), 2)[0]

    assert (found.mean_pct, found.strip) == (50.0, (100.0, 0.0))
