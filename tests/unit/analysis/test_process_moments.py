"""What the processes of the traced tree used together."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

from dlprof.analysis import process_moments
from tests.unit.runs import table

ROWS: list[dict[str, Any]] = [
    {"time_ns": 10, "interval_ns": 5, "cpu_pct": 50.0, "rss_bytes": 100},
    {"time_ns": 10, "interval_ns": 8, "cpu_pct": 25.0, "rss_bytes": 10},
    {"time_ns": 20, "interval_ns": 10, "cpu_pct": None, "rss_bytes": 7},
    {"time_ns": 30, "interval_ns": 10, "cpu_pct": 1.0, "rss_bytes": None},
    {"time_ns": 30, "interval_ns": 10, "cpu_pct": None, "rss_bytes": 3},
]


def moments(*cuts: int) -> list[tuple[int, int, float, float]]:
    """Those of ROWS in pieces."""
    edges = [0, *cuts, len(ROWS)]
    pieces = [table("process_samples", ROWS[low:high]) for low, high in pairwise(edges)]
    return [
        row
        for one in process_moments.of_pieces(pieces)
        for row in zip(*(x.tolist() for x in (one.time_ns, one.interval_ns, one.cpu_pct, one.rss_bytes)), strict=True)
    ]


def test_processes_of_a_moment_are_summed() -> None:
    """The interval is that of the process with the longest."""
    assert moments()[0] == (10, 8, 75.0, 110.0)


def test_what_no_process_was_measured_in_is_no_number() -> None:
    """Not 0; one that was measured is enough."""
    (_, second, third) = moments()
    assert math.isnan(second[2])
    assert (third[2], third[3]) == (1.0, 3.0)


def test_a_moment_that_is_cut_is_still_one() -> None:
    """Wherever the pieces end."""
    for cut in range(1, len(ROWS)):
        assert [row[0] for row in moments(cut)] == [10, 20, 30]
        assert moments(cut)[0] == (10, 8, 75.0, 110.0)


def test_no_samples_have_no_moments() -> None:
    """Neither has a table without rows."""
    assert list(process_moments.of_pieces([table("process_samples", [])])) == []
