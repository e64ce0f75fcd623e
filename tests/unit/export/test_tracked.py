"""A run as trackers take it."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from dlprof.errors import NoInputError
from dlprof.export import tracked
from dlprof.export.tracked import Tracked, Value
from tests.unit.export.run_of_everything import HOSTILE, whole
from tests.unit.runs import S, losses, make, manifest, phases

ZERO = 1_700_000_000 * S
CLOCK = {"origin_perf_ns": 5, "origin_wall_ns": ZERO}


@pytest.fixture
def told(tmp_path: Path) -> Tracked:
    """A run of three losses, one of which is no number."""
    made = make(tmp_path / "r", manifest(clock=CLOCK), metrics=losses(1.0, math.nan, 0.5), phases=phases(fit_steps=5))
    return tracked.of_run(made)


def test_a_run_has_its_times_and_its_end(told: Tracked) -> None:
    """On the wall clock."""
    assert (told.name, told.script, told.failed) == ("r", "train.py", False)
    assert (told.began_ms, told.ended_ms) == (1_700_000_000_000, 1_700_000_010_000)


def test_values_of_epochs_are_numbered_in_order(told: Tracked) -> None:
    """One that is no number is left out: trackers refuse it."""
    assert [(one.name, one.place, one.value) for one in told.values] == [("loss", 0, 1.0), ("loss", 1, 0.5)]
    assert isinstance(told.values[0], Value)


def test_figures_are_named_with_their_units_and_labels(told: Tracked) -> None:
    """What was not measured is not there."""
    assert (told.figures["run_wall_s"], told.figures["phase_s/fit.steps"]) == (10.0, 5.0)
    assert not any(name.startswith("memory_peak") for name in told.figures)


def test_parameters_say_what_was_run(told: Tracked) -> None:
    """As texts."""
    assert (told.parameters["script"], told.parameters["backend"], told.parameters["host"]) == (
        "train.py",
        "torch",
        "h",
    )


def test_the_report_and_the_page_go_along(told: Tracked) -> None:
    """The page is whole: it needs nothing beside it."""
    assert json.loads(told.files["report.json"])["schema"] == "dlprof.report/1"
    assert told.files["page.html"].lstrip().lower().startswith(b"<!doctype html>")


def test_a_run_that_failed_is_told_as_such(tmp_path: Path) -> None:
    """By a signal, too."""
    made = make(tmp_path / "r", manifest(clock=CLOCK, process={"pid": 42, "signal": 9, "wall_ns": S}))

    assert tracked.of_run(made).failed


def test_names_that_are_out_to_do_harm_have_no_control_characters(tmp_path: Path) -> None:
    """They end in a terminal and in pages of others."""
    command: dict[str, Any] = {"script": HOSTILE, "module": None, "program": None, "argv": []}
    found = tracked.of_run(whole(tmp_path / "r", manifest(clock=CLOCK, command=command)))

    assert all(text.isprintable() for text in (*found.parameters.values(), *found.figures))


def test_a_run_of_no_known_time_is_refused(tmp_path: Path) -> None:
    """A tracker sorts by it."""
    with pytest.raises(NoInputError, match="it is not known when it was"):
        tracked.of_run(make(tmp_path / "r", manifest(clock={"origin_perf_ns": 5})))
