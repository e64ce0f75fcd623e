"""Slices: stretches of time by columns, with what they are and facts about them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from dlprof.analysis.columns import Integers, integers
from dlprof.analysis.timeline.lanes import lanes

MISSING = int(np.iinfo(np.int64).min)
"""Stands for null among numbers."""
Fact = str | int | float


@dataclass(frozen=True)
class What:
    """What slices have in common: their name, a category to filter by, and facts; None is left out."""

    name: str
    category: str
    facts: Mapping[str, Fact | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Slices:
    """Stretches of time.

    Attributes:
        start_ns: On the run's timeline.
        dur_ns: Not negative.
        what: Position in `whats` of each.
        whats: What they are.
        own: Numbers that each slice has for itself, by name; MISSING where it has none.
    """

    start_ns: Integers
    dur_ns: Integers
    what: Integers
    whats: Sequence[What]
    own: Mapping[str, Integers] = field(default_factory=dict)

    def take(self, positions: Integers) -> Slices:
        """Those at the positions."""
        own = {name: values[positions] for name, values in self.own.items()}
        return Slices(self.start_ns[positions], self.dur_ns[positions], self.what[positions], self.whats, own)

    def lanes(self) -> list[Slices]:
        """The same on lanes where slices nest or do not touch, in the order of `dlprof.analysis.timeline.lanes`."""
        return [self.take(lane) for lane in lanes(self.start_ns, self.start_ns + self.dur_ns)]


def each_for_itself(rows: Iterable[tuple[int, int, What]]) -> Slices:
    """Slices that have little in common: start, duration (ns) and what it is."""
    listed = list(rows)
    starts = np.array([start for start, _, _ in listed], np.int64)
    durs = np.array([dur for _, dur, _ in listed], np.int64)
    return Slices(starts, durs, np.arange(len(listed)), [what for _, _, what in listed])


@dataclass(frozen=True)
class Alike:
    """Slices that are all the same thing; `own` as in `Slices`."""

    what: What
    start_ns: Integers
    dur_ns: Integers
    own: Mapping[str, Integers] = field(default_factory=dict)


def joined(parts: Sequence[Alike]) -> Slices:
    """Slices of a few kinds, one kind behind the other."""
    names = {name for part in parts for name in part.own}
    sizes = [len(part.start_ns) for part in parts]
    own = {
        name: _concatenate(
            [part.own.get(name, np.full(size, MISSING)) for part, size in zip(parts, sizes, strict=True)]
        )
        for name in sorted(names)
    }
    return Slices(
        _concatenate([part.start_ns for part in parts]),
        _concatenate([part.dur_ns for part in parts]),
        np.repeat(np.arange(len(parts)), sizes),
        [part.what for part in parts],
        own,
    )


def numbers(column: pa.ChunkedArray) -> Integers:
    """A column of integers or truths as numbers; null is MISSING."""
    return integers(column, MISSING)


def _concatenate(parts: Sequence[Integers]) -> Integers:
    return np.concatenate(parts).astype(np.int64) if parts else np.empty(0, np.int64)
