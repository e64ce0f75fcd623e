"""Findings are confirmed, or not, by running the script with their remedy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings import diagnose
from dlprof.errors import DlprofError
from dlprof.store.run import Run
from dlprof.trials import again as trials
from dlprof.trials import confirm
from tests.unit import runs
from tests.unit.runs import S
from tests.unit.trials.diagnosed import diagnosed, sealed, timed


@pytest.mark.parametrize(("saved_s", "state"), [(1.5, "confirmed"), (0.1, "refuted")])
def test_a_trial_confirms_what_it_saves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, saved_s: float, state: str
) -> None:
    """A third of the prediction at least, and beyond noise; it is kept with the run."""
    run = diagnosed(tmp_path)
    asked: list[Any] = []

    def again(_run: Run, place: Path, remedy: Any = None, **_more: Any) -> Run:
        asked.append(remedy)
        return timed(place, 2 - (saved_s if remedy else 0) + len(asked) * 0.001)

    monkeypatch.setattr(trials, "run_again", again)
    findings = confirm.candidates(diagnose.diagnose(run))

    (trial,) = confirm.tries(run, findings, lambda _line: None)

    assert (trial.slug, trial.state) == ("threads-underused", state)
    assert trial.achieved_ns == pytest.approx(saved_s * S, rel=0.02)
    assert [remedy is None for remedy in asked] == [True, False] * 3
    told = next(f for f in confirm.with_trials(run, diagnose.diagnose(run)).findings if f.slug == "threads-underused")
    assert told.state == state
    assert told.saving_ns is not None
    assert told.saving_ns["achieved"] == trial.achieved_ns


def test_a_remedy_that_breaks_the_script_leaves_its_finding_untested(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the reason."""
    run = diagnosed(tmp_path)

    def again(_run: Run, place: Path, remedy: Any = None, **_more: Any) -> Run:
        if remedy is not None:
            raise DlprofError("the run ended with exit code 1: no")
        return timed(place, 2)

    monkeypatch.setattr(trials, "run_again", again)
    (trial,) = confirm.tries(run, confirm.candidates(diagnose.diagnose(run)), lambda _line: None)

    assert (trial.state, trial.achieved_ns, trial.failed) == ("untested", None, "the run ended with exit code 1: no")
    told = next(f for f in confirm.with_trials(run, diagnose.diagnose(run)).findings if f.slug == "threads-underused")
    assert (told.state, told.not_tried) == ("untested", "the run ended with exit code 1: no")


def test_confirm_asks_first(tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a terminal to ask at, it wants --yes."""
    sealed(tmp_path)

    assert runs.dlprof("diagnose", tmp_path / "r", "--confirm") == 64
    err = capsys.readouterr().err
    assert "to try: threads-underused: 2 threads; the script runs 6 times, about 1.1 min" in err
    assert "--yes" in err
