"""Sampled stacks put together: for how long each stood, on which thread, and whether Keras was building then."""

from __future__ import annotations

import bisect
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from dlprof.ingest.own.standing import Progress, Row, parts
from dlprof.ingest.parse.sampled_stacks import Frame
from dlprof.schema.vocabulary import MAIN_THREAD, SpanKind

_BUILDING = frozenset(
    {
        SpanKind.CONSTRUCT,
        SpanKind.COMPILE,
        SpanKind.SAVE,
        SpanKind.DATA,
        SpanKind.GRAPH_COMPILE,
        SpanKind.GRAPH_STAGE,
        SpanKind.FIRST_RUN,
    }
)
"""Spans of Keras outside of its loops in which lines are not counted before Python 3.12."""
_OPERATOR = '"operator": true'
"""In the detail of what an engine made for a single operator: Keras is not building then, and lines are counted."""


@dataclass(frozen=True)
class Stood:
    """A stack for as long as it was seen.

    Attributes:
        stack: Its frames, outermost first.
        dur_ns: For how long a thread was seen in it, in all (ns).
        main: Whether that was the main thread of the program.
        building: Whether Keras was building, compiling or saving a model then.
        pid: The process; None: the program itself.
        samples: In how many samples it was seen; None: by its time alone.
    """

    stack: Sequence[Frame]
    dur_ns: int
    main: bool
    building: bool
    pid: int | None = None
    samples: float | None = None


class MainThread:
    """What spans say of the main thread.

    Args:
        spans: Pieces of the table.

    Attributes:
        building: When Keras was building, compiling or saving a model.
        own: When dlprof itself ran.
    """

    def __init__(self, spans: Iterable[pa.Table]) -> None:
        kinds = pa.array(sorted({*_BUILDING, SpanKind.DLPROF}))
        found = (piece.filter(pc.is_in(piece["kind"].cast(pa.string()), kinds)) for piece in spans)
        rows = [row for piece in found for row in piece.to_pylist() if row["thread"] == MAIN_THREAD]
        # What a script marks is named by its kind alone: counting goes on there.
        built = (row for row in rows if row["name"] != row["kind"] and _OPERATOR not in (row["detail"] or ""))
        self.building = _Stretches(row for row in built if row["kind"] in _BUILDING)
        self.own = _Stretches(row for row in rows if row["kind"] == SpanKind.DLPROF)


class _Stretches:
    """The time in which at least one of some spans was open."""

    def __init__(self, spans: Iterable[Mapping[str, Any]]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in sorted((row["start_ns"], row["start_ns"] + row["dur_ns"]) for row in spans):
            if self._ends and start <= self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], end)
            else:
                self._starts.append(start)
                self._ends.append(end)

    def at(self, time_ns: int) -> bool:
        """Whether one was open at that time."""
        before = bisect.bisect_right(self._starts, time_ns) - 1
        return before >= 0 and time_ns < self._ends[before]

    def within(self, start_ns: int, end_ns: int) -> int:
        """How much of the time between two moments that is (ns)."""
        first, last = bisect.bisect_right(self._ends, start_ns), bisect.bisect_left(self._starts, end_ns)
        open_ = zip(self._starts[first:last], self._ends[first:last], strict=True)
        return sum(min(end, end_ns) - max(start, start_ns) for start, end in open_)


class _Key(NamedTuple):
    """What is added up."""

    stack: int
    main: bool
    building: bool
    pid: int | None
    depth: int | None = None
    """Of the stack its outermost frames, so many; None: all."""


def stood(
    stacks: Iterable[pa.Table],
    frames: pa.Table,
    of_main: MainThread,
    others: Container[int] = (),
    known: Progress | None = None,
) -> Iterator[Stood]:
    """Each distinct stack with its time, by process, thread (the main one, others) and whether Keras was building.

    Of the main thread's time, what dlprof itself took is left out: the stack has it from the line that was interrupted.
    Where it is known how that thread went on, a stack of it stood no longer than it can have, and what is left is of
    the frames around it, as a stack that was in no sample, and maybe of none.

    Args:
        stacks: Pieces of the table `stacks`.
        frames: Table `frames`.
        of_main: What spans say of the main thread.
        others: Processes that are not the program.
        known: How the main thread went on; None: not known.
    """
    of_number: dict[int, list[Frame]] = {}
    for row in frames.sort_by([("stack_id", "ascending"), ("depth", "ascending")]).to_pylist():
        of_number.setdefault(row["stack_id"], []).append(Frame(row["function"], row["file"], row["line"]))
    rows = list(_rows(stacks, of_main, others))
    mains = sorted((row for key, row in rows if key.main), key=lambda row: row.start_ns)
    told = dict(zip(mains, parts(mains, known, of_number), strict=True)) if known is not None else {}
    times: Counter[_Key] = Counter()
    seen: dict[_Key, float] = {}
    for key, row in rows:
        part = told.get(row) if key.main else None
        if part is None:
            times[key] += row.dur_ns - row.own_ns
            continue
        times[key] += part.dur_ns
        seen[key] = seen.get(key, 0.0) + part.samples
        if part.rest_ns:
            around = key._replace(depth=part.depth)
            times[around] += part.rest_ns
            seen[around] = 0.0
    for key, dur in times.items():
        if dur > 0:
            stack = of_number.get(key.stack, [])
            yield Stood(stack[: key.depth], dur, key.main, key.building, key.pid, seen.get(key))


def _rows(stacks: Iterable[pa.Table], of_main: MainThread, others: Container[int]) -> Iterator[tuple[_Key, Row]]:
    """Each row, with what it is added up under."""
    for piece in stacks:
        columns = (piece[name].to_pylist() for name in ("pid", "stack_id", "thread", "start_ns", "dur_ns"))
        for process, number, thread, start, dur in zip(*columns, strict=True):
            pid = process if process in others else None
            main = pid is None and thread == MAIN_THREAD
            own = of_main.own.within(start, start + dur) if main else 0
            building = main and of_main.building.at(start + dur // 2)
            yield _Key(number, main, building, pid), Row(number, start, dur, own)
