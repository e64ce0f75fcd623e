"""The section of the latencies of predictions."""

from __future__ import annotations

import io

from msgspec import structs

from dlprof.analysis.latency import CallLatency
from dlprof.report.console import make_page
from dlprof.report.sections import latency
from tests.unit.report.reports import report

MS = 1_000_000
MANY = CallLatency("predict", "serve.py", 7, 120, 4, 90 * MS, 5 * MS, 9 * MS, 20 * MS, 21 * MS, 700 * MS)
FEW = CallLatency("predict", "serve.py", 9, 3, 1, 90 * MS, 5 * MS, None, None, 6 * MS, 101 * MS)


def test_a_loop_of_requests_is_in_the_answer() -> None:
    """With the percentiles that are known."""
    told = structs.replace(report(), calls=(MANY, FEW))
    assert latency.in_short(told) == "120 calls of predict on 4 threads: median 5.00 ms, p95 9.00 ms, p99 20.0 ms"
    assert latency.in_short(structs.replace(report(), calls=(FEW,))) == ""
    assert latency.in_short(report()) == ""


def test_lines_that_are_not_shown_are_counted() -> None:
    """Those of the JSON that find no room, and those that are not in it."""
    out = io.StringIO()
    latency.calls(make_page(out, plain=True), structs.replace(report(), calls=(MANY,) * 10, calls_left_out=3))
    assert "and 5 more lines; --json has those that took most" in out.getvalue()


def test_the_table_says_why_there_is_no_percentile() -> None:
    """A `-` is not 0."""
    out = io.StringIO()
    latency.calls(make_page(out, plain=True), structs.replace(report(), calls=(MANY, FEW)))
    rows = [line.split() for line in out.getvalue().splitlines()]
    assert [
        "predict",
        "serve.py:7",
        "120",
        "4",
        "90.0",
        "ms",
        "5.00",
        "ms",
        "9.00",
        "ms",
        "20.0",
        "ms",
        "21.0",
        "ms",
    ] in rows
    assert ["predict", "serve.py:9", "3", "1", "90.0", "ms", "5.00", "ms", "-", "-", "6.00", "ms"] in rows
    assert "fewer than 100 no p99" in out.getvalue()
