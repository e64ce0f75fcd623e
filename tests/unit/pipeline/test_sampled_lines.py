"""The table of lines, filled from samples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dlprof.ingest.own import lines as lines_reader
from dlprof.ingest.own.standing import Segment
from dlprof.pipeline import sampled_lines
from dlprof.pipeline.workspace import Workspace
from dlprof.rundir import RunDir
from dlprof.schema.manifest import Interpreter, Manifest
from tests.unit.runs import MS, S, span, table

SOURCE = "import time\n\ndef load():\n    time.sleep(1)\n"
STACK = (("<module>", "train.py", 9), ("fit", "keras/src/trainer.py", 3), ("load", "train.py", 4))
LIBRARIES = "/lib/python3.11/site-packages/"


@pytest.fixture
def run(tmp_path: Path) -> Workspace:
    """A run of train.py, which still lies in its folder, with one stack of 1 s on the main thread."""
    (tmp_path / "train.py").write_text(SOURCE)
    folder = RunDir(tmp_path / "run")
    folder.raw.mkdir(parents=True)
    made = Workspace(
        folder, Manifest(script_folder=str(tmp_path), interpreter=Interpreter(version="3.11.7")), fresh=True
    )
    for path in (str(tmp_path / "train.py"), LIBRARIES + "keras/src/trainer.py", LIBRARIES + "keras/src/layer.py"):
        made.names.short(path)
    put_stack(made, STACK)
    return made


def put_stack(run: Workspace, stack: tuple[tuple[str, str, int], ...], thread: str = "MainThread") -> None:
    """Have the run hold one stack, from 2 s to 3 s."""
    frames = [{"stack_id": 0, "depth": n, "function": f, "file": p, "line": i} for n, (f, p, i) in enumerate(stack)]
    row = {"thread_id": 1, "thread": thread, "start_ns": 2 * S, "dur_ns": S, "stack_id": 0}
    run.tables.put({"stacks": table("stacks", [row]), "frames": table("frames", frames)})


def count(run: Workspace, *functions: dict[str, Any]) -> None:
    """Have lines of these functions counted."""
    path = run.folder.raw / "lines.json"
    path.write_text(json.dumps({"format": "dlprof.lines/1", "unit_ns": 1, "functions": functions}))
    run.tables.put({"lines": lines_reader.read(path, run.process, run.names, lambda _: [])})


def function(run: Workspace, name: str, first_line: int, *lines: list[int]) -> dict[str, Any]:
    """A function of train.py as the probe writes it."""
    file = str(Path(run.manifest.script_folder) / "train.py")
    return {"file": file, "function": name, "first_line": first_line, "lines": list(lines)}


def rows(run: Workspace) -> list[tuple[Any, ...]]:
    """Function, line, hits, ns and samples of each row."""
    found = run.tables.get("lines")
    keys = ("function", "line", "hits", "time_ns", "samples")
    return [tuple(row[key] for key in keys) for row in (found.to_pylist() if found else [])]


def test_what_keras_called_is_added_to_the_counts(run: Workspace) -> None:
    """And said: how many lines, and at what rate."""
    count(run, function(run, "<module>", 1, [9, 1, S]), function(run, "load", 3))

    sampled_lines.add(run, 20.0)

    assert rows(run) == [("<module>", 9, 1, S, None), ("load", 4, None, S, 20)]
    (health,) = run.tables.health
    assert (health.slug, health.severity, health.count) == ("lines-sampled", "info", 1)
    assert "20 a second" in health.message


def test_without_any_count_all_lines_are_from_samples(run: Workspace) -> None:
    """Where counting was off, or line_profiler could not be had."""
    sampled_lines.add(run, 20.0)

    assert rows(run) == [("<module>", 9, None, S, 20), ("load", 4, None, S, 20)]


def test_a_function_that_was_neither_counted_nor_seen_is_named(run: Workspace) -> None:
    """Before Python 3.12; from then on it did not run."""
    count(run, function(run, "<module>", 1, [9, 1, S]), function(run, "other", 20))

    sampled_lines.add(run, 20.0)

    assert "other (train.py:20)" in next(one.message for one in run.tables.health if one.slug == "lines-unseen")


def test_the_source_of_a_file_that_was_only_sampled_is_kept_once(run: Workspace) -> None:
    """Not when the tables are made anew: it may have changed since."""
    sampled_lines.add(run, 20.0)
    assert run.folder.source_path("train.py").read_text() == SOURCE

    run.folder.source_path("train.py").unlink()
    run.fresh = False
    sampled_lines.add(run, 20.0)
    assert not run.folder.source_path("train.py").exists()


def test_code_that_an_engine_wrote_is_not_the_user_s(run: Workspace) -> None:
    """AutoGraph's is in files of no package."""
    put_stack(run, (("tf__f", "/tmp/__autograph_generated_filex.py", 9),), thread="thread 7")

    sampled_lines.add(run, 20.0)

    assert rows(run) == []


@pytest.mark.parametrize(("name", "filled"), [("Dense.__call__", 1), ("construct", 0)])
def test_lines_are_not_counted_while_keras_builds_and_are_in_what_the_script_marks(
    run: Workspace, name: str, filled: int
) -> None:
    """A mark is named by its kind alone."""
    count(run, function(run, "<module>", 1, [9, 1, S]), function(run, "load", 3, [4, 1, MS]))
    put_stack(run, (STACK[0], ("__call__", "keras/src/layer.py", 3), STACK[2]))
    marked = {**span("construct", 2, 3, name=name), "thread": "MainThread"}
    run.tables.put({"spans": table("spans", [marked])})

    sampled_lines.add(run, 20.0)

    assert len([row for row in rows(run) if row[4]]) == filled


def test_without_stacks_nothing_is_filled(run: Workspace) -> None:
    """None were taken: no rate is known."""
    sampled_lines.add(run, None)

    assert rows(run) == []


def test_time_for_which_no_sample_can_have_stood_is_said(run: Workspace) -> None:
    """The stack of 1 s was seen in a phase that ended after 0.4 s; lines have these, and 8 samples."""
    phases = [("script", 0, 2.4), ("teardown", 2.4, 4)]
    intervals = [{"phase": name, "start_ns": int(at * S), "dur_ns": int((to - at) * S)} for name, at, to in phases]
    run.tables.put({"phase_intervals": table("phase_intervals", intervals)})

    sampled_lines.add(run, 20.0, segments=[Segment(0, 20.0)])

    assert rows(run) == [("<module>", 9, None, 400 * MS, 8), ("load", 4, None, 400 * MS, 8)]
    told = next(one.message for one in run.tables.health if one.slug == "samples-late")
    assert told.startswith("Of 1.00 s in which the main thread was sampled, 0.60 s are of no sample")


def test_a_rate_that_changed_is_said_as_both(run: Workspace) -> None:
    """20 before lines were counted in windows, 100 from then on: the stack stood for a hundred samples."""
    sampled_lines.add(run, 100.0, segments=[Segment(0, 20.0), Segment(S, 100.0)])

    assert [row[4] for row in rows(run)] == [100, 100]
    assert "20 to 100 a second" in run.tables.health[0].message
