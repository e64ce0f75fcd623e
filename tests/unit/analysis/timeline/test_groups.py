"""A run as groups of tracks."""

from __future__ import annotations

from pathlib import Path

from dlprof.analysis.timeline import groups
from tests.unit.export.run_of_everything import events, whole
from tests.unit.runs import make


def test_every_execution_is_on_the_lane_of_its_stream(tmp_path: Path) -> None:
    """Those that overlap in part are on a further track of that lane."""
    by_name = {group.name: group for group in groups.of_run(whole(tmp_path / "run")).groups}

    assert [(name, len(slices.start_ns)) for name, slices in by_name["GPU 0"].tracks] == [
        ("stream 7", 2),
        ("stream 7 #2", 1),
        ("stream 9", 1),
    ]


def test_processes_and_ranks_have_groups_of_their_own(tmp_path: Path) -> None:
    """So that the streams of two ranks are not one."""
    run = make(
        tmp_path / "run",
        kernel_ops=[{"op_id": 0, "kind": "kernel", "name": "k"}],
        kernel_events=[*events((0, 0, "s", 0, 1)), *events((0, 0, "s", 0, 1), rank=1)],
    )

    assert [group.name for group in groups.of_run(run).groups] == ["GPU 0 (rank 0)", "GPU 0 (rank 1)"]


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
