"""Timelines of ranks on one axis."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from dlprof.analysis import ranks
from dlprof.analysis.clocks import Clock
from dlprof.report.html.rank_timelines import RankTimelines
from tests.unit import ranked_runs
from tests.unit.runs import S


def made(folder: Path, clock: Clock | None = None) -> RankTimelines:
    """Those of two ranks, of which the second began a second later."""
    found = ranked_runs.make(folder, {0: 5, 1: 12})
    return RankTimelines(found.members, clock or ranks.of_run(found).clock)


def test_steps_of_one_moment_stand_above_each_other(tmp_path: Path) -> None:
    """Each rank's own clock has them a second apart."""
    lines = made(tmp_path)
    assert lines.drawing is not None
    steps = {track.label: int(track.start_ns[0]) for track in lines.drawing.tracks if track.lane == "steps"}
    assert steps == {"rank 0: steps": 2 * S, "rank 1: steps": 2 * S}
    assert {track.place for track in lines.drawing.tracks if track.group == "program"} == {"rank 0", "rank 1"}
    assert (lines.drawing.zero_ns, lines.drawing.span_ns) == (0, 11 * S)


def test_collectives_are_a_track_of_each(tmp_path: Path) -> None:
    """Rank 0 comes to the first 5 ms into the step."""
    lines = made(tmp_path)
    assert lines.drawing is not None
    found = {track.place: int(track.start_ns[0]) for track in lines.drawing.tracks if track.lane == "collectives"}
    assert found == {"rank 0": 2 * S + 5_000_000, "rank 1": 2 * S + 12_000_000}


def test_moments_of_a_rank_are_told_on_the_axis(tmp_path: Path) -> None:
    """None of a rank that is not drawn."""
    lines = made(tmp_path)
    moved = lines.on_axis(1, np.array([0, S]))
    assert moved is not None
    assert moved.tolist() == [S, 2 * S]
    assert lines.on_axis(7, np.array([0])) is None


def test_without_a_clock_in_common_each_begins_at_nothing(tmp_path: Path) -> None:
    """What was not compared is not moved."""
    found = ranks.of_run(ranked_runs.make(tmp_path / "clock", {0: 5, 1: 12})).clock
    lines = made(tmp_path / "made", replace(found, unknown="for want of collectives"))
    assert lines.drawing is not None
    steps = [int(track.start_ns[0]) for track in lines.drawing.tracks if track.lane == "steps"]
    assert steps == [2 * S, S]
