"""Sampled stacks put together: for how long each stood, on which thread, and whether Keras was building then."""

from __future__ import annotations

import bisect
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

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
    """

    stack: Sequence[Frame]
    dur_ns: int
    main: bool
    building: bool
    pid: int | None = None


class Building:
    """When Keras was building, compiling or saving a model, on the main thread.

    Args:
        spans: Pieces of the table.
    """

    def __init__(self, spans: Iterable[pa.Table]) -> None:
        kinds = pa.array(sorted(_BUILDING))
        found = (piece.filter(pc.is_in(piece["kind"].cast(pa.string()), kinds)) for piece in spans)
        rows = (row for piece in found for row in piece.to_pylist())
        # What a script marks is named by its kind alone: counting goes on there.
        inside = (row for row in rows if row["name"] != row["kind"] and _OPERATOR not in (row["detail"] or ""))
        times = sorted((r["start_ns"], r["start_ns"] + r["dur_ns"]) for r in inside if r["thread"] == MAIN_THREAD)
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in times:
            if self._ends and start <= self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], end)
            else:
                self._starts.append(start)
                self._ends.append(end)

    def at(self, time_ns: int) -> bool:
        """Whether it was at that time."""
        before = bisect.bisect_right(self._starts, time_ns) - 1
        return before >= 0 and time_ns < self._ends[before]


def stood(
    stacks: Iterable[pa.Table], frames: pa.Table, building: Building, others: Container[int] = ()
) -> Iterator[Stood]:
    """Each distinct stack with its time, by process, thread (the main one, others) and whether Keras was building.

    Args:
        stacks: Pieces of the table `stacks`.
        frames: Table `frames`.
        building: When Keras was building.
        others: Processes that are not the program.
    """
    times: Counter[tuple[int, bool, bool, int | None]] = Counter()
    for piece in stacks:
        columns = (piece[name].to_pylist() for name in ("pid", "stack_id", "thread", "start_ns", "dur_ns"))
        for process, number, thread, start, dur in zip(*columns, strict=True):
            pid = process if process in others else None
            main = pid is None and thread == MAIN_THREAD
            times[number, main, main and building.at(start + dur // 2), pid] += dur
    of_number: dict[int, list[Frame]] = {}
    for row in frames.sort_by([("stack_id", "ascending"), ("depth", "ascending")]).to_pylist():
        of_number.setdefault(row["stack_id"], []).append(Frame(row["function"], row["file"], row["line"]))
    for (number, main, is_building, pid), dur in times.items():
        yield Stood(of_number.get(number, ()), dur, main, is_building, pid)
