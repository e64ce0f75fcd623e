"""Stacks that py-spy sampled."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dlprof.ingest.artifact import ArtifactError, ProcessId
from dlprof.ingest.file_names import FileNames
from dlprof.ingest.own import stacks

PROCESS = ProcessId("host", 0, 42, 1_000)


def event(ph: str, name: str, file: str, line: int, ts: int) -> dict[str, Any]:
    """An event of py-spy's chrome trace."""
    return {
        "args": {"filename": file, "line": line},
        "cat": "py-spy",
        "name": name,
        "ph": ph,
        "pid": 42,
        "tid": 9,
        "ts": ts,
    }


EVENTS = [
    event("B", "thread (77): MainThread", "", 0, 100),
    event("B", "main", "/s/mlp.py", 5, 100),
    event("B", "_find_and_load", "<frozen importlib._bootstrap>", 1, 100),
    event("B", "fit", "/env/lib/python3.11/site-packages/keras/model.py", 9, 100),
    event("E", "fit", "/env/lib/python3.11/site-packages/keras/model.py", 9, 300),
    event("E", "_find_and_load", "<frozen importlib._bootstrap>", 1, 300),
    event("E", "main", "/s/mlp.py", 5, 450),
    event("E", "thread (77): MainThread", "", 0, 450),
]


def stack_file(folder: Path, events: list[dict[str, Any]], **anchor: Any) -> Path:
    """A segment with its anchor."""
    path = folder / "stacks-000.json"
    path.write_text(json.dumps(events))
    (folder / "stacks-000.anchor.json").write_text(json.dumps({"before_ns": 900, "after_ns": 1_000, **anchor}))
    return path


@pytest.mark.parametrize(("file", "line"), [("__doc__", 437_321_509), ("\0\0\0", 4)])
def test_frames_that_cannot_be_are_left_out_with_what_is_around_them(tmp_path: Path, file: str, line: int) -> None:
    """py-spy read them where another object lay by then: line 437,321,509 of `__doc__`, or a file that cannot be."""
    garbled = [
        event("B", "main", "/s/mlp.py", 5, 100),
        event("B", "__package__", file, line, 100),
        event("B", "loss", "/s/mlp.py", 9, 100),
        event("E", "loss", "/s/mlp.py", 9, 300),
        event("E", "__package__", file, line, 300),
        event("E", "main", "/s/mlp.py", 5, 300),
    ]
    found = stacks.Stacks(PROCESS, FileNames("/s"))

    health = found.add(stack_file(tmp_path, garbled))

    assert [(row["function"], row["line"]) for row in found.tables()["frames"].to_pylist()] == [("loss", 9)]
    assert [(one.slug, one.count) for one in health if one.slug == "stacks-garbled"] == [("stacks-garbled", 1)]


def test_stacks_stand_from_one_change_to_the_next(tmp_path: Path) -> None:
    """Pseudo frames and the import machinery are left out; files are named shortly."""
    found = stacks.Stacks(PROCESS, FileNames("/s"))
    found.add(stack_file(tmp_path, EVENTS))

    tables = found.tables()
    rows = tables["stacks"].to_pylist()
    assert [(r["thread_id"], r["thread"], r["start_ns"], r["dur_ns"], r["stack_id"]) for r in rows] == [
        (77, "MainThread", 100_000, 200_000, 0),
        (77, "MainThread", 300_000, 150_000, 1),
    ]
    frames = [(f["stack_id"], f["depth"], f["function"], f["file"], f["line"]) for f in tables["frames"].to_pylist()]
    assert frames == [(0, 0, "main", "mlp.py", 5), (0, 1, "fit", "keras/model.py", 9), (1, 0, "main", "mlp.py", 5)]


