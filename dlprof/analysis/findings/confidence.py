"""How sure a finding is: from what the record holds of it, not from which rule says it.

That time passes at a place is certain; that it could be saved there is not. So it starts from what tells that the cause
is the cause (`Ground`): how often findings of each kind were right on problems whose cause is known. It shrinks with
few observations, with observations that do not agree or lie far apart, where little was looked at, where the place
takes hardly more than is usual, where another cause has taken part of the same seconds, and where other programs
disturbed the run.
"""

from __future__ import annotations

from collections.abc import Mapping

from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Support
from dlprof.schema.vocabulary import Ground

PRIORS: Mapping[Ground, float] = {
    Ground.REPEATED: 0.95,
    Ground.STATED: 0.90,
    Ground.PLACE: 0.85,
    Ground.COMPARED: 0.85,
    Ground.MODEL: 0.55,
}
"""How likely it is the cause with all the rest in its favour. By the outside exam, without its held-out problems:
`grounds` of `dlprof exam --outside --format json` says what would fit it exactly. Of places, and of what was compared,
less is taken than fits: few were false, but on fixed scripts only those above a share are judged at all; of models
more, because those that were wrong had asked."""
_FEW = 1.0
"""So many observations are worth half of what very many are."""
_LEAST_KEPT = 0.6
"""What is left of it where other causes took nearly all of the seconds."""
_LEAST_COVERED = 0.5
"""Where next to nothing was looked at."""
_LEAST_APART = 0.75
"""Where observations lie as far apart as they are large, or farther."""
_DISTURBED_PCT = 25.0
"""Percent of a core that others used, from which on the times are less sure."""
_DISTURBED = 0.9


def ground_of(case: Case, claim: Claim) -> Ground:
    """What tells that the cause is the cause: a place of which the other run has less was compared."""
    ground = claim.support.ground if claim.support is not None else Ground.PLACE
    return Ground.COMPARED if case.pair and ground is Ground.PLACE else ground


def of_claim(case: Case, claim: Claim, granted_ns: int) -> float:
    """How likely the cause is the right one: 0 to 1.

    Args:
        case: The run.
        claim: What a rule says.
        granted_ns: What other causes, before it, left of the time that it claims (ns); the machine is none.
    """
    wanted_ns = sum(claim.takes.values())
    kept = _between(_LEAST_KEPT, granted_ns / wanted_ns if wanted_ns else 1.0)
    ground = ground_of(case, claim)
    support = claim.support or Support(ground)
    unusual = _unusual(support, wanted_ns / case.whole_ns) if ground is Ground.PLACE and claim.takes else 1.0
    return round(PRIORS[ground] * kept * strength(support) * unusual * _disturbed(case), 2)


def strength(support: Support) -> float:
    """What is left of it by the number, agreement and spread of what was seen, and by how much was looked at."""
    seen = 1.0 if support.seen is None else support.seen / (support.seen + _FEW)
    apart = 1.0 if support.spread is None else _between(_LEAST_APART, 1 - support.spread)
    return seen * _between(0.5, support.agree) * _between(_LEAST_COVERED, support.covered) * apart


def _unusual(support: Support, share: float) -> float:
    """How much more the place takes than is usual: half where it is just that, next to nothing off where it is all."""
    part = share if support.part is None else support.part
    return part / (part + support.usual) if part > 0 else 0.0


def _between(least: float, share: float) -> float:
    """From the least on, where the share is 0, to 1, where it is 1."""
    return least + (1 - least) * min(1.0, max(0.0, share))


def _disturbed(case: Case) -> float:
    try:
        return _DISTURBED if case.machine.scheduling.others_pct >= _DISTURBED_PCT else 1.0
    except Abstain:
        return 1.0
