"""The report of ranks on a terminal."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis import ranks
from dlprof.report import ranks_text
from dlprof.report.model import Cause
from dlprof.report.ranks_causes import RanksCauses
from dlprof.schema.vocabulary import Basis
from tests.unit import ranked_runs
from tests.unit.analysis.findings.test_rank_events import paused
from tests.unit.analysis.test_device_collectives import traced
from tests.unit.analysis.test_rank_ends import ended, raised


def printed(folder: Path, own_ms: dict[int, float], *, full: bool = False, **changes: Any) -> list[str]:
    """The lines of the report."""
    found = ranked_runs.make(folder, own_ms, **changes)
    out = io.StringIO()
    ranks_text.print_ranks(found, ranks.of_run(found), file=out, full=full, plain=True)
    return [line for line in out.getvalue().splitlines() if line.strip()]


def test_two_ranks_are_told_in_a_few_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps and skew, who is waited for and why, how long, and how they ended."""
    monkeypatch.setenv("COLUMNS", "300")
    lines = printed(tmp_path, {0: 5, 1: 12})
    assert lines[0] == "train.py  2 ranks on h, 10.0 s"
    assert lines[1] == (
        "Steps      40 in each rank; median 20.0 ms, 20.0 ms (rank 0) to 20.0 ms (rank 1); "
        "skew 7.00 ms from first to last at a collective"
    )
    assert lines[2] == (
        "Straggler  rank 1: 7.00 ms a step more than the others (35.0 % of its step), in its own work, not its input "
        "(kernels and host were not told apart); last to come to 100 % of the collectives"
    )
    assert lines[3] == (
        "Waits      in collectives, in the median step: up to 7.00 ms (rank 0, 35.0 % of its step) for ranks that come "
        "later, and 1.00 ms for the transfer (median of the ranks)"
    )
    assert lines[4] == "Ended      all exit code 0"


def cause(slug: str, title: str) -> Cause:
    """One of 2 s of 10, at line 33."""
    return Cause(slug, title, "It takes long:", 2_000_000_000, 0.2, Basis.MEASURED, "train.py", 33, "Do less.")


def test_the_first_causes_come_before_what_was_measured(tmp_path: Path) -> None:
    """What the ranks lose to each other, then what one of them loses by itself, which is said; of others the names."""
    ranked = ranked_runs.make(tmp_path, {0: 5, 1: 12})
    out = io.StringIO()
    causes = RanksCauses([cause("straggler", "A rank is slow")], [cause("gc-pressure", "Garbage"), cause("x", "X")], 1)
    ranks_text.print_ranks(ranked, ranks.of_run(ranked), causes, file=out, plain=True)
    assert out.getvalue().splitlines()[:10] == [
        "train.py  2 ranks on h, 10.0 s",
        "",
        "1. A rank is slow  2.00 s, 20 %  straggler",
        "   train.py:33  Do less.",
        "",
        "2. Garbage  2.00 s, 20 %  gc-pressure",
        "   train.py:33  Do less.",
        "   so it is in rank 1, by itself",
        "   1 more: x",
        "",
    ]


def test_a_rank_that_is_slow_now_and_then_is_named_where_the_median_step_shows_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """800 ms once, of steps of 20 ms."""
    monkeypatch.setenv("COLUMNS", "300")
    lines = printed(tmp_path, {0: 5, 1: 5}, rank_0=paused(0), rank_1=paused(1))
    assert lines[2] == (
        "Straggler  none in the median step; now and then rank 1: once in 40 steps all others stood still for it, "
        "800 ms in all"
    )


def test_many_ranks_take_no_more_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """But for the table of all of them, if that is asked for."""
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.chdir(tmp_path)
    own = {rank: 12.0 if rank == 1 else 5.0 for rank in range(2)}
    assert len(printed(tmp_path / "two", own, world=9)) == 6
    assert "no run of rank 2, 3, 4, 5, 6, 7 ..." in printed(tmp_path / "nine", own, world=9)[4]
    assert len(printed(tmp_path / "full", own, full=True)) > 8


def test_the_rank_that_died_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With how, and after how many steps."""
    monkeypatch.setenv("COLUMNS", "300")
    process = {"pid": 42, "exit_code": 3, "signal": None, "wall_ns": 5}
    few = {"steps": ranked_runs.steps(1)[:7], "told": {"process": process}}
    lines = printed(tmp_path, {0: 5, 1: 5}, rank_1=few)
    assert lines[1].startswith("Steps      7 (rank 1) to 40 (rank 0) in a rank; median 20.0 ms")
    assert lines[4] == "Ended      1 exit code 0; 1 exit code 3; rank 1 exit code 3 after 7 steps"


def test_the_steps_of_each_rank_are_drawn_on_one_scale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rank 0 does 12 ms of its own in each of the 40 steps, rank 1 19: that is the highest."""
    monkeypatch.setenv("COLUMNS", "120")
    lines = printed(tmp_path, {0: 5, 1: 12}, full=True)
    at = next(number for number, line in enumerate(lines) if line.startswith("Steps of the ranks"))
    assert lines[at] == "Steps of the ranks  own work in each, first to last; highest: 19.0 ms and more"
    assert [line.split() for line in lines[at + 2 : at + 4]] == [
        ["0", "+" * 40, "12.0", "ms"],
        ["1", "#" * 40, "19.0", "ms"],
    ]


def test_the_rank_that_failed_first_is_named_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its exception and line; the other one was ended for that."""
    monkeypatch.setenv("COLUMNS", "300")
    own = ended(9000, code=1, spans=raised("ValueError", 4000, 25))
    lines = printed(tmp_path, {0: 5, 1: 5}, rank_0=ended(5500, signal=15), rank_1=own)
    assert lines[4] == (
        "Ended      1 signal 15; 1 exit code 1; rank 1 failed first: ValueError at train.py:25 (exit code 1) after 40 "
        "steps; then rank 0 signal 15 after 40 steps, 500 ms later"
    )


def test_a_run_that_was_interrupted_is_said_to_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its ranks may have ended with exit code 0."""
    monkeypatch.setenv("COLUMNS", "300")
    lines = printed(tmp_path, {0: 5, 1: 5}, rank_0=ended(5500, code=0, told={"state": "interrupted"}))
    assert lines[4] == "Ended      all exit code 0; the run was interrupted"


def test_foreign_traces_tell_waits_by_how_long_their_collectives_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They need no clock in common for it; what is drawn of their steps is not called own work."""
    monkeypatch.setenv("COLUMNS", "300")
    told = {"state": "imported", "clock": {}}
    lines = printed(
        tmp_path,
        {0: 5, 1: 12},
        full=True,
        rank_0={**traced((1, 0, 9), (1, 20, 5)), "told": told},
        rank_1={**traced((1, 5, 4), (1, 23, 2)), "told": told},
    )
    (waits,) = [line for line in lines if line.startswith("Waits")]
    assert waits == (
        "Waits      in the 2 collectives that were traced: up to 8.00 ms in all (rank 0) for ranks that come later, by "
        "how much longer each is than in the rank where it is shortest, and 6.00 ms from then on"
    )
    assert any(line.startswith("Steps of the ranks  with waits for other ranks, first to last;") for line in lines)