def test_a_thread_without_a_name_is_not_the_main_thread(tmp_path: Path) -> None:
    """TensorFlow calls generators from threads that Python did not start; the first thread seen is the main one."""
    events = [
        event("B", "thread (77)", "", 0, 100),
        event("B", "main", "/s/mlp.py", 5, 100),
        event("E", "main", "/s/mlp.py", 5, 450),
        {**event("B", "thread (78)", "", 0, 200), "tid": 10},
        {**event("B", "batches", "/s/mlp.py", 9, 200), "tid": 10},
        {**event("E", "batches", "/s/mlp.py", 9, 300), "tid": 10},
    ]
    found = stacks.Stacks(PROCESS, FileNames("/s"))
    found.add(stack_file(tmp_path, events))

    rows = found.tables()["stacks"].to_pylist()
    assert [(row["thread_id"], row["thread"]) for row in rows] == [(77, "MainThread"), (78, "thread 78")]


def test_what_py_spy_could_not_read_is_counted(tmp_path: Path) -> None:
    """More than a fifth of all stacks."""
    health = stacks.Stacks(PROCESS, FileNames("/s")).add(
        stack_file(tmp_path, EVENTS, samples=70, errors=30, behind=True)
    )

    assert [entry.slug for entry in health] == ["stacks-incomplete", "stacks-behind"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100, deadline=None)
@given(
    sequence=st.lists(st.tuples(st.sampled_from("BEX"), st.sampled_from("abc"), st.integers(0, 50)), max_size=30),
    cut=st.integers(0, 2000),
)
def test_a_damaged_trace_gives_an_artifact_error_or_what_is_whole(
    sequence: list[tuple[str, str, int]], cut: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Any order of events, cut anywhere."""
    folder = tmp_path_factory.mktemp("stacks")
    path = stack_file(folder, [event(ph, name, "/s/x.py", 1, ts) for ph, name, ts in sequence])
    path.write_bytes(path.read_bytes()[:cut])
    found = stacks.Stacks(PROCESS, FileNames("/s"))

    try:
        found.add(path)
    except ArtifactError:
        return
    assert all(row["dur_ns"] > 0 for row in found.tables()["stacks"].to_pylist())


def test_a_stack_of_a_thread_that_is_gone_is_cut_and_that_is_said(tmp_path: Path) -> None:
    """It seems to stand for 2 s, until the end; of 30 samples 20 are of the main thread's 2 s at 10 a second."""
    events = [
        event("B", "thread (77): MainThread", "", 0, 0),
        event("B", "main", "/s/mlp.py", 5, 0),
        {**event("B", "thread (78)", "", 0, 0), "tid": 10},
        {**event("B", "load", "/s/mlp.py", 9, 0), "tid": 10},
        event("E", "main", "/s/mlp.py", 5, 2_000_000),
        {**event("E", "load", "/s/mlp.py", 9, 2_000_000), "tid": 10},
    ]
    found = stacks.Stacks(PROCESS, FileNames("/s"))

    (health,) = found.add(stack_file(tmp_path, events, samples=30, errors=0, rate_hz=10))

    assert [row["dur_ns"] for row in found.tables()["stacks"].to_pylist()] == [2 * 10**9, 10**9]
    assert found.rate_hz == 10.0
    assert (health.slug, health.count) == ("stacks-cut", 1)


def test_stacks_that_were_read_in_part_are_completed_and_told(tmp_path: Path) -> None:
    """One of three has the frames of the engine alone."""
    inner = [("B", "run", "/s/engine.py", 5)], [("E", "run", "/s/engine.py", 5)]
    outer = [("B", "main", "/s/mlp.py", 5)], [("E", "main", "/s/mlp.py", 5)]
    changes = [
        (100, [("B", "thread (77): MainThread", "", 0), *outer[0], *inner[0]]),
        (200, [*inner[1], *outer[1], *inner[0]]),
        (300, [*inner[1], *outer[0]]),
        (400, [*outer[1], ("E", "thread (77): MainThread", "", 0)]),
    ]
    found = stacks.Stacks(PROCESS, FileNames("/s"))

    (health,) = found.add(stack_file(tmp_path, [event(*one, time) for time, many in changes for one in many]))

    assert [row["stack_id"] for row in found.tables()["stacks"].to_pylist()] == [0, 0, 1]
    assert (health.slug, health.count) == ("stacks-completed", 1)
