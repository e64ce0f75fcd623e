"""A run as trace events."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from dlprof.errors import NoInputError
from dlprof.export import chrome
from dlprof.store.run import Run
from tests.unit.export.run_of_everything import HOSTILE, LONG, events, whole
from tests.unit.runs import make


def chrome_events(run: Run) -> list[dict[str, Any]]:
    """The run's trace events."""
    out = io.BytesIO()
    chrome.write(run, out)
    return list(json.loads(out.getvalue())["traceEvents"])


def test_a_step_has_its_parts_inside_and_its_input_before(tmp_path: Path) -> None:
    """To the nanosecond."""
    run = whole(tmp_path / "run")

    found = [(e["name"], e["ts"], e["dur"]) for e in chrome_events(run) if e.get("cat") in ("step", "input")]

    assert sorted(found, key=lambda one: one[1])[:5] == [
        ("input", 2_000_000.0, 1000.0),
        ("train step", 2_001_000.0, 21_000.0),
        ("before the call", 2_001_000.0, 2000.0),
        ("call", 2_003_000.0, 15_000.0),
        ("after the call", 2_018_000.0, 4000.0),
    ]


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


def test_times_before_the_start_move_all_others(tmp_path: Path) -> None:
    """Viewers refuse negative times; the file says by how much it was."""
    run = make(tmp_path / "run", gc=[{"start_ns": -1500, "dur_ns": 5, "generation": 0, "collected": 0}])
    out = io.BytesIO()
    chrome.write(run, out)

    content = json.loads(out.getvalue())

    assert [event["ts"] for event in content["traceEvents"] if event["ph"] == "X"] == [0.0]
    assert content["otherData"]["zero_shifted_by_ns"] == 1500


def test_a_run_without_times_is_refused(tmp_path: Path) -> None:
    """It says so."""
    with pytest.raises(NoInputError, match="nothing with a time"):
        chrome.write(make(tmp_path / "run"), io.BytesIO())


def test_many_events_are_written_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is the same."""
    run = whole(tmp_path / "run")
    at_once = chrome_events(run)
    monkeypatch.setattr(chrome, "_EVENTS_AT_ONCE", 3)

    assert chrome_events(run) == at_once


def test_a_number_that_json_does_not_know_becomes_text(tmp_path: Path) -> None:
    """An infinite count of operations."""
    operator = {"op_id": 0, "kind": "kernel", "name": "k", "flops": float("inf")}
    run = make(tmp_path / "run", kernel_ops=[operator], kernel_events=events((0, 0, "s", 0, 1)))

    (event,) = [event for event in chrome_events(run) if event["name"] == "k"]
    assert event["args"]["flops"] == "inf"
