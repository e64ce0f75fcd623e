"""Examines the rules: makes its runs, diagnoses them, and compares the answers with the truth."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dlprof.analysis import compare
from dlprof.analysis.compare import Side
from dlprof.analysis.findings import diagnose
from dlprof.analysis.findings.finding import Diagnosis, together_ns
from dlprof.errors import DlprofError, Report
from dlprof.store.run import Run
from dlprof.trials import again as trials
from dlprof.trials.exam import costs, runs
from dlprof.trials.exam.result import Answer, CleanPair, Result
from dlprof.trials.exam.truths import Truth

REPEATS = 2
"""Rounds of runs with and without each cause, unless told otherwise."""
PAIRS = 12
"""Clean runs that are made twice, at most."""


def examine(
    truths: Sequence[Truth],
    folder: Path,
    report: Report,
    *,
    pairs: int = PAIRS,
    repeats: int = REPEATS,
    restart: bool = False,
) -> Result:
    """Run what is not run yet, and diagnose everything.

    Args:
        truths: The causes.
        folder: Keeps the runs; those that are there are not run again.
        report: Takes a line for the user at each run.
        pairs: Clean runs to make twice, at most.
        repeats: Rounds of runs: the fastest faulty one is diagnosed, and the fastest of each side give the cost. Two
            more are made at most where these differ too much; one round alone cannot tell.
        restart: Throw earlier runs of these causes away first.

    Raises:
        UsageError: Another exam is at work in the folder.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with runs.alone(folder):
        if restart:
            runs.throw_away(truths, folder)
        answers = []
        for number, truth in enumerate(truths, 1):
            report(f"{number}/{len(truths)} {truth.name} on {truth.backend} ({truth.slug})")
            answers.append(_answer(truth, folder, repeats))
            report(f"  {_summary(answers[-1])}")
        clean = list({truth.folder(faulty=False): truth for truth in truths}.values())[:pairs]
        pairs_made = []
        for number, truth in enumerate(clean, 1):
            report(f"clean pair {number}/{len(clean)}: {truth.script.stem} on {truth.backend}")
            pairs_made.append(_clean_pair(truth, folder))
        return Result(tuple(answers), tuple(pairs_made), runs.spread(folder))


def _summary(answer: Answer) -> str:
    if answer.failed:
        return f"failed: {answer.failed}"
    error = "" if answer.error is None else f", time at stake {answer.error:+.0%}"
    cost = f"cost {answer.cost_ns / 1e9:.2f} s" if answer.cost_ns is not None else ""
    cost += f" ± {answer.doubt_ns / 1e9:.2f}" if answer.doubt_ns is not None else ""
    return f"rank {answer.rank or '-'} of {', '.join(answer.found[:4]) or 'nothing'}; {cost}{error}"


def _answer(truth: Truth, folder: Path, repeats: int) -> Answer:
    try:
        rounds = costs.made_rounds(truth, folder, repeats)
        faulty = costs.examined(truth, rounds).run
        diagnosis = _diagnose(truth, faulty, folder, len(rounds))
    except DlprofError as error:
        return Answer(truth, failed=error.message)
    findings = [finding for finding in diagnosis.findings if not costs.is_chance(finding, truth)]
    slugs = tuple(finding.slug for finding in findings)
    right = [n for n, finding in enumerate(findings) if finding.slug in (truth.slug, *truth.also)]
    best = findings[right[0]] if right else None
    stake = together_ns([findings[n] for n in right])
    line = None
    if truth.line is not None:
        line = best is not None and best.file is not None and truth.line in _text(faulty, best.file, best.line)
    return Answer(
        truth,
        slugs,
        right[0] + 1 if right else None,
        stake if best else None,
        costs.cost(truth, rounds),
        costs.doubt(rounds),
        line,
    )


def _diagnose(truth: Truth, faulty: Run, folder: Path, rounds: int) -> Diagnosis:
    if truth.slug != "slow-kernel":
        return diagnose.diagnose(faulty)
    names = (f"diagnosed-{number:03d}" for number in range(1, rounds + 1))
    clean = min(costs.timed(truth, runs.made(truth, folder, name, faulty=False)) for name in names).run
    return diagnose.diagnose_gap(compare.compare(Side("faulty", (faulty,)), Side("clean", (clean,))))


def _text(run: Run, file: str, line: int | None) -> str:
    """The text of a line, and of those around it that belong to the same statement."""
    lines = run.folder.source_lines(file)
    return "\n".join(lines[max(0, (line or 1) - 2) : (line or 0) + 1])


def _clean_pair(truth: Truth, folder: Path) -> CleanPair:
    name = f"{truth.script.stem} on {truth.backend}"
    try:
        first, second = (runs.made(truth, folder, place, faulty=False) for place in ("diagnosed-001", "again"))
    except DlprofError as error:
        return CleanPair(name, failed=error.message)
    findings: list[tuple[str, float]] = []
    for a, b in ((first, second), (second, first)):
        gap = compare.compare(Side("a", (a,)), Side("b", (b,)))
        wall = max(gap.a_wall_ns, gap.b_wall_ns)
        findings.extend((f.slug, f.at_stake_ns / wall) for f in diagnose.diagnose_gap(gap).findings)
    return CleanPair(name, trials.net_ns(first) - trials.net_ns(second), tuple(findings))
