"""Stacks and phases for speedscope."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from dlprof.errors import NoInputError
from dlprof.export import speedscope
from dlprof.ingest.formats import pyspy as pyspy_files
from dlprof.store.run import Run
from tests.unit.export.run_of_everything import HOSTILE, whole
from tests.unit.export.writing import content
from tests.unit.runs import S, make

SCHEMA = Path(__file__).parents[2] / "data" / "speedscope" / "file-format-schema.json"


def scope(run: Run) -> Any:
    """A run for speedscope, which its own schema allows."""
    found = json.loads(content(speedscope, run))
    jsonschema.validate(found, json.loads(SCHEMA.read_text()))
    return found


def test_speedscope_has_a_profile_for_each_thread_and_one_of_the_phases(tmp_path: Path) -> None:
    """In nanoseconds, with empty stacks where nothing was sampled."""
    found = scope(whole(tmp_path / "run"))

    assert [profile["name"] for profile in found["profiles"]] == [
        "thread (42): MainThread",
        f"thread (43): {HOSTILE}",
        "phases",
    ]
    main, other, _ = found["profiles"]
    assert (main["samples"], main["weights"], main["unit"]) == ([[0], [0, 1]], [3 * S, S], "nanoseconds")
    assert (other["startValue"], other["endValue"]) == (5 * S, 6 * S)
    assert found["shared"]["frames"][:2] == [
        {"name": "train.py (module)", "file": "train.py", "line": 3},
        {"name": HOSTILE, "file": "a b.py", "line": 9},
    ]


def test_speedscope_has_phases_that_open_and_close_in_order(tmp_path: Path) -> None:
    """Parts of fit are inside fit."""
    found = scope(whole(tmp_path / "run"))
    names = [frame["name"] for frame in found["shared"]["frames"]]

    events = [(event["type"], names[event["frame"]], event["at"] // S) for event in found["profiles"][-1]["events"]]

    assert events == [
        ("O", "import", 0),
        ("C", "import", 2),
        ("O", "fit", 2),
        ("O", "fit.steps", 2),
        ("C", "fit.steps", 7),
        ("O", "fit.callbacks", 7),
        ("C", "fit.callbacks", 8),
        ("C", "fit", 8),
        ("O", "teardown", 8),
        ("C", "teardown", 10),
    ]


def test_speedscope_files_come_back_as_the_same_stacks(tmp_path: Path) -> None:
    """Dlprof's own reader of such files finds what was written."""
    run = whole(tmp_path / "run")
    path = tmp_path / "run.speedscope.json"
    path.write_bytes(
        content(speedscope, make(tmp_path / "stacks", stacks=run.rows("stacks"), frames=run.rows("frames")))
    )

    found = pyspy_files.read(path).tables["stacks"].to_pylist()

    assert [(row["thread_id"], row["thread"], row["dur_ns"]) for row in found] == [
        (42, "MainThread", 3 * S),
        (42, "MainThread", S),
        (43, HOSTILE, S),
    ]


def test_a_run_without_anything_for_it_is_refused(tmp_path: Path) -> None:
    """With a sentence, and nothing written."""
    with pytest.raises(NoInputError, match="has n"):
        content(speedscope, make(tmp_path / "run"))
