"""Train steps of the ranks of a training by their numbers, in as few stretches as a picture of them has room for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dlprof.analysis.columns import Floats, Integers

CELLS = 150_000
"""Stretches of all ranks together, about."""
_MOST, _LEAST = 1000, 60
"""Stretches of a rank."""


@dataclass(frozen=True)
class BinnedSteps:
    """Train steps of a rank, one value for each stretch of `each` that follow each other; the first begins with step 1.

    Attributes:
        each: Steps of a stretch; the last one may have fewer.
        whole: Mean of a step, with the wait for its batch (ns).
        input: Of that the host's wait for the batch (ns).
        wait: Of that standing still for ranks that came later to a collective (ns); None: not known.
        transfer: Of that standing still for collectives that all had come to (ns); None: not known.
        longest: The longest step (ns).
        longest_at: Its number, from 1.
        begin: When the first step began, on the run's own timeline (ns).
        end: When the last one ended.
    """

    each: int
    whole: Floats
    input: Floats
    wait: Floats | None
    transfer: Floats | None
    longest: Floats
    longest_at: Integers
    begin: Integers
    end: Integers

    @property
    def own(self) -> Floats:
        """What the rank did itself in a step (ns): all but standing still in collectives, as far as that is known."""
        if self.wait is None or self.transfer is None:
            return self.whole
        return np.maximum(0.0, self.whole - self.wait - self.transfer)


@dataclass(frozen=True)
class StepRows:
    """Rows of train steps in order, an array each: what stretches are made of.

    Attributes:
        begin: When each began, that of the wait for the batch (ns).
        end: When it ended (ns).
        count: Steps of the row.
        input: Wait for batches (ns).
        wait, transfer: In collectives, of the whole row (ns); None: not known.
    """

    begin: Integers
    end: Integers
    count: Integers
    input: Integers
    wait: Floats | None
    transfer: Floats | None


def width(steps: int, most_of_row: int, ranks: int) -> int:
    """Steps of a stretch.

    Args:
        steps: Of the rank that has most.
        most_of_row: Steps that are known as one row, at most: a stretch is no shorter.
        ranks: How many there are.
    """
    columns = max(_LEAST, min(_MOST, CELLS // max(1, ranks)))
    return max(1, -(-steps // columns), most_of_row)


def stretches(rows: StepRows, each: int) -> BinnedSteps:
    """The steps of a rank.

    Args:
        rows: Its steps, at least one row.
        each: Steps of a stretch: `width` of all ranks.
    """
    number = np.cumsum(rows.count) - rows.count
    place = number // each  # none is skipped: no row has more steps than a stretch
    size = int(place[-1]) + 1
    steps = np.bincount(place, rows.count, size)
    whole = np.asarray(rows.end - rows.begin, np.float64)

    def mean(values: Floats | Integers) -> Floats:
        return np.asarray(np.bincount(place, values, size) / steps, np.float64)

    of_step = whole / rows.count
    order = np.lexsort((of_step, place))
    first = np.flatnonzero(np.diff(place, prepend=-1))
    last = np.append(first[1:], len(place)) - 1
    longest = order[last]
    return BinnedSteps(
        each=each,
        whole=mean(whole),
        input=mean(rows.input),
        wait=None if rows.wait is None else mean(rows.wait),
        transfer=None if rows.transfer is None else mean(rows.transfer),
        longest=of_step[longest],
        longest_at=number[longest] + 1,
        begin=rows.begin[first],
        end=rows.end[last],
    )
