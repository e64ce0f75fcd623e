"""Tries the remedies of findings: runs with and without each, interleaved, and what was saved against what was said."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import msgspec
import numpy as np

from dlprof import safe_files
from dlprof.analysis import bootstrap
from dlprof.analysis.findings.finding import Diagnosis, Finding
from dlprof.errors import DlprofError, Report
from dlprof.rundir import replace_text, writing_into
from dlprof.schema.vocabulary import FindingState
from dlprof.store.run import Run
from dlprof.trials import again as trials
from dlprof.trials.consent import FOLDER

REPEATS = 3
_FILE = "trials.json"
_ENOUGH, _LEAST = 1 / 2, 1 / 3
"""A remedy that saves less of what was predicted confirms its finding in part only; less than the second refutes it."""


@dataclass(frozen=True)
class Trial:
    """What a remedy did.

    Attributes:
        slug: The finding.
        remedy: What was changed.
        predicted_ns: Time at stake, as the finding said.
        achieved_ns: Mean time saved; None: it could not be tried.
        interval_ns: 95 % interval of that, over the runs.
        state: `confirmed`, `partly`, `refuted`, or `untested` where it could not be tried.
        failed: Why it could not be tried, or None.
    """

    slug: str
    remedy: str
    predicted_ns: int
    achieved_ns: int | None
    interval_ns: tuple[int, int] | None
    state: str
    failed: str | None = None


def candidates(diagnosis: Diagnosis) -> list[Finding]:
    """Findings with a remedy that are large enough to be tried."""
    return [finding for finding in diagnosis.findings if finding.can_be_tried]


def tries(run: Run, findings: Sequence[Finding], report: Report, *, repeats: int = REPEATS) -> list[Trial]:
    """Try remedies: in each round the script as it was, then with each remedy, so that all meet the same machine.

    Raises:
        DlprofError: The script cannot even be run as it was.
    """
    place = run.folder.path / FOLDER
    plain: list[Run] = []
    saved: dict[str, list[int]] = {finding.slug: [] for finding in findings}
    failed: dict[str, str] = {}
    for number in range(1, repeats + 1):
        report(f"round {number}/{repeats}: as it was")
        plain.append(trials.run_again(run, place / f"plain-{number:03d}"))
        for finding in findings:
            if finding.slug in failed or finding.remedy is None:
                continue
            report(f"round {number}/{repeats}: {finding.remedy.title}")
            try:
                changed = trials.run_again(run, place / f"{finding.slug}-{number:03d}", finding.remedy)
                saved[finding.slug].append(_time_of(finding)(changed))
            except DlprofError as error:
                failed[finding.slug] = error.message
                report(f"  it cannot be tried: {error.message}")
    made = []
    for finding in findings:
        times = [_time_of(finding)(one) for one in plain]
        made.append(_judged(finding, times, saved[finding.slug], failed.get(finding.slug)))
    _keep(place, made)
    return made


def _time_of(finding: Finding) -> Callable[[Run], int]:
    """What of a run's time a remedy can change: settings of a loader change nothing at its start and end."""
    settings = finding.remedy.overrides if finding.remedy else {}
    return trials.between_ns if set(settings) == {"loader"} else trials.net_ns


def _judged(finding: Finding, plain: Sequence[int], changed: Sequence[int], failed: str | None) -> Trial:
    title = finding.remedy.title if finding.remedy else ""
    if failed is not None or not changed:
        return Trial(finding.slug, title, finding.at_stake_ns, None, None, FindingState.UNTESTED, failed)
    achieved = int(np.mean(plain) - np.mean(changed))
    interval = _interval(plain, changed)
    clear = interval[0] > 0 if interval else True
    state = _state(finding, achieved) if clear else FindingState.REFUTED
    return Trial(finding.slug, title, finding.at_stake_ns, achieved, interval, state)


def _state(finding: Finding, saved_ns: int) -> FindingState:
    """What a saving beyond noise says of a finding: of the time that it claims, or of what such causes cost."""
    low, high = finding.interval_ns or (finding.at_stake_ns, finding.at_stake_ns)
    if saved_ns >= _ENOUGH * finding.at_stake_ns or low <= saved_ns <= high:
        return FindingState.CONFIRMED
    return FindingState.PARTLY if saved_ns >= _LEAST * finding.at_stake_ns else FindingState.REFUTED


def _interval(a: Sequence[int], b: Sequence[int]) -> tuple[int, int] | None:
    """95 % interval of the difference of means; None for a single run."""
    if min(len(a), len(b)) < 2:
        return None
    low, high = bootstrap.difference_of_means(np.asarray(a, float)[:, None], np.asarray(b, float)[:, None])
    return int(low[0]), int(high[0])


def _keep(place: Path, made: Sequence[Trial]) -> None:
    with writing_into(place):
        replace_text(place / _FILE, json.dumps([asdict(trial) for trial in made], indent=1))


def kept(run: Run) -> list[Trial]:
    """What was tried on a run before; nothing where that was not kept, or is damaged."""
    try:
        return msgspec.json.decode(safe_files.read(run.folder.path, f"{FOLDER}/{_FILE}"), type=list[Trial])
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return []


def with_trials(run: Run, diagnosis: Diagnosis) -> Diagnosis:
    """A diagnosis with the states and savings of what was tried."""
    trials_by_slug = {trial.slug: trial for trial in kept(run)}
    findings = (_with_trial(finding, trials_by_slug.get(finding.slug)) for finding in diagnosis.findings)
    return replace(diagnosis, findings=tuple(findings))


def _with_trial(finding: Finding, trial: Trial | None) -> Finding:
    if trial is None:
        return finding
    if trial.failed:
        return replace(finding, not_tried=trial.failed)
    saving = {"predicted": trial.predicted_ns, "achieved": trial.achieved_ns}
    return replace(finding, state=trial.state, saving_ns=saving)
