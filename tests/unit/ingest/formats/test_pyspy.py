"""Files of py-spy."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

from dlprof.ingest.artifact import ArtifactError
from dlprof.ingest.formats import pyspy as pyspy_files
from tests.unit.ingest.formats.samples import (
    CHROME,
    RAW,
    put,
)
from tests.unit.ingest.imports import DATA, imported


def test_speedscope_files_give_merged_stacks_of_each_thread() -> None:
    """Each thread's samples lie one after the other from 0, and sum to what the file says."""
    foreign = pyspy_files.read(DATA / "pyspy.speedscope.json.gz")

    rows = foreign.tables["stacks"].to_pylist()
    leaves = {frame["stack_id"]: (frame["function"], frame["line"]) for frame in foreign.tables["frames"].to_pylist()}
    per_thread: Counter[tuple[int, str]] = Counter()
    per_leaf: Counter[tuple[str, int]] = Counter()
    for row in rows:
        assert row["start_ns"] >= per_thread[row["thread_id"], row["thread"]]
        per_thread[row["thread_id"], row["thread"]] += row["dur_ns"]
        per_leaf[leaves[row["stack_id"]]] += row["dur_ns"]
    assert per_thread == {
        (0x16DF7B000, "Thread-1 (_handle_workers)"): 20_000_000,
        (0x16EF87000, "Thread-2 (_handle_tasks)"): 31_860_000_000,
        (0x16FF93000, "Thread-3 (_handle_results)"): 31_860_000_000,
        (0x1FA08F100, "MainThread"): 38_070_000_000,
    }
    assert per_leaf["join", 1095] == 31_860_000_000
    assert (foreign.facts["exporter"], foreign.facts["samples"], len(rows)) == ("py-spy@0.4.2", 10_181, 446)


def test_raw_files_of_py_spy_are_laid_out_at_100_samples_a_second(tmp_path: Path) -> None:
    """Counts become times, thread by thread, which the user is told; command lines may span lines."""
    foreign = pyspy_files.read(put(tmp_path, RAW))

    names = ("thread_id", "thread", "start_ns", "dur_ns", "stack_id")
    assert [tuple(row[name] for name in names) for row in foreign.tables["stacks"].to_pylist()] == [
        (9, "MainThread", 0, 30_000_000, 0),
        (8, "worker", 0, 20_000_000, 1),
        (8, "worker", 20_000_000, 10_000_000, 2),
    ]
    frames = [tuple(row.values()) for row in foreign.tables["frames"].to_pylist()]
    assert frames[:3] == [(0, 0, "<module>", "<string>", 3), (0, 1, "run", "<string>", 2), (1, 0, "work", "a.py", 4)]
    assert (foreign.facts["samples"], [entry.slug for entry in foreign.health]) == (
        6,
        ["stacks-idle-unknown", "stacks-without-time"],
    )


@pytest.mark.parametrize(("innermost", "told"), [("work (a.py:4)", True), ("wait (threading.py:331)", False)])
def test_that_threads_which_wait_may_be_missing_is_told(innermost: str, told: bool, tmp_path: Path) -> None:
    """py-spy leaves them out by default, and says nothing of that; one that waits shows that it kept them."""
    foreign = pyspy_files.read(put(tmp_path, f"main (a.py:9);{innermost} 7\n"))

    said = [entry.message for entry in foreign.health if entry.slug == "stacks-idle-unknown"]
    assert [text.partition(":")[0] for text in said] == [
        "file has 7 samples, none of them of a thread that waits"
    ] * told


def test_of_stacks_of_other_samplers_nothing_is_said_of_threads_that_wait(tmp_path: Path) -> None:
    """Each has a way of its own."""
    foreign = pyspy_files.read(put(tmp_path, "java;main;work 7\njava;main;rest 3\n"))

    assert [entry.slug for entry in foreign.health] == ["stacks-without-time"]


def test_chrometraces_of_py_spy_keep_their_times_and_file_names(tmp_path: Path) -> None:
    """A stack stands until an event changes it."""
    foreign = pyspy_files.read(put(tmp_path, gzip.compress(CHROME.encode())))

    names = ("thread_id", "thread", "start_ns", "dur_ns", "stack_id")
    assert [tuple(row[name] for name in names) for row in foreign.tables["stacks"].to_pylist()] == [
        (8, "worker", 100_000, 200_000, 0),
        (8, "worker", 300_000, 150_000, 1),
        (8, "worker", 450_000, 50_000, 0),
    ]
    assert {row["file"] for row in foreign.tables["frames"].to_pylist()} == {"/x/a.py"}


