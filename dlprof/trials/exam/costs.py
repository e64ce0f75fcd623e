"""What a planted cause costs: rounds of runs with it and without, of which the fastest count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dlprof.analysis.findings import diagnose
from dlprof.analysis.findings.finding import Finding
from dlprof.backends import registry
from dlprof.store.run import Run
from dlprof.trials import again as trials
from dlprof.trials.exam import runs
from dlprof.trials.exam.truths import Truth

_MORE, _SETTLED = 2, 0.20
"""So many rounds more are made while the fastest two runs of a kind differ by more than this share of the cost."""
ENDS_SLUG = "import-heavy"
"""The cause whose cost is where a process starts, imports and ends: elsewhere these times come and go."""
_CHANCE_SLUG = "iterator-restart"
"""A cause that comes and goes by itself, in most runs on an engine that tunes its input pipelines."""


@dataclass(frozen=True, order=True)
class Timed:
    """A run, and its time that counts (ns)."""

    ns: int
    run: Run = field(compare=False)


@dataclass(frozen=True)
class Round:
    """A run to be diagnosed, and a faulty and a clean one without kernel windows, one right after the other."""

    diagnosed: Timed
    faulty: Timed
    clean: Timed


def made_rounds(truth: Truth, folder: Path, repeats: int) -> list[Round]:
    """So many rounds, those that are there already, and some more where the cost cannot be told by these."""
    rounds: list[Round] = []
    while (
        len(rounds) < repeats
        or _is_there(truth, folder, len(rounds) + 1)
        or (len(rounds) < repeats + _MORE and not _is_settled(truth, rounds))
    ):
        rounds.append(_round(truth, folder, len(rounds) + 1))
    return rounds


def _is_there(truth: Truth, folder: Path, number: int) -> bool:
    """Whether all runs of a round were made already."""
    faulty, clean = (folder / truth.folder(faulty=kind) for kind in (True, False))
    names = f"diagnosed-{number:03d}", f"cost-{number:03d}"
    return all(runs.finished(place) for place in (faulty / names[0], faulty / names[1], clean / names[1]))


def _round(truth: Truth, folder: Path, number: int) -> Round:
    return Round(
        timed(truth, runs.made(truth, folder, f"diagnosed-{number:03d}", faulty=True)),
        timed(truth, runs.made(truth, folder, f"cost-{number:03d}", runs.OF_COST, faulty=True)),
        timed(truth, runs.made(truth, folder, f"cost-{number:03d}", runs.OF_COST, faulty=False)),
    )


def timed(truth: Truth, run: Run) -> Timed:
    """A run with its time that counts."""
    return Timed(counted_ns(truth, run), run)


def examined(truth: Truth, rounds: Sequence[Round]) -> Timed:
    """The run that is diagnosed: the fastest; for a cause that comes by chance, that in which it came most."""
    chosen = max if truth.slug == _CHANCE_SLUG else min
    return chosen(each.diagnosed for each in rounds)


def cost(truth: Truth, rounds: Sequence[Round]) -> int:
    """What the cause costs, by the fastest runs: what else goes on in a machine only ever makes runs slower."""
    faulty = examined(truth, rounds).ns if truth.slug == _CHANCE_SLUG else _faulty(rounds)[0]
    return faulty - _clean(rounds)[0]


def doubt(rounds: Sequence[Round]) -> int | None:
    """By how much the second fastest runs differ from the fastest: they would be equal on a steady machine."""
    if len(rounds) < 2:
        return None
    return sum(times[1] - times[0] for times in (_faulty(rounds), _clean(rounds)))


def _is_settled(truth: Truth, rounds: Sequence[Round]) -> bool:
    left = doubt(rounds)
    return left is None or left <= _SETTLED * cost(truth, rounds)


def _faulty(rounds: Sequence[Round]) -> list[int]:
    return sorted(run.ns for each in rounds for run in (each.diagnosed, each.faulty))


def _clean(rounds: Sequence[Round]) -> list[int]:
    return sorted(each.clean.ns for each in rounds)


def counted_ns(truth: Truth, run: Run) -> int:
    """Time of a run without what comes and goes by chance, be the cause there or not (ns)."""
    net = trials.net_ns(run) if truth.slug == ENDS_SLUG else trials.between_ns(run)
    engine = registry.engine_of(registry.get(truth.backend))
    if engine is not None and engine.tunes_input:
        findings = diagnose.diagnose(run).findings
        net -= sum(finding.at_stake_ns for finding in findings if is_chance(finding, truth))
    return net


def is_chance(finding: Finding, truth: Truth) -> bool:
    """Whether a finding is of what comes and goes by itself, and was not planted: a true one, but no answer."""
    return finding.slug == _CHANCE_SLUG != truth.slug
