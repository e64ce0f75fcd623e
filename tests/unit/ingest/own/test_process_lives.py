"""The lives of processes, out of the sampler's rows."""

from __future__ import annotations

from typing import Any

from dlprof.ingest.artifact import ProcessId
from dlprof.ingest.own.process_lives import ProcessLives

S = 1_000_000_000


def lives(*rows: list[Any]) -> list[dict[str, Any]]:
    """What becomes of rows; the run began at 100 s, its process is 42; a tick is 10 ms, a page 4096 bytes."""
    found = ProcessLives(ProcessId("host", 0, 42, 100 * S), 42, 10_000_000, 4096)
    for row in rows:
        {"p": found.appears_or_ends, "n": found.beside, "c": found.sampled, "m": found.told}[row[0]](row)
    return [dict(row) for row in found.rows()]


def sample(time_s: int, *processes: list[int]) -> list[Any]:
    """A fast row."""
    return ["c", time_s * S, [], 0, list(processes)]


def test_a_child_has_its_times_and_what_it_used_as_last_seen() -> None:
    """Its start is the kernel's, its end when it was found ended; memory is the most that it had."""
    main, child = lives(
        ["p", 100 * S, 42, 1, "python x.py", False, 100 * S],
        ["p", 102 * S, 43, 42, "python x.py", False, 101 * S],
        ["m", 102 * S, 0, 0, None, None, [[43, 0, 0, 500, 600]]],
        sample(102, [42, 100, 9, 1, 0, 0, 0], [43, 20, 7, 1, 0, 0, 0]),
        sample(103, [42, 150, 9, 1, 0, 0, 0], [43, 90, 5, 1, 0, 0, 0]),
        ["p", 104 * S, 43, 42, None, True],
    )

    assert (main["role"], main["start_ns"], main["end_ns"], main["cpu_ns"]) == ("main", 0, None, 1_500_000_000)
    assert (child["role"], child["parent_pid"], child["start_ns"], child["end_ns"]) == ("child", 42, S, 4 * S)
    assert (child["cpu_ns"], child["peak_rss_bytes"]) == (900_000_000, 28_672)
    assert (child["read_bytes"], child["write_bytes"]) == (500, 600)


def test_what_a_process_used_before_the_run_is_not_the_runs() -> None:
    """One that ran already when dlprof looked at it first."""
    (main,) = lives(
        ["p", 101 * S, 42, 1, "python serve.py", False, 7 * S],
        ["m", 101 * S, 0, 0, None, None, [[42, 0, 0, 5_000, 6_000]]],
        sample(101, [42, 9_000, 9, 1, 0, 0, 0]),
        ["m", 102 * S, 0, 0, None, None, [[42, 0, 0, 5_040, 6_050]]],
        sample(102, [42, 9_100, 9, 1, 0, 0, 0]),
    )

    assert (main["cpu_ns"], main["read_bytes"], main["write_bytes"]) == (1_000_000_000, 40, 50)


def test_a_number_that_is_given_anew_is_another_process() -> None:
    """The first of them has ended before; each has its own figures."""
    first, second = lives(
        ["p", 101 * S, 43, 42, "a", False, 101 * S],
        sample(102, [43, 10, 1, 1, 0, 0, 0]),
        ["p", 103 * S, 43, 42, None, True],
        ["p", 104 * S, 43, 42, "b", False, 104 * S],
        sample(105, [43, 30, 1, 1, 0, 0, 0]),
    )

    assert (first["command"], first["end_ns"], first["cpu_ns"]) == ("a", 3 * S, 100_000_000)
    assert (second["command"], second["end_ns"], second["cpu_ns"]) == ("b", None, 300_000_000)


def test_a_command_after_exec_is_the_same_process_still() -> None:
    """A forked child is first seen with its parent's command."""
    (child,) = lives(
        ["p", 101 * S, 43, 42, "python x.py", False, 101 * S],
        ["p", 102 * S, 43, 42, "sleep 9", False, 101 * S],
    )

    assert (child["command"], child["start_ns"]) == ("sleep 9", S)


def test_a_process_without_a_sample_has_no_figures() -> None:
    """Missing is not 0."""
    (child,) = lives(["p", 101 * S, 43, 42, "true", False, 101 * S])

    assert [child[name] for name in ("cpu_ns", "peak_rss_bytes", "read_bytes", "write_bytes")] == [None] * 4


def test_one_that_was_only_seen_over_has_its_time_and_no_memory() -> None:
    """The kernel keeps the one until its parent asks, and takes the other back."""
    (child,) = lives(["p", 101 * S, 43, 42, None, False, 101 * S], sample(101, [43, 3, 0, 1, 0, 0, 0]))

    assert (child["cpu_ns"], child["peak_rss_bytes"]) == (30_000_000, None)


def test_rows_of_an_older_sampler_tell_when_a_process_was_seen() -> None:
    """They have no start."""
    (child,) = lives(["p", 102 * S, 43, 42, "sleep 9", False])

    assert child["start_ns"] == 2 * S
