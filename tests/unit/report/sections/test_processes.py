"""The section of the processes below the script."""

from __future__ import annotations

import io
from typing import Any

from msgspec import structs

from dlprof.analysis.processes import ProcessSummary, TopLine
from dlprof.report.console import make_page
from dlprof.report.model import Report
from dlprof.report.sections import processes
from dlprof.schema.vocabulary import ProcessRole
from tests.unit.report.reports import report

S = 1_000_000_000


def one(pid: int, **changes: Any) -> ProcessSummary:
    """A worker that used 1 s of its 4 s."""
    told = {
        "pid": pid, "name": f"DataLoader worker {pid}", "role": ProcessRole.WORKER, "cpu_ns": S, "lifetime_ns": 4 * S,
        "top": (TopLine("train.py", 7, 0.75),), "parent_pid": 1, "start_ns": 0, "end_ns": None,
        "peak_rss_bytes": None, "read_bytes": None, "write_bytes": None, **changes,
    }  # fmt: skip
    return ProcessSummary(**told)


MAIN = one(1, name="train.py", role=ProcessRole.MAIN)


def said(section: Any, *found: ProcessSummary, left_out: int = 0) -> str:
    """What a section says."""
    out = io.StringIO()
    told: Report = structs.replace(report(), processes=found, processes_left_out=left_out)
    section(make_page(out, plain=True), told)
    return out.getvalue()


def test_a_worker_is_a_row_with_what_it_used_and_its_lines() -> None:
    """What was not measured is a dash."""
    text = said(processes.processes, MAIN, one(2))

    assert "DataLoader worker 2" in text
    assert "train.py:7 75 %" in text
    assert "4.00 s 25.0%" in text


def test_without_children_there_is_no_section() -> None:
    """Unless somebody asks for it."""
    assert said(processes.processes, MAIN) == ""
    assert "none were seen" in said(processes.all_processes, MAIN)
    assert "not measured, because" in said(processes.all_processes)


def test_of_many_the_rest_is_counted_by_kind() -> None:
    """Eight have rows of their own."""
    text = said(processes.processes, MAIN, *(one(number) for number in range(2, 13)), left_out=5)

    assert "... 8 more: 3 x DataLoader worker, 5 that used least" in text
