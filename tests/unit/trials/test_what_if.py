"""Settings are tried beside the script as it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.what_if import Measure
from dlprof.errors import DlprofError
from dlprof.store.run import Run
from dlprof.trials import again, settings, what_if
from tests.unit.runs import S
from tests.unit.trials.diagnosed import diagnosed, timed


def test_runs_take_turns_and_the_order_turns_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the machine does meanwhile meets both."""
    seen: list[str] = []

    def once(_run: Run, place: Path, remedy: Any = None, *, probes: str) -> Run:
        seen.append(remedy.title if remedy else probes)
        return timed(place, 1)

    monkeypatch.setattr(again, "run_again", once)
    what_if.tries(diagnosed(tmp_path), settings.changes(["threads=1"]), lambda _line: None, repeats=2)

    assert seen == ["phases,cores", "threads=1", "threads=1", "phases,cores"]


def test_a_change_is_told_with_an_interval(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Start of 2 s as it was, of 1 s with the change: a second less."""

    def once(_run: Run, place: Path, remedy: Any = None, *, probes: str) -> Run:
        return timed(place, 1 if remedy else 2)

    monkeypatch.setattr(again, "run_again", once)
    (tried,) = what_if.tries(diagnosed(tmp_path), settings.changes(["threads=1"]), lambda _line: None, repeats=2)

    assert tried.measures[0] == Measure("run_ns", 10 * S, 9 * S, -S, (-S, -S))
    assert (tried.pairs, tried.failed) == (2, None)
    assert tried.not_forecast == "nothing that was measured tells what threads changes"


def test_a_change_that_fails_is_told_and_not_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The others go on."""
    changed: list[str] = []

    def once(_run: Run, place: Path, remedy: Any = None, *, probes: str) -> Run:
        if remedy is not None:
            changed.append(remedy.title)
            if remedy.title == "threads=1":
                raise DlprofError("the run ended with exit code 1: no")
        return timed(place, 2)

    monkeypatch.setattr(again, "run_again", once)
    made = settings.changes(["threads=1,2"])
    first, second = what_if.tries(diagnosed(tmp_path), made, lambda _line: None, repeats=3)

    assert (first.failed, first.measures, first.pairs) == ("the run ended with exit code 1: no", (), 0)
    assert (second.failed, second.pairs) == (None, 3)
    assert changed.count("threads=1") == 1
