"""Decodes the events of an XLine with numpy: millions of small messages, without a Python loop over their bytes.

A line is a row of `events` (field 4 of XLine); an event is metadata_id (1), offset_ps (2), duration_ps (3)
and stats (4), written in that order by every maker known. Where that order is not found, the
file is refused.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dlprof.ingest.kernels.events import Booleans, Integers

Bytes = npt.NDArray[np.uint8]
_EVENT = 0x22
"""Tag of XLine.events, and of XEvent.stats: field 4, with a length."""
_METADATA = 0x08
_OFFSET = 0x10
_DURATION = 0x18
_IS_NUMBER: Booleans = np.isin(np.arange(256), (0x18, 0x20))
"""Tags of values that are numbers: uint64 (3), int64 (4)."""
_IS_REFERENCE: Booleans = np.arange(256) == 0x38
"""Tag of those that refer to a text (7)."""
_WORD = 8
_FEW = 4
"""Where fewer than one of so many numbers has two bytes, it is faster to look at single bytes."""
_ONE = np.uint64(1)
_TOP_BITS, _LOW_BITS, _FIRST_BITS = (np.uint64(byte * 0x0101010101010101) for byte in (0x80, 0x7F, 0x01))
_PAIRS = tuple(
    (np.uint64(bits), np.uint64(low), np.uint64(high))
    for bits, low, high in (
        (1, 0x007F007F007F007F, 0x7F007F007F007F00),
        (2, 0x00003FFF00003FFF, 0x3FFF00003FFF0000),
        (4, 0x000000000FFFFFFF, 0x0FFFFFFF00000000),
    )
)
"""Shifts that close the gaps between groups of bits, and which groups: of 7 bits, of 14, of 28."""
PIECE_BYTES = 1 << 20
"""What is decoded at a time: small enough that its columns stay in the cache of the processor."""


class IrregularError(Exception):
    """The events are not written in the usual order."""


@dataclass(frozen=True)
class Heads:
    """Events of which only the number of the name was read.

    Attributes:
        metadata: Number of the name.
        behind: Position behind that number.
        end: Position behind each event.
    """

    metadata: Integers
    behind: Integers
    end: Integers


@dataclass(frozen=True)
class Events:
    """Events of a line: columns, and where the stats of each lie.

    Attributes:
        metadata: Number of the name.
        offset_ps: Start in the line (ps).
        duration_ps: Duration (ps).
        stats: Position of the first stat of each event in the line's bytes.
        end: Position behind each event.
    """

    metadata: Integers
    offset_ps: Integers
    duration_ps: Integers
    stats: Integers
    end: Integers


def heads(data: Bytes, begins: Integers) -> Heads:
    """The names of the events that begin at all but the last of `begins`.

    Raises:
        IrregularError: A number does not end.
    """
    _, at = varints(data, begins[:-1] + 1)
    metadata, at = _field(data, at, begins[1:], _METADATA)
    return Heads(metadata, at, begins[1:])


def decode(data: Bytes, heads: Heads, keep: Booleans) -> Events:
    """The columns of those events that are to be kept.

    Raises:
        IrregularError: A field stands in an unusual place.
    """
    metadata, at, end = heads.metadata[keep], heads.behind[keep], heads.end[keep]
    offset, at = _field(data, at, end, _OFFSET)
    duration, at = _field(data, at, end, _DURATION)
    inside = at < end
    if np.any(data[at[inside]] != _EVENT):
        raise IrregularError
    return Events(metadata, offset, duration, at, end)


def _field(data: Bytes, at: Integers, end: Integers, tag: int) -> tuple[Integers, Integers]:
    """The number of field `tag` where it stands next, else 0; and the positions behind it."""
    safe = np.minimum(at, len(data) - 1)
    there = (at < end) & (data[safe] == tag)
    if there.all():
        return varints(data, at + 1)
    value, behind = np.zeros(len(at), np.int64), at.copy()
    value[there], behind[there] = varints(data, at[there] + 1)
    return value, behind


def varints(data: Bytes, at: Integers) -> tuple[Integers, Integers]:
    """The numbers that begin at each position, and the positions behind them.

    Raises:
        IrregularError: One does not end.
    """
    limit = len(data) - _WORD
    if limit < 0 or np.count_nonzero(data[np.minimum(at, limit)] >= 0x80) * _FEW < len(at):
        return _by_bytes(data, at)
    # Eight bytes from each position on, whatever it is: most numbers are in them whole.
    first = data[: len(data) // _WORD * _WORD].view("<u8")
    word = np.lib.stride_tricks.as_strided(first, (limit + 1,), (1,), writeable=False)[np.minimum(at, limit)]
    ends = ~word & _TOP_BITS
    inside = ends ^ (ends - _ONE)  # ones up to the first byte that is the last of a number
    value = _joined(word & inside & _LOW_BITS)
    behind = at + (((inside & _FIRST_BITS) * _FIRST_BITS) >> np.uint64(56)).astype(np.int64)
    rest = np.flatnonzero((ends == 0) | (at > limit))
    if len(rest):
        value[rest], behind[rest] = _by_bytes(data, at[rest])
    return value, behind


def _joined(word: npt.NDArray[np.uint64]) -> Integers:
    """The seven bits of each of eight bytes as one number."""
    for bits, low, high in _PAIRS:
        word = (word & low) | ((word & high) >> bits)
    return word.view(np.int64)


def _by_bytes(data: Bytes, at: Integers) -> tuple[Integers, Integers]:
    """The same byte by byte: for short numbers, for those of more than eight bytes, and at the end of the data."""
    limit = len(data) - 1
    byte = data[np.minimum(at, limit)]
    value = (byte & 0x7F).astype(np.int64)
    behind = at + 1
    more = np.flatnonzero(byte >= 0x80)
    shift = 7
    while len(more):
        if shift > 63:
            raise IrregularError
        byte = data[np.minimum(behind[more], limit)]
        value[more] |= (byte & 0x7F).astype(np.int64) << shift
        behind[more] += 1
        more = more[byte >= 0x80]
        shift += 7
    return value, behind


def stat_values(
    data: Bytes, events: Events, numbers: Collection[int], references: Collection[int]
) -> dict[int, Integers]:
    """The values of chosen stats; -1 where an event lacks one.

    One and the same stat may be a number in one event and a reference to a text in the next: tf.data writes
    `parallelism` as `unavailable` where it did not get the lock.

    Args:
        data: Bytes that the positions in `events` count in.
        events: Events of one line.
        numbers: Stats, by their metadata, of which numbers are wanted; a reference counts as none.
        references: Stats of which references to texts are wanted; a number counts as none.

    Raises:
        IrregularError: A stat is not written in the usual order.
    """
    forms = {**dict.fromkeys(numbers, _IS_NUMBER), **dict.fromkeys(references, _IS_REFERENCE)}
    values = {stat: np.full(len(events.end), -1, np.int64) for stat in forms}
    index = np.flatnonzero(events.stats < events.end)
    at = events.stats[index]
    while len(index):
        if np.any(data[at] != _EVENT):
            # An event may end with num_occurrences (5) or another field; its stats are over then.
            keep = data[at] == _EVENT
            index, at = index[keep], at[keep]
            if not len(index):
                break
        length, first = varints(data, at + 1)
        behind = first + length
        if np.any(behind > events.end[index]) or np.any(length < 0):
            raise IrregularError
        number, value_at = _field(data, first, behind, _METADATA)
        safe = np.minimum(value_at, len(data) - 1)
        tag = data[safe]
        inside = value_at < behind
        for stat, form in forms.items():
            rows = np.flatnonzero((number == stat) & form[tag] & inside)
            if len(rows):
                values[stat][index[rows]] = varints(data, value_at[rows] + 1)[0]
        at = behind
        keep = at < events.end[index]
        index, at = index[keep], at[keep]
    return values
