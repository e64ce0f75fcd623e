"""What two runs of ranks tell of each other, as sentences: for a terminal, and for a page."""

from __future__ import annotations

from dlprof.analysis.rank_pairs import WORK, PartPair, RankPair, RanksComparison
from dlprof.units import duration, percent

PARTS = {
    "input": "waiting for batches",
    "wait": "waiting for ranks that come later",
    "transfer": "the transfer in collectives",
    WORK: "the ranks' own work",
}


def verdict(compared: RanksComparison) -> str:
    """The difference, the part and the rank that it is in."""
    a, b, delta = compared.a_step_ns, compared.b_step_ns, compared.delta_ns
    if a is None or b is None or delta is None:
        side = "A" if a is None else "B"
        return f"The steps of {side} are not known of all ranks: nothing can be compared."
    names = compared.a.label, compared.b.label
    text = f"A train step takes {duration(a)} in {names[0]} and {duration(b)} in {names[1]} (mean of the ranks)"
    if compared.is_noise:
        return f"{text}: no more of a difference than two runs of the same may have."
    longer = names[0] if delta > 0 else names[1]
    text += f": {duration(abs(delta))} or {percent(abs(delta), min(a, b))} % more in {longer}"
    most = max(compared.parts, key=lambda part: part.delta_ns if delta > 0 else -part.delta_ns)
    text += f", {_in_part(most, delta)}."
    changed = compared.most_changed
    return f"{text} {_of_rank(changed, delta)}" if changed is not None else text


def _in_part(part: PartPair, delta: int) -> str:
    """How much of a difference is in a part."""
    share = abs(part.delta_ns) / max(1, abs(delta))
    if share >= 0.95:
        return f"all of it {PARTS[part.name]}"
    return f"{'most' if share > 0.5 else 'the largest part'} of it {PARTS[part.name]} ({duration(abs(part.delta_ns))})"


def _of_rank(pair: RankPair, delta: int) -> str:
    """What the rank does more that the difference comes from."""
    own, waited = abs(pair.own_delta_ns or 0), pair.input_delta_ns
    text = f"Rank {pair.rank} does most more itself: {duration(own)} a step"
    if waited is not None and (waited > 0) == (delta > 0) and abs(waited) >= own / 2:
        text += f", {duration(min(own, abs(waited)))} of it waiting for its input"
    return f"{text}."
