"""How ranks ended, and which of them failed first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dlprof.analysis import rank_ends, ranks
from dlprof.analysis.ranks import RanksSummary
from tests.unit import ranked_runs
from tests.unit.runs import MS, S


def ended(wall_ms: int, *, code: int | None = None, signal: int | None = None, **more: Any) -> dict[str, Any]:
    """A rank that ended so, after that time; its timeline begins a second behind that of the rank before."""
    process = {"pid": 42, "exit_code": code, "signal": signal, "wall_ns": wall_ms * MS}
    return {"told": {"process": process, **more.pop("told", {})}, **more}


def span(kind: str, name: str, start_ms: int, dur_ms: int = 0, **place: Any) -> dict[str, Any]:
    """A span of a rank."""
    return {"thread_id": 1, "span_id": 1, "kind": kind, "name": name, "start_ns": start_ms * MS, "dur_ns": dur_ms * MS,
            "ended": True, **place}  # fmt: skip


def raised(name: str, start_ms: int, line: int) -> list[dict[str, Any]]:
    """An exception that left the script."""
    return [span("exception", name, start_ms, file="train.py", line=line)]


def summary(folder: Path, first: dict[str, Any], second: dict[str, Any], **more: Any) -> RanksSummary:
    """Two ranks that ended so."""
    return ranks.of_run(ranked_runs.make(folder, {0: 5, 1: 5}, rank_0=first, rank_1=second, **more))


def test_the_rank_whose_exception_came_first_failed_first(tmp_path: Path) -> None:
    """Whatever took longer to end; with its class and line."""
    own = ended(9000, code=1, spans=raised("ValueError", 4000, 25))  # at 5 s on the clock in common
    other = ended(6000, code=1, spans=raised("RuntimeError", 5100, 20))  # at 5.1 s
    found = summary(tmp_path, other, own)
    assert list((found.failures or {}).items()) == [(1, 5 * S), (0, 5100 * MS)]
    assert found.first_failed == 1
    assert (found.of(1).error, found.of(1).error_file, found.of(1).error_line) == ("ValueError", "train.py", 25)


def test_a_death_that_was_seen_a_moment_late_is_the_first(tmp_path: Path) -> None:
    """The other one knew it by its connection, 50 ms before dlprof saw that a signal had ended the process."""
    killed, other = ended(4050, signal=9), ended(9000, code=1, spans=raised("RuntimeError", 5000, 20))
    assert summary(tmp_path, other, killed).first_failed == 1


def test_one_that_its_launcher_ended_is_not_the_first(tmp_path: Path) -> None:
    """A SIGTERM right behind an exception."""
    stopped, other = ended(4050, signal=15), ended(9000, code=1, spans=raised("RuntimeError", 5000, 20))
    assert summary(tmp_path, other, stopped).first_failed == 0


def test_one_that_took_long_to_end_failed_when_it_left_the_script(tmp_path: Path) -> None:
    """`sys.exit(3)` closes its connections, and Python ends 2 s later."""
    left = ended(6500, code=3, spans=[span("script", "script", 0, 4000)])
    other = ended(9000, code=1, spans=raised("RuntimeError", 5100, 20))
    found = summary(tmp_path, other, left)
    assert found.first_failed == 1
    assert found.of(1).error is None


def test_the_order_is_not_known_where_an_end_was_not_seen(tmp_path: Path) -> None:
    """Such as of a rank whose dlprof was killed too."""
    unseen = {"told": {"state": "running"}}
    found = summary(tmp_path, ended(9000, code=1, spans=raised("RuntimeError", 5000, 20)), unseen)
    assert (found.failures, found.first_failed) == (None, None)


def test_of_a_run_that_was_interrupted_none_failed_first(tmp_path: Path) -> None:
    """Ctrl-C reached all of them."""
    told = {"state": "interrupted"}
    found = summary(tmp_path, ended(9000, signal=2, told=told), ended(8000, signal=2, told=told))
    assert (found.interrupted, found.first_failed) == (True, None)


def test_steps_that_were_not_written_are_known_to_be_missing(tmp_path: Path) -> None:
    """A signal ended the process before what it did last was on disk."""
    unrecorded = {"since_ns": 3 * S, "dur_ns": S, "cause": "left", "reason": "a signal ended it"}
    found = summary(tmp_path, ended(4000, signal=9, told={"unrecorded": unrecorded}), ended(4000, code=0))
    assert [one.steps_cut for one in found.ranks] == [True, False]


def test_a_rank_that_ended_well_did_not_fail(tmp_path: Path) -> None:
    """It has no time of failing."""
    made = ranked_runs.make(tmp_path, {0: 5, 1: 5})
    assert rank_ends.of_run(made.members[0].run) == rank_ends.RankEnd("exit code 0", False)
