"""Findings are confirmed, or not, by running the script with their remedy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings import diagnose
from dlprof.analysis.findings.finding import Finding, Remedy
from dlprof.errors import DlprofError
from dlprof.schema.vocabulary import Basis
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
    """It is kept with the run."""
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


@pytest.mark.parametrize(
    ("interval_s", "saved_s", "state"),
    [
        (None, 5.0, "confirmed"),
        (None, 4.9, "partly"),
        (None, 3.4, "partly"),
        (None, 3.3, "refuted"),
        ((2, 12), 3.3, "confirmed"),
        ((6, 12), 4.9, "partly"),
        ((6, 12), 20.0, "confirmed"),
    ],
)
def test_a_saving_of_half_of_what_was_predicted_or_as_such_causes_have_confirms(
    interval_s: tuple[int, int] | None, saved_s: float, state: str
) -> None:
    """Of 10 s that were predicted; less of them confirms in part, below a third it refutes."""
    interval = (interval_s[0] * S, interval_s[1] * S) if interval_s else None
    finding = Finding(
        slug="cpu-contention", claim="", at_stake_ns=10 * S, share=0.5, interval_ns=interval, basis=Basis.ESTIMATED,
        file=None, line=None, evidence=(), next_step="", remedy=Remedy("1 thread"),
    )  # fmt: skip

    assert confirm._judged(finding, [30 * S], [round((30 - saved_s) * S)], None).state == state


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
