"""Spans of a stream, as columns: a script that calls `predict` at every turn makes millions of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from dlprof.ingest.own.columns import Columns, Texts

_NUMBER, _KIND, _NAME, _THREAD, _START, _END, _FILE, _LINE = range(8)
Numbers = npt.NDArray[Any]
OPEN = -1
"""The end of a span that has none."""


@dataclass(frozen=True)
class Span:
    """A span as the stream tells it; times are the process's clock (ns)."""

    number: int
    kind: str
    name: str
    thread: int
    start: int
    file: str
    line: int
    end: int | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)


class SpanLog:
    """The spans of a stream, in the order in which they were told; one whose number comes again is replaced.

    Attributes:
        texts: Kinds, names and files.
        details: Facts of spans, by their numbers.
        highest: The highest number so far; -1: there is none.
    """

    def __init__(self) -> None:
        self.texts = Texts()
        self.highest = -1
        self.details: dict[int, dict[str, Any]] = {}
        self._columns = Columns("iiiqqqii")
        self._open: dict[int, int] = {}

    def begin(  # noqa: PLR0913, PLR0917  (a record's fields, in their order: hot)
        self, number: int, kind: str, name: str, thread: int, start: int, file: str = "", line: int = 0
    ) -> None:
        """A span begins."""
        vars(self).pop("_kept", None)
        self.highest = max(self.highest, number)
        self._open[number] = len(self._columns)
        self._columns.append(
            number, self.texts.number(kind), self.texts.number(name), thread, start, OPEN, self.texts.number(file), line
        )  # fmt: skip

    def extend(  # noqa: PLR0913, PLR0917  (as `begin`)
        self,
        number: Numbers,
        kind: Numbers,
        name: Numbers,
        thread: Numbers,
        start: Numbers,
        file: Numbers,
        line: Numbers,
    ) -> None:
        """Spans begin, an array of each field; texts by their numbers in `texts`. Their own rise, above `highest`."""
        vars(self).pop("_kept", None)
        self.highest = int(number[-1])
        row = len(self._columns)
        self._open.update(zip(number.tolist(), range(row, row + len(number)), strict=True))
        self._columns.extend(number, kind, name, thread, start, np.full(len(number), OPEN), file, line)

    def end_many(self, number: Numbers, end: Numbers) -> None:
        """Spans end, none of them before it begins; those that are not open are passed over."""
        rows = [self._open.pop(one, -1) for one in number.tolist()]
        for row, time in zip(rows, end.tolist(), strict=True):
            if row >= 0:
                self._columns.set(_END, row, time)

    def may_end(self, number: int, end: int) -> bool:
        """Whether a span, if it is open, began before."""
        row = self._open.get(number)
        return row is None or end >= self._columns.at(_START, row)

    def end(self, number: int, end: int) -> None:
        """A span ends; one that is not open is passed over.

        Raises:
            ValueError: It ends before it begins.
        """
        row = self._open.get(number)
        if row is None:
            return
        if not self.may_end(number, end):
            raise ValueError("a span ends before it begins")
        self._columns.set(_END, row, end)
        del self._open[number]

    def add_facts(self, number: int, facts: Mapping[str, Any]) -> None:
        """Add to the detail of a span; of those that another span has too, `facts` have its number under `as`."""
        known = self.details.setdefault(number, {})
        known.update(facts)
        same = known.pop("as", None)
        for name, other in same.items() if isinstance(same, dict) else ():
            if isinstance(other, int) and name in self.details.get(other, ()):
                known[name] = self.details[other][name]

    def column(self, name: str, low: int = 0, high: int | None = None) -> npt.NDArray[Any]:
        """A column of all spans, or of [low, high).

        Args:
            name: `number`, `kind`, `name`, `file` (indices into `texts`), `thread`, `line`, `start` or `end` (ns;
                OPEN: it has none).
            low: The first.
            high: Behind the last; None: all that are left.
        """
        if self._kept is None:
            return self._columns.numbers(_PLACES[name], low, high)
        return self._columns.numbers(_PLACES[name])[self._kept[low:high]]

    @cached_property
    def _kept(self) -> npt.NDArray[np.int64] | None:
        """Rows that no later one of the same number replaces; None: all, as in any stream that is not damaged."""
        numbers = self._columns.numbers(_NUMBER)
        if not len(numbers) or (np.diff(numbers) > 0).all():
            return None
        last = len(numbers) - 1 - np.unique(numbers[::-1], return_index=True)[1]
        return None if len(last) == len(numbers) else np.sort(last)

    def codes(self, texts: Sequence[str]) -> npt.NDArray[np.int64]:
        """Indices of some texts, as far as they are known."""
        return np.array([number for text in texts if (number := self.texts.known(text)) is not None], np.int64)

    def get(self, number: int) -> Span | None:
        """The span of that number; None: there is none."""
        row = self._open.get(number)
        if row is None:
            rows = np.flatnonzero(self._columns.numbers(_NUMBER) == number)
            if not len(rows):
                return None
            row = int(rows[-1])
        return self._span(self._columns[row])

    def named(self, numbers: Sequence[int]) -> dict[int, Span]:
        """The spans of some numbers, as far as there are such."""
        rows = np.flatnonzero(np.isin(self._columns.numbers(_NUMBER), np.asarray(numbers, np.int64)))
        return {span.number: span for row in rows.tolist() if (span := self._span(self._columns[row]))}

    def values(self) -> Iterator[Span]:
        """All spans, one by one."""
        kept = self._kept
        return (self._span(self._columns[row]) for row in (range(len(self._columns)) if kept is None else kept))

    def of_kind(self, kind: str) -> Iterator[Span]:
        """Those of a kind."""
        rows = np.flatnonzero(np.isin(self._columns.numbers(_KIND), self.codes((kind,))))
        kept = self._kept
        return (self._span(self._columns[row]) for row in (rows if kept is None else np.intersect1d(rows, kept)))

    def __getitem__(self, number: int) -> Span:
        span = self.get(number)
        if span is None:
            raise KeyError(number)
        return span

    def __len__(self) -> int:
        return len(self._columns)

    def _span(self, row: Sequence[Any]) -> Span:
        number, kind, name, thread, start, end, file, line = row
        texts = self.texts.by_number
        return Span(
            number, texts[kind], texts[name], thread, start, texts[file], line,
            None if end == OPEN else end, self.details.get(number, {}),
        )  # fmt: skip


_PLACES = {
    "number": _NUMBER, "kind": _KIND, "name": _NAME, "thread": _THREAD, "start": _START, "end": _END, "file": _FILE,
    "line": _LINE,
}  # fmt: skip
