"""How far what a cause costs may be from the time that is said to be at stake: by problems whose cost is known.

A single run has no second one beside it that would tell how its figures vary, and what would be saved is no figure of
it at all. So the interval is that of its like: of findings whose cause was told by the same kind of evidence, on
scripts that were run with the cause and without it.
"""

from __future__ import annotations

from collections.abc import Mapping

from dlprof.schema.vocabulary import Ground

RATIOS: Mapping[Ground, tuple[float, float]] = {
    Ground.STATED: (0.8, 1.9),
    Ground.REPEATED: (0.65, 2.6),
    Ground.PLACE: (0.65, 2.1),
    Ground.COMPARED: (0.6, 2.7),
    Ground.MODEL: (0.6, 2.7),
}
"""What a cause cost, over the time that was told: of nine in ten it was between these. By 36 problems of the outside
exam without its held-out ones; where there are fewer than five of a kind, as all of them are. `stakes` of
`dlprof exam --outside --format json` has what would fit those that were sat."""


def interval(ground: Ground, at_stake_ns: int, whole_ns: int) -> tuple[int, int] | None:
    """Between what the cost of a cause is, nine times in ten (ns); None: no time is at stake.

    Args:
        ground: What told that it is the cause.
        at_stake_ns: What is said to be at stake (ns).
        whole_ns: The wall time (ns): no cause costs more.
    """
    if at_stake_ns <= 0:
        return None
    low, high = RATIOS[ground]
    return int(at_stake_ns * low), min(whole_ns, int(at_stake_ns * high))
