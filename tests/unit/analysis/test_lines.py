"""Which of the user's lines took the time."""

from __future__ import annotations

from dlprof.analysis import lines
from tests.unit.runs import MS, table


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

    assert [(hot.line, hot.own_ns) for hot in lines.hottest(found, 5)] == [(5, 90 * MS), (1, 10 * MS)]
