"""Asks every rule, and shares out the time so that none is counted twice.

Rules come in the order of `registry.all_rules`, from the cause that explains another one to the one that is left when
nothing else does: a garbage collection inside a callback is time of the collector, not of a slow callback.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dlprof.analysis.compare import Comparison, Item
from dlprof.analysis.findings import confidence, fixes, registry, remainder, stakes
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import (
    Abstain,
    Abstention,
    AtStake,
    Claim,
    Diagnosis,
    Evidence,
    Finding,
    Query,
    Rank,
)
from dlprof.analysis.findings.rule import Rule
from dlprof.errors import DlprofError, UsageError
from dlprof.schema.tree_paths import TreePath
from dlprof.schema.vocabulary import Ground, Whole
from dlprof.store import query as sql
from dlprof.store.run import Run
from dlprof.units import duration

LEAST_SHARE, LEAST_NS = 0.02, 30_000_000
"""Less than this share of the wall time, or than this time, is not told."""
BRIEF_S = 2.0
"""Seconds of CPU time after which `brief` asks no further rule."""
OF_MACHINE = frozenset({"cpu-contention", "cpu-throttled", "gpu-throttled"})
"""Rules on what the machine does beside the script: they take time, and are no other story of it."""
NOT_OF_SCRIPT = OF_MACHINE | {"profiler-overhead"}
"""These, and what measuring costs: no exam of scripts knows either."""
NO_TIME = "it was not asked, because the rules before it took long: dlprof diagnose asks all"
Granted = tuple[Finding, Sequence[Query]]
"""A finding, and what shows it."""
_ROWS = 8
_MOST = 0.6
"""A way that saves so much of what another one would save is the one to go."""
_OTHER_WAY = " Of this, {} may be saved in the other way that is told here: one of both is enough."


def diagnose(run: Run) -> Diagnosis:
    """Why a run takes the time it takes.

    Raises:
        UsageError: The run has no phases, so that nothing can be said.
    """
    try:
        return _ask(Case(run))
    except Abstain as why:
        raise UsageError(f"{run.name} cannot be diagnosed: {why}.", hint=f"dlprof report {run.typed}") from None


def brief(run: Run, *, within_s: float = BRIEF_S) -> Diagnosis | None:
    """The same findings without the rows behind them, for those who wait for an answer.

    Args:
        run: The run.
        within_s: After so many seconds of CPU time no further rule is asked; those left out abstain, and say so. Other
            programs that slow the machine down cost no finding.

    Returns:
        The diagnosis; None: the run cannot be diagnosed.
    """
    deadline = time.process_time() + within_s
    try:
        return _ask(Case(run), with_rows=False, is_late=lambda: time.process_time() > deadline)
    except Abstain:
        return None


def diagnose_gap(found: Comparison) -> Diagnosis:
    """Why side A of a comparison is slower than side B, or, where it is not, why parts of it are.

    No finding where no part takes longer in A beyond noise.

    Raises:
        UsageError: A run has no phases.
    """
    if not found.longer_in_a and (found.noise or found.gap_ns <= 0):
        return Diagnosis((), (), max(1, abs(found.gap_ns)), Whole.LONGER)
    try:
        return _ask(Case(found.a.runs[0], found))
    except Abstain as why:
        raise UsageError(f"The runs cannot be diagnosed: {why}.") from None


def _ask(case: Case, *, with_rows: bool = True, is_late: Callable[[], bool] = lambda: False) -> Diagnosis:
    # The first rule of a pair claims what more steps take: the others explain what each took longer.
    whole = Counter(case.available) + Counter(case.more_steps) if case.pair else case.available
    left, free = dict(whole), dict(whole)
    taken: dict[str, Counter[TreePath]] = {}
    granted: list[Granted] = []
    abstained: list[Abstention] = []
    for rule in registry.all_rules().values():
        after = _Left(dict(left), dict(free), dict(taken))  # what is left is not touched by a rule that fails half-way
        try:
            granted.extend(_findings(case, rule, after, is_late=is_late))
        except Abstain as why:
            abstained.append(Abstention(rule.slug, str(why)))
        except Exception as error:  # noqa: BLE001  (one rule that fails must not cost the user the others)
            abstained.append(Abstention(rule.slug, f"a bug in its rule: {type(error).__name__}: {error}"))
        else:
            left, free, taken = after.ns, after.free, after.taken
    least = _least_ns(case)
    told = (one for one in granted if one[0].rank is not Rank.BY_TIME or one[0].at_stake_ns >= least)
    kept = sorted(told, key=lambda one: (one[0].rank, -one[0].expected_ns))
    findings = (_with_rows(case.run, *one) if with_rows else one[0] for one in kept)
    rest = remainder.of_case(case, left) if not case.pair else ()
    named = {(one.file, one.line) for one, _ in kept if one.file is not None and one.line is not None}
    lines = remainder.loop_lines(case, named) if not case.pair else ()
    return Diagnosis(tuple(findings), tuple(abstained), case.whole_ns, case.whole, rest, lines)


def _least_ns(case: Case) -> int:
    """What is worth a word; whole foreign traces may be shorter than what is little in a run of a process."""
    least = int(LEAST_SHARE * case.tree.wall_ns)
    return max(1 if case.devices.foreign else LEAST_NS, least)


@dataclass(frozen=True)
class _Left:
    """Time by leaf that no rule before has taken (ns).

    Attributes:
        ns: That may be granted.
        free: The same, as if what the machine is to blame for had been left: that is no other cause of the same time.
        taken: What each rule took, by its slug.
    """

    ns: dict[TreePath, int]
    free: dict[TreePath, int]
    taken: dict[str, Counter[TreePath]]

    def another_way(self, claim: Claim, least_ns: int) -> Mapping[TreePath, int]:
        """What the rule that saves a part of the same time in another way took; none if that is most, or little."""
        other = self.taken.get(claim.other_way or "", Counter())
        both = {leaf: min(ns, other[leaf]) for leaf, ns in claim.takes.items()}
        return both if least_ns <= sum(both.values()) < _MOST * sum(claim.takes.values()) else {}


def _findings(case: Case, rule: Rule, left: _Left, *, is_late: Callable[[], bool]) -> list[Granted]:
    """What a rule finds; takes its time out of what is left."""
    if is_late():
        raise Abstain(NO_TIME)
    return [(_granted(case, rule, claim, left), claim.evidence) for claim in rule.look(case)]


def _with_rows(run: Run, finding: Finding, queries: Sequence[Query]) -> Finding:
    return replace(finding, evidence=tuple(_shown(run, query) for query in queries))


def _granted(case: Case, rule: Rule, claim: Claim, left: _Left) -> Finding:
    """A finding with the time that no rule before it has taken; takes it out of what is left."""
    shared = left.another_way(claim, _least_ns(case)) if claim.other_way else {}
    own = _of_left(case, claim, shared, left.ns)
    uncontested = sum(_of_left(case, claim, shared, left.free).values()) + sum(shared.values())
    for leaf, ns in own.items():
        left.ns[leaf] = left.ns.get(leaf, 0) - ns
        if rule.slug not in OF_MACHINE:
            left.free[leaf] = left.free.get(leaf, 0) - ns
    left.taken.setdefault(rule.slug, Counter()).update(own)
    taken = {leaf: ns + shared.get(leaf, 0) for leaf, ns in own.items()}
    at_stake = AtStake(sum(taken.values()), case.whole_ns, case.whole)
    shared_ns = sum(shared.values())
    file, line = claim.line or (None, None)
    ground = confidence.ground_of(case, claim)
    return Finding(
        slug=rule.slug,
        claim=claim.sentence.tell(at_stake) + (_OTHER_WAY.format(duration(shared_ns)) if shared_ns else ""),
        at_stake_ns=at_stake.ns,
        share=at_stake.share,
        interval_ns=_interval_of(case, rule, ground, taken),
        basis=claim.basis,
        file=file,
        line=line,
        evidence=(),
        next_step=claim.next_step,
        remedy=claim.remedy,
        title=claim.title or rule.title,
        rank=claim.rank,
        confidence=confidence.of_claim(case, claim, uncontested),
        fix=claim.fix or fixes.of_claim(case, rule.slug, claim),
        ground=ground,
        interval_of_runs=case.pair,
        shared_ns=shared_ns,
        shared_with=claim.other_way if shared_ns else None,
    )


def _of_left(
    case: Case, claim: Claim, shared: Mapping[TreePath, int], left: Mapping[TreePath, int]
) -> Mapping[TreePath, int]:
    """What a claim gets of the time that is left, by leaf (ns)."""
    own: dict[TreePath, int] = {}
    for leaf, ns in claim.takes.items():
        there = left.get(leaf, 0)
        wanted = ns * there // max(1, case.available.get(leaf, 0)) if claim.of_rest else ns - shared.get(leaf, 0)
        own[leaf] = max(0, min(wanted, there))
    return own


def _interval_of(case: Case, rule: Rule, ground: Ground, taken: Mapping[TreePath, int]) -> tuple[int, int] | None:
    """That of a pair by its runs, of one run by what causes like it cost; none of what is not the script's."""
    if case.pair:
        return _interval(case, taken)
    if rule.slug in NOT_OF_SCRIPT:
        return None
    return stakes.interval(ground, sum(taken.values()), case.whole_ns)


def _interval(case: Case, taken: Mapping[TreePath, int]) -> tuple[int, int] | None:
    """From the intervals of the leaves that were taken, in proportion; None where one has none."""
    if case.against is None:
        return None
    items: dict[str, Item] = {item.path: item for item in case.against.items}
    low = high = 0.0
    for leaf, ns in taken.items():
        item = items.get(leaf)
        if not ns:
            continue
        if item is None or item.ci_ns is None or not item.delta_ns:
            return None
        low += ns * item.ci_ns[0] / item.delta_ns
        high += ns * item.ci_ns[1] / item.delta_ns
    return int(low), int(high)


def _shown(run: Run, query: Query) -> Evidence:
    try:
        answer = sql.ask_own(run, query.sql)
    except DlprofError as error:
        return Evidence(f"{query.shows} (the query failed: {error.message})", query.sql, ())
    rows: list[Mapping[str, Any]] = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows[:_ROWS]]
    return Evidence(query.shows, query.sql, tuple(rows))
