"""Sits the outside exam: runs both scripts of each problem, diagnoses them, and keeps what came out after each."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from dlprof.analysis import compare
from dlprof.analysis.compare import Side
from dlprof.analysis.findings import diagnose
from dlprof.analysis.findings.finding import Diagnosis
from dlprof.errors import DlprofError, Report
from dlprof.launch import environments
from dlprof.pipeline.opening import open_run
from dlprof.rundir import replace_text
from dlprof.safe_files import remove
from dlprof.store.run import Run
from dlprof.trials import again as trials
from dlprof.trials.exam import runs
from dlprof.trials.outside import report
from dlprof.trials.outside.answers import Answer, Said
from dlprof.trials.outside.problems import BUGGY, FIXED, Problem

RESULT = "outside.json"
"""The exam as far as it got, in the folder of its runs."""


def sit(problems: Sequence[Problem], folder: Path, say: Report, *, restart: bool = False) -> tuple[Answer, ...]:
    """Run what is not run yet, and diagnose everything.

    Args:
        problems: The problems.
        folder: Keeps the runs; those that are there are not made again. After each problem the result so far is
            written there, as `outside.json`.
        say: Takes a line for the user at each problem.
        restart: Throw earlier runs of these problems away first.

    Raises:
        UsageError: Another exam is at work in the folder.
    """
    folder.mkdir(parents=True, exist_ok=True)
    answers: list[Answer] = []
    with runs.alone(folder):
        for problem in problems if restart else ():
            remove(folder / problem.place)
        for number, problem in enumerate(problems, 1):
            say(f"{number}/{len(problems)} {problem.name} on {problem.truth.backend}: {problem.truth.cause}")
            answers.append(_answer(problem, folder))
            say(f"  {report.in_short(answers[-1])}")
            replace_text(folder / RESULT, report.as_text(report.as_json(answers, len(problems))))
    return tuple(answers)


def _answer(problem: Problem, folder: Path) -> Answer:
    try:
        return judged(problem, *(_made(problem, folder, kind) for kind in (BUGGY, FIXED)))
    except DlprofError as error:
        return Answer(problem, failed=error.message)


def judged(problem: Problem, buggy: Run, fixed: Run) -> Answer:
    """What the diagnosis makes of two runs.

    Raises:
        DlprofError: A run cannot be diagnosed.
    """
    pair = compare.compare(Side(BUGGY, (buggy,)), Side(FIXED, (fixed,)))
    return Answer(
        problem,
        said=_said(diagnose.diagnose(buggy)),
        in_pair=_said(diagnose.diagnose_gap(pair)),
        on_fixed=_said(diagnose.diagnose(fixed)),
        buggy_ns=trials.net_ns(buggy),
        fixed_ns=trials.net_ns(fixed),
        ends_ns=trials.ends_ns(buggy) - trials.ends_ns(fixed),
    )


def _said(diagnosis: Diagnosis) -> tuple[Said, ...]:
    return tuple(Said.of(finding) for finding in diagnosis.findings)


def _made(problem: Problem, folder: Path, kind: str) -> Run:
    """A run of a script; one that is there, and came to its end, is taken as it is.

    Raises:
        DlprofError: It failed; the text says which of the two, and why.
    """
    place = folder / problem.place / kind
    run = runs.finished(place)
    if run is not None:
        return run
    try:
        trials.run_into(place, _command(problem, place, kind), os.environ)
    except DlprofError as error:
        remove(place)  # it is tried again next time
        raise DlprofError(f"{kind}.py: {error.message}") from error
    return open_run(str(place))


def _command(problem: Problem, place: Path, kind: str) -> list[str]:
    """The trace that a user would make."""
    return [
        sys.executable, "-P", "-m", "dlprof", "trace", str(problem.script(kind)), *_interpreter(problem),
        "-o", str(place), "--no-report", "--no-progress",
    ]  # fmt: skip


def _interpreter(problem: Problem) -> list[str]:
    """A backend where Keras runs on it, else its environment as any other Python."""
    backend = problem.truth.backend
    if problem.truth.keras:
        return ["--backend", backend]
    return ["--python", str(environments.path_of(backend).path / "bin" / "python")]
