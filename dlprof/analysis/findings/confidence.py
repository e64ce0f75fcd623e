"""How sure a finding is: from what the record holds of it, not from which rule says it.

It starts from how the time was got, and shrinks with few observations, with observations that do not agree, where
another cause has taken part of the same seconds, and where other programs disturbed the run.
"""

from __future__ import annotations

from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim
from dlprof.schema.vocabulary import Basis

_BY_BASIS = {Basis.MEASURED: 0.97, Basis.ESTIMATED: 0.85}
"""Of a time that was measured, and of one that a model stands behind, with all the rest in its favour."""
_FEW = 1.0
"""So many observations are worth half of what very many are."""
_LEAST_KEPT = 0.6
"""What is left of it where other causes took nearly all of the seconds."""
_DISTURBED_PCT = 25.0
"""Percent of a core that others used, from which on the times are less sure."""
_DISTURBED = 0.9


def of_claim(case: Case, claim: Claim, granted_ns: int) -> float:
    """How likely the cause is the right one: 0 to 1.

    Args:
        case: The run.
        claim: What a rule says.
        granted_ns: What other causes, before it, left of the time that it claims (ns); the machine is none.
    """
    wanted_ns = sum(claim.takes.values())
    kept = _LEAST_KEPT + (1 - _LEAST_KEPT) * (min(1.0, granted_ns / wanted_ns) if wanted_ns else 1.0)
    sure = _BY_BASIS[claim.basis] * kept * _disturbed(case)
    support = claim.support
    if support is None:
        return round(sure, 2)
    seen = 1.0 if support.seen is None else support.seen / (support.seen + _FEW)
    return round(sure * seen * (0.5 + 0.5 * min(1.0, max(0.0, support.agree))), 2)


def _disturbed(case: Case) -> float:
    try:
        return _DISTURBED if case.machine.scheduling.others_pct >= _DISTURBED_PCT else 1.0
    except Abstain:
        return 1.0