@pytest.mark.parametrize(
    "text",
    [
        "thread (9);run (a.py:2) 3\nthread (8);work (a.py:4) 2\n",
        CHROME.replace(": worker", "").replace(
            "[",
            '[{"args":{"filename":"","line":0},"cat":"py-spy","name":"thread (9)",'
            '"ph":"B","pid":7,"tid":0,"ts":1},{"args":{"filename":"/x/a.py","line":2},"cat":"py-spy","name":"run","ph":"B",'
            '"pid":7,"tid":0,"ts":1},{"args":{"filename":"/x/a.py","line":2},"cat":"py-spy","name":"run","ph":"E",'
            '"pid":7,"tid":0,"ts":9},',
            1,
        ),
    ],
    ids=["raw", "chrometrace"],
)
def test_of_threads_without_names_the_first_is_the_main_one(text: str, tmp_path: Path) -> None:
    """Engines call Python from threads that Python did not start."""
    rows = pyspy_files.read(put(tmp_path, text)).tables["stacks"].to_pylist()

    assert {(row["thread_id"], row["thread"]) for row in rows} == {(9, "MainThread"), (8, "thread 8")}


def test_frames_that_are_opened_and_closed_are_stacks_of_what_is_open(tmp_path: Path) -> None:
    """As pyinstrument writes them: nothing is open between the two."""
    frames = [{"name": "main", "file": "a.py", "line": 1}, {"name": "inner", "file": "a.py", "line": 5}]
    edges = [("O", 0, 2.0), ("O", 1, 2.5), ("C", 1, 3.0), ("C", 0, 3.25), ("O", 1, 4.0), ("C", 1, 5.0)]
    events = [{"type": sort, "frame": frame, "at": at} for sort, frame, at in edges]
    profile = {"type": "evented", "name": "p", "unit": "seconds", "startValue": 2.0, "endValue": 5.0, "events": events}
    path = tmp_path / "p.json"
    path.write_text(
        json.dumps(
            {
                "$schema": "https://www.speedscope.app/file-format-schema.json",
                "profiles": [profile],
                "shared": {"frames": frames},
            }
        )
    )

    run = imported(tmp_path, path)

    assert [(row["start_ns"], row["dur_ns"], row["stack_id"]) for row in run.rows("stacks")] == [
        (0, 500_000_000, 0),
        (500_000_000, 500_000_000, 1),
        (1_000_000_000, 250_000_000, 0),
        (2_000_000_000, 1_000_000_000, 2),
    ]
    assert [row["slug"] for row in run.rows("health")] == ["stacks-summed-up"]


def test_folded_stacks_of_others_are_shares_without_times(tmp_path: Path) -> None:
    """Nobody knows what their counts are; Linux perf names functions of Python with their files."""
    text = "python;main;py::train:/a/train.py 30\npython;main;[unknown] 10\n"

    run = imported(tmp_path, put(tmp_path, text))

    frames = [(row["function"], row["file"]) for row in run.rows("frames") if row["depth"] == 2]
    assert frames == [("train", "/a/train.py"), ("[unknown]", "")]
    assert [row["dur_ns"] for row in run.rows("stacks")] == [300_000_000, 100_000_000]
    assert [(row["slug"], "not say what its counts are" in row["message"]) for row in run.rows("health")] == [
        ("stacks-without-time", True)
    ]
    assert run.rows("sources")[0]["format"] == "folded-stacks"


def test_a_profile_without_a_stack_is_refused(tmp_path: Path) -> None:
    """A run of it would say that nothing was done."""
    profile = {"type": "evented", "name": "p", "unit": "seconds", "startValue": 0, "endValue": 1, "events": []}
    told = {
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "profiles": [profile],
        "shared": {"frames": []},
    }

    with pytest.raises(ArtifactError, match="no stacks in it"):
        imported(tmp_path, put(tmp_path, json.dumps(told)))


def test_a_functions_own_time_is_no_function(tmp_path: Path) -> None:
    """Pyinstrument opens a frame for it, which has no file."""
    frames = [{"name": "crunch", "file": "a.py", "line": 1}, {"name": "[self]"}]
    edges = [("O", 0, 0.0), ("O", 1, 1.0), ("C", 1, 2.0), ("C", 0, 3.0)]
    events = [{"type": sort, "frame": frame, "at": at} for sort, frame, at in edges]
    profile = {"type": "evented", "name": "p", "unit": "seconds", "startValue": 0, "endValue": 3, "events": events}
    schema = "https://www.speedscope.app/file-format-schema.json"
    told = {"$schema": schema, "profiles": [profile], "shared": {"frames": frames}}

    run = imported(tmp_path, put(tmp_path, json.dumps(told)))

    assert [row["function"] for row in run.rows("frames")] == ["crunch"]
    assert [row["dur_ns"] for row in run.rows("stacks")] == [3_000_000_000]


def test_stacks_without_a_frame_at_the_begin_are_counted_and_passed_over(tmp_path: Path) -> None:
    """py-spy writes such a line for samples of threads in which no function of Python runs."""
    run = imported(tmp_path, put(tmp_path, " 3\n<module> (a.py:1);work (a.py:4) 7\n"))

    assert [row["dur_ns"] for row in run.rows("stacks")] == [70_000_000]
    assert [(row["what"], row["events"]) for row in run.rows("skipped")] == [("samples", 3)]
