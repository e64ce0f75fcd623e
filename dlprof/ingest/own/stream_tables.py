"""Makes the tables of what the in-process probe told: spans, steps, epochs, metrics and gc."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from dlprof_probes import wire

from dlprof.ingest.artifact import ArtifactError, ProcessId
from dlprof.ingest.file_names import FileNames
from dlprof.ingest.own import step_samples
from dlprof.ingest.own.span_log import OPEN
from dlprof.ingest.own.step_log import PIECE, Rows
from dlprof.ingest.own.step_samples import LoopFacts
from dlprof.ingest.own.wire_stream import Stream
from dlprof.schema.tables import TABLES

LOOP_NAMES = {
    "fit": "train", "fit_generator": "train", "train_on_batch": "train",
    "evaluate": "test", "evaluate_generator": "test", "test_on_batch": "test", "test_loop": "test",
    "predict": "predict", "predict_generator": "predict", "predict_on_batch": "predict",
    "tf.data": "data",
}  # fmt: skip
"""Name of a loop (train, test, predict, data), by the name of its span."""
_LOOPS = ("train", "test", "predict", "data")
_NONE = -1
Numbers = npt.NDArray[Any]


def tables(stream: Stream, process: ProcessId, end_ns: int, names: FileNames) -> dict[str, pa.Table]:
    """The tables spans, steps, epochs, metrics and gc of a stream, as a whole: see `pieces`."""
    made: dict[str, list[pa.Table]] = {}
    for name, piece in pieces(stream, process, end_ns, names):
        made.setdefault(name, []).append(piece)
    empty = {name: [TABLES[name].empty_table()] for name in ("spans", "steps", "epochs", "metrics", "gc")}
    return {name: pa.concat_tables(made.get(name, one)).unify_dictionaries() for name, one in empty.items()}


def pieces(stream: Stream, process: ProcessId, end_ns: int, names: FileNames) -> Iterator[tuple[str, pa.Table]]:
    """The tables spans, steps, epochs, metrics and gc of a stream, piece by piece: (name, rows).

    Args:
        stream: What `read` gave.
        process: Host, rank, process and the origin of its timeline.
        end_ns: Up to when the stream tells of the process, on its clock; open spans are taken to last until then.
        names: How files are named in the tables.

    Raises:
        ArtifactError: A record holds what makes no sense.
    """
    try:
        yield from _Tables(stream, process, end_ns, names).pieces()
    except (ValueError, TypeError, KeyError, OverflowError, ZeroDivisionError, pa.ArrowException) as error:
        raise ArtifactError(f"a record makes no sense: {error}", path=stream.path) from error


class _Tables:
    def __init__(self, stream: Stream, process: ProcessId, end_ns: int, names: FileNames) -> None:
        self._stream = stream
        self._process = process
        self._end_ns = end_ns
        self._names = names
        self._numbers = stream.spans.column("number")
        self._starts = stream.spans.column("start")
        ends = stream.spans.column("end")
        self._is_open = ends == OPEN
        self._ends = np.where(self._is_open, np.maximum(end_ns, self._starts), ends)
        self._parents = _parents(stream.spans.column("thread"), self._starts, self._ends, self._numbers)

    def pieces(self) -> Iterator[tuple[str, pa.Table]]:
        steps_of: dict[tuple[int, int], int] = {}
        for low in range(0, len(self._numbers), PIECE):
            yield "spans", self._spans(low, min(low + PIECE, len(self._numbers)))
        facts = LoopFacts(self._stream.spans)
        for rows in self._stream.steps.pieces():
            yield "steps", self._steps(rows, facts)
            step_samples.count(rows, steps_of)
        yield "epochs", self._epochs(steps_of)
        for low in range(0, len(self._stream.metrics), PIECE):
            yield "metrics", self._metrics(low)
        starts, durs, generations, collected = (self._stream.collections.numbers(n) for n in range(4))
        yield "gc", self._table("gc", [starts - self._process.origin_ns, durs, generations, collected])

    def _table(self, name: str, columns: Sequence[Any]) -> pa.Table:
        """Rows out of their columns, behind those that name the process."""
        schema = TABLES[name]
        size = len(columns[0])
        head = (self._process.host, self._process.rank, self._process.pid)
        arrays = [
            pa.repeat(pa.scalar(value, _plain(kind.type)), size) for value, kind in zip(head, schema, strict=False)
        ]
        arrays += [column if isinstance(column, pa.Array) else pa.array(column) for column in columns]
        return pa.Table.from_arrays(
            [_as(one, kind.type) for one, kind in zip(arrays, schema, strict=True)], schema=schema
        )

    def _spans(self, low: int, high: int) -> pa.Table:
        spans, rows = self._stream.spans, slice(low, high)
        column = {name: spans.column(name, low, high) for name in ("thread", "kind", "name", "file", "line")}
        starts = self._starts[rows]
        details = [spans.details.get(number) for number in self._numbers[rows].tolist()]
        return self._table(
            "spans",
            [
                column["thread"],
                self._thread_names(column["thread"], self._numbers[rows]),
                self._numbers[rows],
                _known(self._parents[rows], _NONE),
                _texts(column["kind"], spans.texts.by_number),
                _texts(column["name"], spans.texts.by_number),
                starts - self._process.origin_ns,
                np.maximum(0, self._ends[rows] - starts),
                ~self._is_open[rows],
                self._files(column["file"]),
                _known(column["line"], 0),
                pa.array(map(_json, details), pa.string()),
            ],
        )

    def _thread_names(self, threads: Numbers, spans: Numbers) -> pa.Array:
        in_turn, known = self._stream.in_turn, self._stream.threads
        (used, turn), place = np.unique(np.stack((threads, in_turn.of(threads, spans))), axis=1, return_inverse=True)
        pairs = zip(used.tolist(), turn.tolist(), strict=True)
        names = [known.get(thread, "") if one < 0 else in_turn.all[one].name for thread, one in pairs]
        return pa.array(names, pa.string()).take(pa.array(place.reshape(-1)))

    def _files(self, numbers: Numbers) -> pa.Array:
        texts = self._stream.spans.texts.by_number
        used, place = np.unique(numbers, return_inverse=True)
        short = [self._names.short(texts[number]) if number else None for number in used.tolist()]
        return pa.array(short, pa.string()).take(pa.array(place))

    def _steps(self, rows: Rows, facts: LoopFacts) -> pa.Table:
        facts.learn(np.unique(rows["loop"]).tolist())
        loops, place = np.unique(rows["loop"], return_inverse=True)
        names = [LOOP_NAMES.get(facts.name(loop), "train") for loop in loops.tolist()]
        codes = np.array([_LOOPS.index(name) for name in names], np.int32)[place]
        flags = rows["flags"]
        has_call = (flags & wire.STEP_HAS_CALL) != 0
        return self._table(
            "steps",
            [
                rows["thread"].astype(np.int64),
                _texts(codes, _LOOPS),
                rows["loop"].astype(np.int64),
                _known(rows["epoch"], wire.NONE),
                rows["step"].copy(),
                rows["count"].astype(np.int64),
                rows["begin"] - self._process.origin_ns,
                rows["end"] - rows["begin"],
                _where((flags & wire.STEP_HAS_INPUT) != 0, rows["input"]),
                rows["callbacks"].copy(),
                _where(has_call, rows["offset"]),
                _where(has_call, rows["call"]),
                (flags & wire.STEP_COMPILED) != 0,
                (flags & wire.STEP_FIRST) != 0,
                facts.samples(rows),
                _where((flags & wire.STEP_HAS_WAIT) != 0, rows["wait"]),
            ],
        )

    def _epochs(self, steps_of: Mapping[tuple[int, int], int]) -> pa.Table:
        """Epochs that have a loop around them."""
        spans = self._stream.spans
        rows = np.flatnonzero(
            np.isin(spans.column("kind"), spans.codes([wire.SpanKind.EPOCH])) & (self._parents != _NONE)
        )
        loops, texts = self._parents[rows].tolist(), spans.column("name")[rows].tolist()
        numbers = [int(spans.texts.by_number[text]) for text in texts]
        counts = [steps_of.get(key) for key in zip(loops, numbers, strict=True)]
        starts = self._starts[rows]
        columns = [self._parents[rows], np.array(numbers, np.int64), starts - self._process.origin_ns]
        # As the stream tells them, also where that is less than nothing: such a stream is refused.
        ends = np.where(self._is_open[rows], self._end_ns, self._ends[rows])
        return self._table("epochs", [*columns, ends - starts, pa.array(counts, pa.int64())])

    def _metrics(self, low: int) -> pa.Table:
        metrics = self._stream.metrics
        loop, epoch, step, time, name, value = (metrics.numbers(n, low, low + PIECE) for n in range(6))
        columns = [loop, _known(epoch, wire.NONE), _known(step, wire.NONE), _texts(name, metrics.names.by_number)]
        return self._table("metrics", [*columns, value, time - self._process.origin_ns])


def _json(detail: Mapping[str, Any] | None) -> str | None:
    """Facts of a span as JSON, as Python spells it: queries look for parts of that text. None: there are none."""
    return json.dumps(detail) if detail else None


def _parents(threads: Numbers, starts: Numbers, ends: Numbers, numbers: Numbers) -> Numbers:
    """The number of the innermost span around each span of the same thread; _NONE: there is none."""
    parents = np.full(len(numbers), _NONE, np.int64)
    stacks: dict[int, list[tuple[int, int]]] = {}
    order = np.lexsort((numbers, -ends, starts))
    for low in range(0, len(order), PIECE):
        rows = order[low : low + PIECE]
        columns = (one[rows].tolist() for one in (threads, starts, ends, numbers))
        for row, thread, start, end, number in zip(rows.tolist(), *columns, strict=True):
            stack = stacks.setdefault(thread, [])
            while stack and stack[-1][0] <= start:
                stack.pop()
            if stack:
                parents[row] = stack[-1][1]
            stack.append((end, number))
    return parents


def _plain(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _as(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """An array in the type of its column; numbers that it cannot hold are refused."""
    if pa.types.is_dictionary(kind) and not pa.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    return array.cast(kind)


def _texts(numbers: Numbers, texts: Sequence[str]) -> pa.Array:
    """Texts by their numbers, those that are there."""
    used, place = np.unique(numbers, return_inverse=True)
    chosen = pa.array([texts[number] for number in used.tolist()], pa.string())
    return pa.DictionaryArray.from_arrays(pa.array(place.astype(np.int32)), chosen)


def _known(values: Numbers, missing: int) -> pa.Array:
    """Null where a number stands for none."""
    return pa.array(np.ascontiguousarray(values), mask=values == missing)


def _where(known: npt.NDArray[np.bool_], values: Numbers) -> pa.Array:
    return pa.array(values.copy(), mask=~known)
