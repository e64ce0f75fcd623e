"""Tracks of what a long run has too much of."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import patch

from dlprof.report.html import long_tracks, timeline
from dlprof.report.html.thinning import Track
from dlprof.store.run import Run
from tests.unit.runs import MS, S, steps, trained


def drawn(run: Run, many: int = 5) -> dict[str, Track]:
    """The tracks of a run of which more than so many rows are many."""
    with patch.object(long_tracks, "MANY", many):
        found = timeline.of_run(run)
    assert found is not None
    return {track.label: track for track in found.tracks}


def test_many_steps_are_drawn_as_a_whole(tmp_path: Path) -> None:
    """Ten steps of 20 ms with their numbers; of few there would be their calls inside."""
    run = trained(tmp_path / "r", steps=steps(10, call_offset_ns=MS, call_ns=5 * MS))
    assert len(drawn(run, many=10)["steps"].start_ns) == 40
    track = drawn(run)["steps"]
    assert track.number is not None
    assert (track.dur_ns.tolist(), track.number.tolist()) == ([20 * MS] * 10, list(range(10)))


def test_steps_in_which_a_graph_was_compiled_keep_their_colour(tmp_path: Path) -> None:
    """Whatever their number."""
    rows = steps(10)
    rows[3]["compiled"] = True
    names = drawn(trained(tmp_path / "r", steps=rows))["steps"].name.tolist()
    assert [n for n, name in enumerate(names) if name != names[0]] == [3]


def test_calls_that_nest_stay_on_one_track_and_others_get_one_more(tmp_path: Path) -> None:
    """Six calls inside a longer one, and one that only overlaps it."""
    around: dict[str, Any] = {"thread_id": 1, "thread": "MainThread", "kind": "predict", "name": "predict"}
    times = [(0, 100), (10, 5), (20, 5), (30, 5), (40, 5), (50, 5), (60, 5), (90, 30)]
    spans = [{**around, "span_id": n, "start_ns": a * MS, "dur_ns": b * MS, "ended": True} for n, (a, b) in enumerate(times)]  # fmt: skip
    found = drawn(trained(tmp_path / "r", spans=spans))
    assert len(found["calls: MainThread"].start_ns) == 7
    assert found["calls: MainThread #2"].start_ns.tolist() == [90 * MS]


def test_stacks_are_the_innermost_function_of_each_thread(tmp_path: Path) -> None:
    """Those of the main thread first; a stack without frames is passed over."""
    frames = [{"stack_id": 1, "depth": d, "function": f, "file": "a.py", "line": 1} for d, f in ((0, "out"), (1, "in"))]
    stacks = [
        {"thread_id": t, "thread": name, "start_ns": n * S, "dur_ns": S, "stack_id": 1 + n // 2}
        for n in range(3)
        for t, name in ((2, "b"), (1, "MainThread"))
    ]
    found = drawn(trained(tmp_path / "r", frames=frames, stacks=stacks))
    sampled = [label for label, track in found.items() if track.group == "python"]
    assert sampled == ["MainThread (sampled)", "b (sampled)"]
    assert found["b (sampled)"].start_ns.tolist() == [0, S]


def test_the_tracks_of_the_program_stand_in_one_order(tmp_path: Path) -> None:
    """However each of them was read."""
    rows = [{"loop_id": 1, "epoch": n, "start_ns": 2 * S + n * MS, "dur_ns": MS, "steps": 1} for n in range(9)]
    found = drawn(trained(tmp_path / "r", steps=steps(10), epochs=rows))
    assert [label for label, track in found.items() if track.group == "program"][:3] == ["phases", "epochs", "steps"]
