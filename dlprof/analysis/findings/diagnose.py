"""Asks every rule, and shares out the time so that none is counted twice.

Rules come in the order of `registry.all_rules`, from the cause that explains another one to the one that is left when
nothing else does: a garbage collection inside a callback is time of the collector, not of a slow callback.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dlprof.analysis.compare import Comparison, Item
from dlprof.analysis.findings import registry
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Abstention, AtStake, Claim, Diagnosis, Evidence, Finding, Query
from dlprof.errors import DlprofError, UsageError
from dlprof.schema.vocabulary import TreePath
from dlprof.store import query as sql
from dlprof.store.run import Run

LEAST_SHARE, LEAST_NS = 0.02, 30_000_000
"""Less than this share of the wall time, or than this time, is not worth a word."""
_ROWS = 8


def diagnose(run: Run) -> Diagnosis:
    """Why a run takes the time it takes.

    Raises:
        UsageError: The run has no phases, so that nothing can be said.
    """
    try:
        return _ask(Case(run))
    except Abstain as why:
        raise UsageError(f"{run.name} cannot be diagnosed: {why}.", hint=f"dlprof report {run.name}") from None


def diagnose_gap(found: Comparison) -> Diagnosis:
    """Why side A of a comparison is slower than side B; no finding where the gap is within noise.

    Raises:
        UsageError: A run has no phases.
    """
    if found.noise or found.gap_ns <= 0:
        return Diagnosis((), (), max(1, abs(found.gap_ns)))
    try:
        return _ask(Case(found.a.runs[0], found))
    except Abstain as why:
        raise UsageError(f"The runs cannot be diagnosed: {why}.") from None


def _ask(case: Case) -> Diagnosis:
    left = dict(case.available)
    findings: list[Finding] = []
    abstained: list[Abstention] = []
    for rule in registry.all_rules().values():
        after = dict(left)  # what is left is not touched by a rule that fails half-way
        try:
            findings.extend([_granted(case, rule.slug, claim, after) for claim in rule.look(case)])
        except Abstain as why:
            abstained.append(Abstention(rule.slug, str(why)))
        except Exception as error:  # noqa: BLE001  (one rule that fails must not cost the user the others)
            abstained.append(Abstention(rule.slug, f"a bug in its rule: {type(error).__name__}: {error}"))
        else:
            left = after
    least = max(LEAST_NS, int(LEAST_SHARE * case.tree.wall_ns))
    kept = [finding for finding in findings if finding.at_stake_ns >= least]
    return Diagnosis(tuple(sorted(kept, key=lambda finding: -finding.at_stake_ns)), tuple(abstained), case.whole_ns)


def _granted(case: Case, slug: str, claim: Claim, left: dict[TreePath, int]) -> Finding:
    """A finding with the time that no rule before it has taken; takes it out of what is left."""
    taken = {leaf: max(0, min(ns, left.get(leaf, 0))) for leaf, ns in claim.takes.items()}
    for leaf, ns in taken.items():
        left[leaf] = left.get(leaf, 0) - ns
    at_stake = AtStake(sum(taken.values()), case.whole_ns, of_gap=case.pair)
    file, line = claim.line or (None, None)
    return Finding(
        slug=slug,
        claim=claim.sentence.tell(at_stake),
        at_stake_ns=at_stake.ns,
        share=at_stake.share,
        interval_ns=_interval(case, taken),
        basis=claim.basis,
        file=file,
        line=line,
        evidence=tuple(_shown(case.run, query) for query in claim.evidence) if at_stake.ns >= LEAST_NS else (),
        next_step=claim.next_step,
        remedy=claim.remedy,
    )


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
        answer = sql.ask(run, query.sql)
    except DlprofError as error:
        return Evidence(f"{query.shows} (the query failed: {error.message})", query.sql, ())
    rows: list[Mapping[str, Any]] = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows[:_ROWS]]
    return Evidence(query.shows, query.sql, tuple(rows))
