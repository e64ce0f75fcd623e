"""Events of a trace by columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import IO, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dlprof.schema.vocabulary import EventKind

Integers = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]
NONE = -1
"""In columns of numbers of texts, and in `link`: there is none."""
CPU = -1
"""In the column `device`: the host; GPUs count from 0."""


class EventRow(NamedTuple):
    """One event, for readers that take them one by one; the columns are those of `Events`."""

    kind: EventKind
    name: int
    start: int
    dur: int
    lane: int
    device: int = CPU
    link: int = NONE
    scope: int = NONE


@dataclass(frozen=True, slots=True)
class Events:
    """Events; all columns are of one length.

    Attributes:
        kind: Of `EventKind`.
        name: Number of the name in the trace.
        start: Start (ns).
        dur: Duration (ns).
        lane: Number of the lane in the trace.
        device: Number of the device, or CPU.
        link: What a call and the kernels that it launched have in common, or a number of the engine's own, or NONE.
        scope: Number of the scope in the trace, or NONE.
        context: Whether the event was in an earlier segment, and is here only because others lie in it.
    """

    kind: npt.NDArray[np.int8]
    name: npt.NDArray[np.int32]
    start: Integers
    dur: Integers
    lane: npt.NDArray[np.int32]
    device: npt.NDArray[np.int16]
    link: Integers
    scope: npt.NDArray[np.int32]
    context: Booleans

    @classmethod
    def of(  # noqa: PLR0913  (one argument per column)
        cls,
        *,
        kind: Iterable[int],
        name: Iterable[int],
        start: Iterable[int],
        dur: Iterable[int],
        lane: Iterable[int] | None = None,
        device: Iterable[int] | None = None,
        link: Iterable[int] | None = None,
        scope: Iterable[int] | None = None,
    ) -> Events:
        """Events of these columns; one that is missing is NONE throughout."""
        given = (kind, name, start, dur, lane, device, link, scope)
        size = len(start)  # type: ignore[arg-type]
        columns: list[Any] = [_column(values, _TYPES[at], size) for at, values in enumerate(given)]
        return cls(*[*columns, np.zeros(size, bool)])

    @classmethod
    def of_rows(cls, rows: Sequence[EventRow]) -> Events:
        """Events that were taken one by one."""
        if not rows:
            return cls.concat(())
        columns: list[Any] = [np.asarray(values, _TYPES[at]) for at, values in enumerate(zip(*rows, strict=True))]
        return cls(*[*columns, np.zeros(len(rows), bool)])

    @classmethod
    def concat(cls, parts: Sequence[Events]) -> Events:
        """The events of all parts, in order."""
        if len(parts) == 1:
            return parts[0]
        empty = [np.empty(0, kind) for kind in _TYPES]
        return cls(*(np.concatenate([e, *(getattr(p, n) for p in parts)]) for n, e in zip(_NAMES, empty, strict=True)))

    def __len__(self) -> int:
        return len(self.start)

    @property
    def ends(self) -> Integers:
        """End of each event (ns)."""
        return self.start + self.dur

    def is_kind(self, *kinds: EventKind) -> Booleans:
        """Whether each event is of one of these kinds."""
        return np.isin(self.kind, kinds)

    def select(self, rows: Integers | Booleans) -> Events:
        """Some of the events, by their positions or by a mask."""
        return Events(*(getattr(self, name)[rows] for name in _NAMES))

    def shifted(self, by_ns: int) -> Events:
        """The events at another time."""
        return replace(self, start=self.start + by_ns)

    def as_context(self) -> Events:
        """The events as context of others."""
        return replace(self, context=np.ones(len(self), bool))

    def save(self, target: IO[bytes]) -> None:
        """Write the columns; several may be written one behind the other."""
        for name in _NAMES:
            np.save(target, getattr(self, name))

    @classmethod
    def load(cls, source: IO[bytes]) -> Events:
        """Read what `save` wrote."""
        return cls(*(np.load(source) for _ in _NAMES))


_NAMES = tuple(Events.__dataclass_fields__)
_TYPES = (np.int8, np.int32, np.int64, np.int64, np.int32, np.int16, np.int64, np.int32, np.bool_)


def _column(values: Any, kind: Any, size: int) -> npt.NDArray[Any]:
    return np.full(size, NONE, kind) if values is None else np.asarray(values, kind)
