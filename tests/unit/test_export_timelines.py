"""Time lines for Perfetto and Chrome: nothing is lost, and nothing overlaps."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlprof.analysis.timeline import groups
from dlprof.analysis.timeline.lanes import closings, lanes
from dlprof.errors import NoInputError
from dlprof.export import chrome, perfetto
from dlprof.store.run import Run
from tests.unit.exports import HOSTILE, LONG, events, whole
from tests.unit.runs import make

WRITERS = pytest.mark.parametrize("writer", [perfetto, chrome], ids=["perfetto", "chrome"])


def chrome_events(run: Run) -> list[dict[str, Any]]:
    """The run's trace events."""
    out = io.BytesIO()
    chrome.write(run, out)
    return list(json.loads(out.getvalue())["traceEvents"])


def lanes_of(*slices: tuple[int, int]) -> list[list[int]]:
    """Which slices (start, end) stand together."""
    starts, ends = (np.array([one[at] for one in slices], np.int64) for at in (0, 1))
    return [lane.tolist() for lane in lanes(starts, ends)]


def test_slices_that_nest_share_a_lane() -> None:
    """The outer one comes first, whatever order they came in."""
    assert lanes_of((2, 5), (0, 10), (0, 2), (5, 10)) == [[1, 2, 0, 3]]


def test_slices_that_overlap_in_part_stand_on_different_lanes() -> None:
    """And what follows goes to the first lane that is free."""
    assert lanes_of((0, 10), (5, 15), (12, 20), (15, 16)) == [[0, 2, 3], [1]]


def test_a_slice_without_duration_stands_where_another_ends() -> None:
    """It is not inside the one that ends there."""
    starts, ends = np.array([0, 10, 10]), np.array([10, 10, 12])

    assert [lane.tolist() for lane in lanes(starts, ends)] == [[0, 2, 1]]


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 12)), max_size=40))
def test_lanes_lose_nothing_and_never_overlap(slices: list[tuple[int, int]]) -> None:
    """Whatever the slices are."""
    starts = np.array([start for start, _ in slices], np.int64)
    ends = starts + np.array([dur for _, dur in slices], np.int64)

    found = lanes(starts, ends)

    assert sorted(at for lane in found for at in lane.tolist()) == list(range(len(slices)))
    for lane in found:
        for place, at in enumerate(lane.tolist()):
            for other in lane[place + 1 :].tolist():
                assert starts[other] >= ends[at] or ends[other] <= ends[at]


def test_slices_close_before_the_next_begins() -> None:
    """From the inside out, and all that is left at the end."""
    found = list(closings(np.array([0, 0, 4]), np.array([10, 4, 6])))

    assert found == [(0, []), (1, []), (2, [4]), (-1, [6, 10])]


def test_every_execution_is_on_the_lane_of_its_stream(tmp_path: Path) -> None:
    """Those that overlap in part are on a further track of that lane."""
    by_name = {group.name: group for group in groups.of_run(whole(tmp_path / "run")).groups}

    assert [(name, len(slices.start_ns)) for name, slices in by_name["GPU 0"].tracks] == [
        ("stream 7", 2), ("stream 7 #2", 1), ("stream 9", 1)
    ]  # fmt: skip


def test_processes_and_ranks_have_groups_of_their_own(tmp_path: Path) -> None:
    """So that the streams of two ranks are not one."""
    run = make(
        tmp_path / "run",
        kernel_ops=[{"op_id": 0, "kind": "kernel", "name": "k"}],
        kernel_events=[*events((0, 0, "s", 0, 1)), *events((0, 0, "s", 0, 1), rank=1)],
    )

    assert [group.name for group in groups.of_run(run).groups] == ["GPU 0 (rank 0)", "GPU 0 (rank 1)"]


def test_a_step_has_its_parts_inside_and_its_input_before(tmp_path: Path) -> None:
    """To the nanosecond."""
    run = whole(tmp_path / "run")

    found = [(e["name"], e["ts"], e["dur"]) for e in chrome_events(run) if e.get("cat") in ("step", "input")]

    assert sorted(found, key=lambda one: one[1])[:5] == [
        ("input", 2_000_000.0, 1000.0), ("train step", 2_001_000.0, 21_000.0), ("before the call", 2_001_000.0, 2000.0),
        ("call", 2_003_000.0, 15_000.0), ("after the call", 2_018_000.0, 4000.0),
    ]  # fmt: skip


def test_facts_that_are_not_known_are_left_out(tmp_path: Path) -> None:
    """They are never 0 or null."""
    found = {
        e["name"]: e["args"] for e in chrome_events(whole(tmp_path / "run")) if e.get("cat") in ("kernel", "operator")
    }

    assert found[LONG] == {"phase": "fit.steps", "window": 0, "step": 0, "delay_ns": 7}
    assert found[HOSTILE]["layer"] == "dense"
    assert found[HOSTILE]["flops"] == 1e6


def test_a_curve_has_no_value_where_none_was_measured(tmp_path: Path) -> None:
    """And begins where the interval of its first mean does."""
    found = [(e["ts"], e["args"]) for e in chrome_events(whole(tmp_path / "run")) if e["name"] == "core 0 busy"]

    assert found == [(0.0, {"%": 50.0}), (2_000_000.0, {"%": 25.5})]


@WRITERS
def test_a_run_without_times_has_no_time_line(writer: Any, tmp_path: Path) -> None:
    """It says so."""
    with pytest.raises(NoInputError, match="nothing with a time"):
        writer.write(make(tmp_path / "run"), io.BytesIO())


def test_times_before_the_start_move_all_others(tmp_path: Path) -> None:
    """Viewers refuse negative times; the file says by how much it was."""
    run = make(tmp_path / "run", gc=[{"start_ns": -1500, "dur_ns": 5, "generation": 0, "collected": 0}])
    out = io.BytesIO()
    chrome.write(run, out)

    content = json.loads(out.getvalue())

    assert [event["ts"] for event in content["traceEvents"] if event["ph"] == "X"] == [0.0]
    assert content["otherData"]["zero_shifted_by_ns"] == 1500


def test_the_host_comes_before_gpus_by_number(tmp_path: Path) -> None:
    """Whichever ran first."""
    run = make(
        tmp_path / "run",
        kernel_ops=[{"op_id": 0, "kind": "kernel", "name": "k"}],
        kernel_events=events((0, 2, "s", 0, 1), (0, 0, "s", 5, 1), (0, -1, "main", 9, 1)),
    )

    assert [group.name for group in groups.of_run(run).groups] == ["host operators", "GPU 0", "GPU 2"]


def test_idle_time_stands_with_the_streams_of_its_process(tmp_path: Path) -> None:
    """That of rank 1 is not in the group of rank 0."""
    run = make(
        tmp_path / "run",
        kernel_ops=[{"op_id": 0, "kind": "kernel", "name": "k"}],
        kernel_events=[*events((0, 0, "s", 0, 1)), *events((0, 0, "s", 0, 1), rank=1)],
        gpu_gaps=[{"rank": 1, "device": 0, "start_ns": 1, "dur_ns": 4}],
    )

    found = {group.name: [name for name, _ in group.tracks] for group in groups.of_run(run).groups}

    assert found == {"GPU 0 (rank 0)": ["s"], "GPU 0 (rank 1)": ["s", "idle"]}
