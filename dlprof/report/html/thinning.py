"""Tracks of which a page draws no more events than it has room for: neighbours that are short, and close, become one.

The events of a long run come piece by piece, and are joined as they come: so no more of them are in memory than are
drawn. The result is that of joining all of them at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dlprof.analysis.columns import Integers
from dlprof.analysis.timeline.slices import MISSING

_SHORTEST_NS = 64
_CELL = 8
"""Short events are joined within so many of their greatest length."""
_SLACK = 1.25
"""So many times the events that are kept may wait before they are joined again."""


@dataclass(frozen=True)
class Track:
    """Events of one thread, stream or kind that nest or do not touch; in order of their begin, outer ones first.

    Attributes:
        label: For people.
        group: `program`, `python`, `host` or `gpu`.
        place: What it stands under with others: the program, a device.
        lane: What tells it from those others.
        start_ns, dur_ns: Of each event, on the drawn axis (ns).
        name: Index into the names.
        number: Running number of a step, from 0; MISSING where an event has none. None: none has one.
        merged: How many events each of these stands for; None: one each.
        longest_ns: The longest event among those (ns); None: `dur_ns`.
        delay_ns: Time from the call that launched it to its begin; MISSING: not known. None: of none it is known.
    """

    label: str
    group: str
    start_ns: Integers
    dur_ns: Integers
    name: Integers
    number: Integers | None = None
    merged: Integers | None = None
    longest_ns: Integers | None = None
    delay_ns: Integers | None = None
    place: str = ""
    lane: str = ""

    @property
    def begin_ns(self) -> int:
        """Begin of the first event; 0: there is none."""
        return int(self.start_ns.min()) if len(self.start_ns) else 0

    @property
    def end_ns(self) -> int:
        """End of the last event; 0: there is none."""
        return int((self.start_ns + self.dur_ns).max()) if len(self.start_ns) else 0

    @property
    def events(self) -> int:
        """How many events there were before any were joined."""
        return len(self.start_ns) if self.merged is None else int(self.merged.sum())


_COLUMNS = ("start_ns", "dur_ns", "name", "number", "merged", "longest_ns", "delay_ns")


class Thinner:
    """Takes the events of tracks piece by piece, and keeps at most about so many.

    Args:
        most: Events that are kept of all tracks together.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._limit_ns = 0
        self._pieces: dict[tuple[str, str, str, str], list[Track]] = {}
        self._count = 0

    def add(self, piece: Track) -> None:
        """Events of a track; those of one track come in order of their begin."""
        thin = _thin(piece, self._limit_ns)
        self._pieces.setdefault((piece.group, piece.place, piece.lane, piece.label), []).append(thin)
        self._count += len(thin.start_ns)
        if self._count > _SLACK * self._most:
            self._join()

    def tracks(self) -> list[Track]:
        """The tracks that have events, in the order in which they first came."""
        self._join()
        return [track for (track,) in self._pieces.values() if len(track.start_ns)]

    def _join(self) -> None:
        whole = [_in_order(_joined(pieces)) for pieces in self._pieces.values()]
        thin, self._limit_ns = _until_it_fits(whole, self._most, self._limit_ns)
        self._count = sum(len(track.start_ns) for track in thin)
        self._pieces = {key: [track] for key, track in zip(self._pieces, thin, strict=True)}


def thinned(tracks: Sequence[Track], most: int) -> list[Track]:
    """The tracks with at most about so many events.

    How short is decided for all tracks together, by doubling: what is long enough to be seen stays as it is.
    """
    return _until_it_fits(tracks, most, 0)[0]


def _until_it_fits(tracks: Sequence[Track], most: int, limit_ns: int) -> tuple[list[Track], int]:
    thin = [_thin(track, limit_ns) for track in tracks]
    while sum(len(track.start_ns) for track in thin) > most and limit_ns < 1 << 61:
        limit_ns = max(_SHORTEST_NS, 2 * limit_ns)
        thin = [_thin(track, limit_ns) for track in thin]
    return thin, limit_ns


def _joined(pieces: Sequence[Track]) -> Track:
    if len(pieces) == 1:
        return pieces[0]
    return _with(pieces[0], {name: _column(pieces, name) for name in _COLUMNS})


def _with(track: Track, columns: Mapping[str, Any]) -> Track:
    return replace(track, **columns)


def _column(pieces: Sequence[Track], name: str) -> Integers | None:
    """A column of some pieces behind each other; one that a piece lacks is filled in."""
    if all(getattr(piece, name) is None for piece in pieces):
        return None
    return np.concatenate([_filled(piece, name) for piece in pieces])


def _filled(piece: Track, name: str) -> Integers:
    found: Integers | None = getattr(piece, name)
    if found is not None:
        return found
    if name == "longest_ns":
        return piece.dur_ns
    return np.full(len(piece.start_ns), 1 if name == "merged" else MISSING, np.int64)


def _in_order(track: Track) -> Track:
    """A track whose events were told in another order than that of their begin, in that order."""
    if (track.start_ns[1:] >= track.start_ns[:-1]).all():
        return track
    order = np.lexsort((-track.dur_ns, track.start_ns))
    return _with(track, {name: column[order] for name, column in _columns(track)})


def _columns(track: Track) -> Iterator[tuple[str, Integers]]:
    for name in _COLUMNS:
        column = getattr(track, name)
        if column is not None:
            yield name, column


def _thin(track: Track, limit_ns: int) -> Track:
    """Join runs of events that are shorter than a limit and lie in the same cell; the first names them."""
    if not len(track.start_ns) or not limit_ns:
        return track
    longest = _filled(track, "longest_ns")
    short = longest < limit_ns
    cell = track.start_ns // (_CELL * limit_ns)
    same = short[1:] & short[:-1] & (cell[1:] == cell[:-1])
    first = np.flatnonzero(np.concatenate(([True], ~same)))
    merged = np.add.reduceat(_filled(track, "merged"), first)
    ends = np.maximum.reduceat(track.start_ns + track.dur_ns, first)
    start = track.start_ns[first]
    delay = None if track.delay_ns is None else np.where(merged == 1, track.delay_ns[first], MISSING)
    return replace(
        track,
        start_ns=start,
        dur_ns=ends - start,
        name=track.name[first],
        number=None if track.number is None else track.number[first],
        merged=merged,
        longest_ns=np.maximum.reduceat(longest, first),
        delay_ns=delay,
    )
