"""Which of the user's lines took the time."""

from __future__ import annotations

from dlprof.analysis import lines
from dlprof.analysis.lines import FunctionLines
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


def rows(*told: tuple[str, int, int, str, str]) -> list[FunctionLines]:
    """Functions of one line each: name, line, ms, text, how."""
    return lines.functions(
        table(
            "lines",
            [
                {
                    "file": "a.py",
                    "function": name,
                    "first_line": line,
                    "line": line,
                    "time_ns": ms * MS,
                    "source": source,
                    "how": how,
                    "hits": 1 if how == "exact" else None,
                    "samples": None if how == "exact" else 4,
                }
                for name, line, ms, source, how in told
            ],
        )
    )


def test_functions_of_one_name_are_all_there() -> None:
    """Whose time it is that a line with this name calls cannot be told: nothing is taken off."""
    found = rows(("A.get", 1, 50, "x", "exact"), ("B.get", 5, 90, "y", "exact"), ("main", 9, 200, "a.get()", "exact"))

    assert [(hot.line, hot.own_ns) for hot in lines.hottest(found, 5)] == [(9, 200 * MS), (5, 90 * MS), (1, 50 * MS)]


def test_a_sampled_function_is_not_taken_off_a_counted_line() -> None:
    """What the counted line calls is counted: the samples are of calls elsewhere."""
    found = rows(("get", 1, 50, "x", "sampled"), ("main", 9, 200, "get()", "exact"))

    assert [(hot.line, hot.own_ns, hot.how) for hot in lines.hottest(found, 5)] == [
        (9, 200 * MS, "exact"),
        (1, 50 * MS, "sampled"),
    ]


def test_a_function_that_was_counted_and_sampled_is_there_twice() -> None:
    """Its times add up, and are known differently."""
    found = rows(("get", 1, 50, "x", "sampled"), ("get", 1, 20, "x", "exact"))

    assert [(one.how, one.total_ns) for one in found] == [("sampled", 50 * MS), ("exact", 20 * MS)]


def test_the_standard_error_is_that_of_a_count() -> None:
    """100 ms in 4 samples are known to 50 ms; a counted time has none."""
    assert lines.standard_error_ns(100 * MS, 4) == 50 * MS
    assert lines.standard_error_ns(100 * MS, None) is None


def test_hits_that_steps_tell_stand_among_those_of_windows() -> None:
    """Their function is one: its times are all from samples."""
    plain = {"file": "a.py", "function": "f", "first_line": 1, "time_ns": MS, "source": "", "samples": 4}
    told = [{**plain, "line": 2, "hits": 3760, "how": "exact"}, {**plain, "line": 3, "hits": 900, "how": "scaled"}]

    (found,) = lines.functions(table("lines", told))

    assert [(line.hits, found.how_of(line)) for line in found.lines] == [(3760, "exact"), (900, "scaled")]
