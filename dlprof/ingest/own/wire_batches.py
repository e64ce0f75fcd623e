"""Spans, facts and steps of a stream, taken in many at once: one by one they take most of the time of reading."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from dlprof_probes import wire
from dlprof_probes.wire import Record

from dlprof.ingest.own.step_log import RECORD
from dlprof.ingest.own.wire_records import Piece, json_object, text
from dlprof.ingest.own.wire_stream import LEAP_NS, Stream

_BEGIN = np.dtype(
    [("type", "u1"), ("size", "<u4"), ("number", "<u4"), ("kind", "<u4"), ("name", "<u4"), ("thread", "<u8"),
     ("time", "<i8"), ("file", "<u4"), ("line", "<u4")]
)  # fmt: skip
"""`wire.BEGIN_RECORD`."""
_END = np.dtype([("type", "u1"), ("size", "<u4"), ("number", "<u4"), ("time", "<i8")])
"""`wire.END_RECORD`."""
_TOGETHER = frozenset({Record.BEGIN, Record.END, Record.DETAIL, Record.STEP})
_FEW = 64
"""So few records of a piece are faster one by one."""
_SHORT = 512
"""Facts of so many bytes come again and again, call by call, and are read once."""
_NO_TIME = -(1 << 62)
_INT32, _INT64 = 1 << 31, 1 << 63
Numbers = npt.NDArray[np.int64]
Rows = npt.NDArray[Any]


_known_object = lru_cache(1024)(json_object)


@dataclass(frozen=True)
class Batch:
    """What of a piece of a stream is taken in together. All of it was looked at: none of it is damaged.

    Attributes:
        others: Numbers of the other records of the piece, in order.
    """

    others: Sequence[int]
    _last: Numbers
    """The latest time that a record of this batch names, up to each record of the piece (ns)."""
    _texts: _Texts
    """Texts that spans name."""
    _begin_at: Numbers
    """Numbers, in the piece, of the records of `_begin`; likewise below."""
    _begin: Rows
    _end_at: Numbers
    _end: Rows
    _step_at: Numbers
    _step: Rows
    _fact_at: Numbers
    _facts: Sequence[tuple[int, Mapping[str, Any]]]

    @classmethod
    def of(cls, stream: Stream, piece: Piece) -> Batch | None:
        """That of a piece; None: it is to be read record by record, for they are few, or for one that is odd.

        Args:
            stream: What was read before it.
            piece: Records that follow.
        """
        kinds = np.array(piece.kinds, np.int64)
        together = np.isin(kinds, [*_TOGETHER])
        if np.count_nonzero(together) < _FEW:
            return None
        at = {kind: np.flatnonzero(kinds == kind) for kind in _TOGETHER}
        begin, end = piece.rows(at[Record.BEGIN], _BEGIN), piece.rows(at[Record.END], _END)
        step = piece.rows(at[Record.STEP], RECORD)
        texts, facts = _texts(stream, piece, kinds), _facts(piece, at[Record.DETAIL])
        if begin is None or end is None or step is None or texts is None or facts is None:
            return None
        times = np.full(len(kinds), _NO_TIME)
        for place, found in ((at[Record.BEGIN], begin["time"]), (at[Record.END], end["time"])):
            times[place] = found
        times[at[Record.STEP]] = step["end"]
        batch = cls(
            np.flatnonzero(~together).tolist(), np.maximum.accumulate(times), texts, at[Record.BEGIN], begin,
            at[Record.END], end, at[Record.STEP], step, at[Record.DETAIL], facts,
        )  # fmt: skip
        return batch if batch._is_sound(stream) and batch._knows_its_texts() else None

    def last_before(self, number: int) -> int:
        """The latest time that a record of the batch names up to a record of the piece (ns); none: less than any."""
        return int(self._last[number])

    def take(self, stream: Stream, number: int) -> None:
        """Take in what is before a record of the piece."""
        begin = self._begin[: np.searchsorted(self._begin_at, number)]
        end = self._end[: np.searchsorted(self._end_at, number)]
        log, texts = stream.spans, self._texts
        if len(begin):
            kind, name, file = (_codes(begin[one], texts, log.texts.number) for one in ("kind", "name", "file"))
            log.extend(begin["number"], kind, name, begin["thread"], begin["time"], file, begin["line"])
        log.end_many(end["number"], end["time"])
        for span, facts in self._facts[: int(np.searchsorted(self._fact_at, number))]:
            log.add_facts(span, facts)
        step = self._step[: np.searchsorted(self._step_at, number)]
        if len(step):
            stream.steps.extend(step)
        if number:
            stream.last_ns = max(stream.last_ns, self.last_before(number - 1))

    def _is_sound(self, stream: Stream) -> bool:
        """Whether each record makes sense: as much is asked of it as where it is read by itself, or more."""
        begin, end, log = self._begin, self._end, stream.spans
        known = (begin["number"] < _INT32) & (begin["line"] < _INT32) & (begin["thread"] < _INT64)
        numbers = begin["number"].astype(np.int64)
        if not (known.all() and _is_rising(numbers, log.highest) and _is_rising(np.sort(end["number"]))):
            return False
        row = np.searchsorted(numbers, end["number"])
        is_own = row < len(numbers)
        is_own[is_own] = numbers[row[is_own]] == end["number"][is_own]
        row = row[is_own]
        if not ((self._begin_at[row] < self._end_at[is_own]) & (begin["time"][row] <= end["time"][is_own])).all():
            return False
        older = zip(end["number"][~is_own].tolist(), end["time"][~is_own].tolist(), strict=True)
        return all(log.may_end(*one) for one in older) and _are_sound(self._step) and self._is_in_time(stream)

    def _is_in_time(self, stream: Stream) -> bool:
        earliest, latest = stream.bounds.between(stream.last_ns)
        times = (self._begin["time"], self._end["time"], self._step["begin"], self._step["end"])
        return all(earliest <= one.min() and one.max() < latest for one in times if len(one))

    def _knows_its_texts(self) -> bool:
        """Whether the texts of spans were told before them, and epochs have numbers."""
        begin, at, texts = self._begin, self._begin_at, self._texts
        for column in ("kind", "name", "file"):
            used, first = np.unique(begin[column], return_index=True)
            told = [texts.told_at.get(number, -1) for number in used.tolist()]
            if (np.array(told, np.int64) >= at[first]).any():
                return False
        kinds = np.unique(begin["kind"]).tolist()
        if any(texts.get(kind) is None for kind in kinds):
            return False
        epochs = [kind for kind in kinds if texts.get(kind) == wire.SpanKind.EPOCH]
        names = np.unique(begin["name"][np.isin(begin["kind"], epochs)])
        return all(_is_number(texts.get(name) or "") for name in names.tolist())


@dataclass(frozen=True)
class _Texts:
    """Texts by their numbers.

    Attributes:
        before: Those that were told before a piece: there may be very many, so they are not copied.
        told: Those that it tells.
        told_at: Which record of it told them, by its number.
    """

    before: Mapping[int, str]
    told: Mapping[int, str]
    told_at: Mapping[int, int]

    def get(self, number: int) -> str | None:
        """A text; None: it is not known."""
        return self.told[number] if number in self.told else self.before.get(number)


def _texts(stream: Stream, piece: Piece, kinds: Numbers) -> _Texts | None:
    """The texts up to the end of a piece; None: one is damaged, or replaces another."""
    before, told, told_at = stream.strings, {}, {}
    for number in np.flatnonzero(kinds == Record.STRING).tolist():
        payload = piece.payload(number)
        if len(payload) < wire.STRING_HEAD.size:
            return None
        (name,) = wire.STRING_HEAD.unpack_from(payload)
        if name in before or name in told:
            return None
        told[name] = text(payload[wire.STRING_HEAD.size :])
        told_at[name] = number
    return _Texts(before, told, told_at)


def _facts(piece: Piece, numbers: Numbers) -> list[tuple[int, Mapping[str, Any]]] | None:
    """Spans with the facts of them, in order; None: one is damaged."""
    found: list[tuple[int, Mapping[str, Any]]] = []
    view, places, head = piece.view, piece.places, wire.HEAD.size
    unpack, body = wire.STRING_HEAD.unpack_from, head + wire.STRING_HEAD.size
    try:
        for number in numbers.tolist():
            begin, end = places[number], places[number + 1]
            if end - begin < body:
                return None
            payload = bytes(view[begin + body : end])
            facts = _known_object(payload) if len(payload) <= _SHORT else json_object(payload)
            found.append((unpack(view, begin + head)[0], facts))
    except (ValueError, TypeError, RecursionError):
        return None
    return found


def _are_sound(rows: Rows) -> bool:
    """Whether steps make sense."""
    sound = (rows["thread"] < _INT64) & (rows["loop"] < _INT32) & (rows["count"] < _INT32)
    sound &= (rows["count"] >= 1) & (rows["begin"] <= rows["end"])
    for part in ("input", "callbacks", "offset", "call", "wait"):
        sound &= (rows[part] > -LEAP_NS) & (rows[part] < LEAP_NS)
    return bool(sound.all())


def _is_rising(numbers: Numbers, above: int = -1) -> bool:
    """Whether each is larger than the one before, and the first than `above`."""
    return not len(numbers) or bool(numbers[0] > above and (np.diff(numbers.astype(np.int64)) > 0).all())


def _is_number(text: str) -> bool:
    """Whether a text is a number that a column holds."""
    try:
        return -_INT32 <= int(text) < _INT32
    except ValueError:
        return False


def _codes(column: Rows, texts: _Texts, number_of: Callable[[str], int]) -> Numbers:
    """Numbers of texts in a log, for numbers of texts in the stream; one that it does not know is the empty text."""
    used, place = np.unique(column, return_inverse=True)
    return np.array([number_of(texts.get(number) or "") for number in used.tolist()], np.int64)[place]
