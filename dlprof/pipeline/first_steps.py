"""Has the first step of a loop of the script's own, and with it loop and epoch, begin no earlier than stacks allow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis import first_steps
from dlprof.analysis.columns import Truths, integers, truths
from dlprof.analysis.first_steps import First
from dlprof.pipeline.workspace import Workspace
from dlprof.schema.vocabulary import MAIN_THREAD, SpanKind

_BEHIND = 64
"""Steps behind the first one that tell what one takes."""


@dataclass(frozen=True)
class _Move:
    """A loop (by the number of its span) of a thread that begins later (ns) than was told before."""

    loop_id: int
    thread: int
    before_ns: int
    begin_ns: int


def settle(run: Workspace) -> bool:
    """Change the tables of spans, epochs and steps by the stacks; gives whether anything was."""
    frames = run.tables.get("frames")
    if frames is None or not frames.num_rows:
        return False
    places: first_steps.Places | None = None
    moves: list[_Move] = []
    for first in _firsts(run):
        lines = first_steps.lines_of(run.source(first.file), first.line)
        rows = _stacks(run, first) if lines is not None else []
        if rows and lines is not None:
            places = places or first_steps.Places(frames)
            whole = places.whole(row["stack_id"] for row in rows)
            inside = places.are_in(first.file, lines)
            begin = _behind_spans(run, first, first_steps.begin_ns(first, rows, inside, whole, _compiled(run, first)))
            if first.start_ns < begin < first.end_ns:
                moves.append(_Move(first.loop_id, first.thread, first.start_ns, begin))
    if moves:
        _move(run, moves)
    return bool(moves)


def _firsts(run: Workspace) -> list[First]:
    """First steps that took longer than others, and of which no loader tells when they began."""
    loops = {row["span_id"]: row for row in _inferred(run)}
    if not loops:
        return []
    behind: dict[int, list[Mapping[str, Any]]] = {}
    for piece in run.tables.pieces("steps", ("loop_id", "start_ns", "dur_ns", "input_ns", "count")):
        ids = integers(piece["loop_id"])
        for loop in loops:
            rows = behind.setdefault(loop, [])
            wanted = np.flatnonzero(ids == loop)[: _BEHIND + 1 - len(rows)]
            rows += piece.take(pa.array(wanted)).to_pylist()
    return [found for loop, rows in behind.items() if (found := _first(loops[loop], rows)) is not None]


def _first(loop: Mapping[str, Any], steps: Sequence[Mapping[str, Any]]) -> First | None:
    if len(steps) < 2 or steps[0]["input_ns"] is not None or steps[0]["count"] != 1:
        return None
    first, usual = steps[0], int(median(step["dur_ns"] for step in steps[1:]))
    if first["dur_ns"] - usual < first_steps.LEAST_NS:
        return None
    end = first["start_ns"] + first["dur_ns"]
    return First(loop["span_id"], loop["thread_id"], loop["file"], loop["line"], first["start_ns"], end, usual)


def _inferred(run: Workspace) -> Iterator[Mapping[str, Any]]:
    """Spans of trainings that were found on the main thread."""
    for piece in run.tables.pieces("spans", ("span_id", "kind", "thread_id", "thread", "file", "line", "detail")):
        fits = piece.filter(pc.equal(piece["kind"].cast(pa.string()), SpanKind.FIT))
        for row in fits.to_pylist():
            detail = msgspec.json.decode(row["detail"]) if row["detail"] else {}
            if row["thread"] == MAIN_THREAD and row["file"] and row["line"] and detail.get("how") == "inferred":
                yield row


def _behind_spans(run: Workspace, first: First, begin: int) -> int:
    """That moment (ns), or the end of what its thread is in the middle of then: spans are one inside of another.

    Samples are some time apart, so that they may put it into a call or an import that was over a little later.
    """
    inside: list[tuple[int, int]] = []
    for piece in run.tables.pieces("spans", ("thread_id", "start_ns", "dur_ns")):
        kept = pc.and_(pc.equal(piece["thread_id"], first.thread), pc.greater(piece["start_ns"], first.start_ns))
        rows = piece.filter(pc.and_(kept, _is_in(piece, first))).to_pylist()
        inside += [(row["start_ns"], row["start_ns"] + row["dur_ns"]) for row in rows]
    return max((end for start, end in inside if start < begin < end), default=begin)


def _compiled(run: Workspace, first: First) -> list[tuple[int, int]]:
    """When graphs were compiled on the thread of a first step, while that may have lasted (ns)."""
    found: list[tuple[int, int]] = []
    for piece in run.tables.pieces("spans", ("kind", "thread_id", "start_ns", "dur_ns")):
        kept = pc.and_(pc.equal(piece["kind"].cast(pa.string()), SpanKind.GRAPH_COMPILE), _is_in(piece, first))
        rows = piece.filter(pc.and_(kept, pc.equal(piece["thread_id"], first.thread))).to_pylist()
        found += [(row["start_ns"], row["start_ns"] + row["dur_ns"]) for row in rows]
    return found


def _is_in(piece: pa.Table, first: First) -> pa.ChunkedArray:
    """Whether what a table has overlaps a first step."""
    ends = pc.add(piece["start_ns"], piece["dur_ns"])
    return pc.and_(pc.less(piece["start_ns"], first.end_ns), pc.greater(ends, first.start_ns))


def _stacks(run: Workspace, first: First) -> list[dict[str, int]]:
    """Stretches of the main thread in the first step."""
    found: list[dict[str, int]] = []
    for piece in run.tables.pieces("stacks", ("pid", "thread", "start_ns", "dur_ns", "stack_id")):
        kept = pc.and_(
            pc.equal(piece["pid"], run.process.pid), pc.equal(piece["thread"].cast(pa.string()), MAIN_THREAD)
        )
        found += (
            piece.filter(pc.and_(kept, _is_in(piece, first))).select(["start_ns", "dur_ns", "stack_id"]).to_pylist()
        )
    return found


def _move(run: Workspace, moves: Sequence[_Move]) -> None:
    """Have loops, and what began with them, begin later."""

    def spans(piece: pa.Table, move: _Move) -> Truths:
        kinds = piece["kind"].cast(pa.string())
        own = truths(pc.and_(pc.equal(kinds, SpanKind.FIT), pc.equal(piece["span_id"], move.loop_id)))
        return own | truths(pc.and_(pc.equal(kinds, SpanKind.EPOCH), pc.equal(piece["thread_id"], move.thread)))

    def of_loop(piece: pa.Table, move: _Move) -> Truths:
        return truths(pc.equal(piece["loop_id"], move.loop_id))

    for name, belongs in (("spans", spans), ("epochs", of_loop), ("steps", of_loop)):
        if name in run.tables.names():
            run.tables.put_pieces((name, _later(piece, moves, belongs)) for piece in run.tables.pieces(name))


def _later(piece: pa.Table, moves: Sequence[_Move], belongs: Callable[[pa.Table, _Move], Truths]) -> pa.Table:
    """A piece in which what began with a loop that it belongs to begins as late as that."""
    start, dur = integers(piece["start_ns"]).copy(), integers(piece["dur_ns"]).copy()
    for move in moves:
        moved = belongs(piece, move) & (start == move.before_ns) & (start + dur > move.begin_ns)
        dur[moved] -= move.begin_ns - move.before_ns
        start[moved] = move.begin_ns
    for column, values in (("start_ns", start), ("dur_ns", dur)):
        field = piece.schema.field(column)
        piece = piece.set_column(piece.column_names.index(column), field, pa.array(values).cast(field.type))
    return piece
