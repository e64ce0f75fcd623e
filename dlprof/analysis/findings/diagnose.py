"""Asks every rule, and shares out the time so that none is counted twice.

Rules come in the order of `rules.RULES`, from the cause that explains another one to the one that is left when nothing
else does: a garbage collection inside a callback is time of the collector, not of a slow callback.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dlprof.analysis.compare import Comparison, Item
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Abstention, Claim, Diagnosis, Evidence, Finding
from dlprof.analysis.findings.rules import RULES
from dlprof.errors import DlprofError, UsageError
from dlprof.store import query
from dlprof.store.run import Run
from dlprof.units import duration

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
    for slug, rule in RULES.items():
        try:
            claims = list(rule.look(case))
        except Abstain as why:
            abstained.append(Abstention(slug, str(why)))
            continue
        except Exception as error:  # noqa: BLE001  (one rule that fails must not cost the user the others)
            abstained.append(Abstention(slug, f"a bug in its rule: {type(error).__name__}: {error}"))
            continue
        findings.extend(_granted(case, slug, claim, left) for claim in claims)
    least = max(LEAST_NS, int(LEAST_SHARE * case.tree.wall_ns))
    kept = [finding for finding in findings if finding.at_stake_ns >= least]
    return Diagnosis(tuple(sorted(kept, key=lambda finding: -finding.at_stake_ns)), tuple(abstained), case.whole_ns)


def _granted(case: Case, slug: str, claim: Claim, left: dict[str, int]) -> Finding:
    """A finding with the time that no rule before it has taken."""
    taken = {leaf: max(0, min(ns, left.get(leaf, 0))) for leaf, ns in claim.takes.items()}
    for leaf, ns in taken.items():
        left[leaf] = left.get(leaf, 0) - ns
    total = sum(taken.values())
    share = total / case.whole_ns
    told = {"time": duration(total), "share": f"{100 * share:.0f} % of the {'gap' if case.pair else 'wall time'}"}
    file, line = claim.place or (None, None)
    return Finding(
        slug=slug,
        claim=claim.text.format(**told),
        at_stake_ns=total,
        share=share,
        interval_ns=_interval(case, taken),
        basis=claim.basis,
        file=file,
        line=line,
        evidence=tuple(_shown(case.run, what, sql) for what, sql in claim.evidence) if total >= LEAST_NS else (),
        next_step=claim.next_step,
        remedy=claim.remedy,
    )


def _interval(case: Case, taken: Mapping[str, int]) -> tuple[int, int] | None:
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


def _shown(run: Run, what: str, sql: str) -> Evidence:
    try:
        answer = query.ask(run, sql)
    except DlprofError as error:
        return Evidence(f"{what} (the query failed: {error.message})", sql, ())
    rows: list[Mapping[str, Any]] = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows[:_ROWS]]
    return Evidence(what, sql, tuple(rows))
