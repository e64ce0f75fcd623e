"""Figures and texts of the report, from tables with literal rows."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pytest

from dlprof import units
from dlprof.analysis import lines, stacks, steps, utilisation
from dlprof.errors import BadDataError, UsageError
from dlprof.report import summary, text
from dlprof.report.model import UnmeasuredGpus
from dlprof.rundir import RunDir
from dlprof.schema.manifest import Manifest
from dlprof.schema.tables import TABLES
from dlprof.store import query
from dlprof.store.run import Run
from dlprof.store.writer import write_tables

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


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """A stored run with a bit of everything, with hostile names."""
    folder = RunDir(tmp_path / "run")
    folder.tables.mkdir(parents=True)
    phases = [
        ("startup", None, 100),
        ("fit", None, 700),
        ("fit.steps", "fit", 600),
        ("fit.input", "fit", 100),
        ("script", None, 150),
    ]
    write_tables(
        folder.tables,
        {
            "phases": table("phases", [{"phase": n, "parent": p, "dur_ns": d * MS, "count": 1} for n, p, d in phases]),
            "phase_intervals": table("phase_intervals", [{"phase": "fit.steps", "start_ns": 0, "dur_ns": 900 * MS}]),
            "steps": table("steps", [step(0, 99, compiled=True, first=True), step(1, 9), step(2, 9), step(3, 11)]),
            "lines": table(
                "lines",
                [
                    {
                        "file": "a.py",
                        "function": "f",
                        "first_line": 1,
                        "line": 2,
                        "hits": 4,
                        "time_ns": 500 * MS,
                        "source": "x = [red] \x1b[31mred",
                    }
                ],
            ),
            "stacks": table(
                "stacks", [{"thread_id": 1, "thread": "MainThread", "start_ns": 0, "dur_ns": 300 * MS, "stack_id": 0}]
            ),
            "frames": table(
                "frames",
                [
                    {"stack_id": 0, "depth": d, "function": f, "file": "a.py", "line": 1}
                    for d, f in enumerate(("main", "inner"))
                ],
            ),
            "probes": table(
                "probes",
                [
                    {"name": "gpu", "state": "unavailable", "reason": "no driver"},
                    {"name": "cores", "state": "failed", "reason": "killed"},
                ],
            ),
        },
    )
    manifest = {
        "state": "finished", "created": "2026-01-01T00:00:00", "command": {"script": "a.py", "module": None, "argv": []},
        "backend": {"name": "x", "asynchronous_dispatch": True, "input_inside_step": False}, "interpreter": {"version": "3.11.7"},
        "machine": {"host": "h", "cores": 2, "cpu": None}, "clock": {}, "process": {"pid": 42, "wall_ns": 1000 * MS, "exit_code": 0, "signal": None},
    }  # fmt: skip
    return Run(folder, msgspec.convert(manifest, Manifest))


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


def test_json_phases_and_the_rest_sum_to_the_wall_time(run: Run) -> None:
    """100 + 700 + 150 ms of 1,000: 50 ms are unattributed, and shown."""
    found = summary.summarise(run)

    assert found.unattributed_ns == 50 * MS
    assert sum(p.dur_ns for p in found.phases if p.parent is None) + found.unattributed_ns == found.wall_ns
    assert found.gpu == UnmeasuredGpus(False, "no driver")
    assert json.loads(json.dumps(summary.as_builtins(found)))["schema"] == "dlprof.report/1"


@pytest.mark.parametrize("plain", [True, False])
def test_the_text_says_what_was_not_measured_and_why(run: Run, plain: bool) -> None:
    """And never 0 in its place; nothing in it steers the terminal."""
    out = io.StringIO()

    text.print_report(run, file=out, plain=plain)

    assert "not measured, because no driver" in out.getvalue()
    assert "not measured, because killed" in out.getvalue()
    assert "unattributed" in out.getvalue()
    assert "dispatch only" in out.getvalue()
    assert "\x1b" not in out.getvalue()
    assert "x = [red]" in out.getvalue()
    assert not plain or out.getvalue().isascii() or "\N{REPLACEMENT CHARACTER}" in out.getvalue()


@pytest.mark.parametrize(
    ("ns", "expected"),
    [
        (None, "-"),
        (0, "0 ns"),
        (999, "999 ns"),
        (1_500, "1.50 us"),
        (12_340_000, "12.3 ms"),
        (999_900_000, "1.00 s"),
        (61e9, "61.0 s"),
        (3_725e9, "1 h 02 min"),
    ],
)
def test_durations_have_three_digits_and_a_unit(ns: float | None, expected: str) -> None:
    """No figure without its unit."""
    assert units.duration(ns) == expected


def test_strips_show_gaps_as_blanks() -> None:
    """Not measured is not idle."""
    assert units.strip([0, 50, 100, None]) == "▁▅█ "


def test_sql_reads_every_table_and_nothing_else(run: Run) -> None:
    """Tables that were not written are there, empty; files of the machine are not."""
    assert query.ask(run, "SELECT count(*) FROM gpu").rows == [(0,)]
    assert query.ask(run, "SELECT phase FROM phases WHERE parent IS NULL ORDER BY dur_ns DESC LIMIT 1").rows == [
        ("fit",)
    ]
    with pytest.raises(UsageError, match="The query failed"):
        query.ask(run, "SELECT * FROM read_csv('/etc/passwd')")


def test_a_table_of_a_newer_schema_is_refused(run: Run) -> None:
    """With the way out."""
    path = run.folder.tables / "gpu.parquet"
    import pyarrow.parquet as pq

    pq.write_table(TABLES["gpu"].empty_table().replace_schema_metadata({"dlprof_schema_version": "99"}), path)

    with pytest.raises(BadDataError, match="newer dlprof"):
        run.table("gpu")
