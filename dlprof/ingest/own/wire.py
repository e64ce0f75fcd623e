"""Reads the raw stream of the in-process probe (`raw/inproc.wire`) into tables."""

from __future__ import annotations

import json
import mmap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
from dlprof_probes import wire
from dlprof_probes.wire import Record

from dlprof import safe_files
from dlprof.ingest.artifact import ArtifactError, Health, ProcessId
from dlprof.ingest.file_names import FileNames
from dlprof.schema.tables import TABLES

LOOP_NAMES = {
    "fit": "train", "fit_generator": "train", "train_on_batch": "train",
    "evaluate": "test", "evaluate_generator": "test", "test_on_batch": "test", "test_loop": "test",
    "predict": "predict", "predict_generator": "predict", "predict_on_batch": "predict",
    "tf.data": "data",
}  # fmt: skip
"""Name of a loop (train, test, predict, data), by the name of its span."""


@dataclass
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
    detail: dict[str, Any] = field(default_factory=dict)


@dataclass
class Stream:
    """All that a stream holds; times are the process's clock (ns).

    Attributes:
        steps: Tuples of the fields of `wire.STEP`.
        metrics: Tuples (loop, epoch, step, time, name, value).
        collections: Tuples of the fields of `wire.GC`.
        complete: Whether the probe finished in order.
        last_ns: The latest time that the stream names.
        read_bytes: How far the stream could be read.
    """

    path: Path = Path("inproc.wire")
    meta: dict[str, Any] = field(default_factory=dict)
    spans: dict[int, Span] = field(default_factory=dict)
    steps: list[tuple[int, ...]] = field(default_factory=list)
    metrics: list[tuple[int, int, int, int, str, float]] = field(default_factory=list)
    collections: list[tuple[int, ...]] = field(default_factory=list)
    threads: dict[int, str] = field(default_factory=dict)
    notes: list[Health] = field(default_factory=list)
    probes: list[dict[str, Any]] = field(default_factory=list)
    strings: dict[int, str] = field(default_factory=lambda: {0: ""})
    complete: bool = False
    last_ns: int = 0
    read_bytes: int = 0
    cut: str | None = None


def records(path: Path) -> Iterator[tuple[int, int, memoryview]]:
    """Every whole record of a stream, in order.

    Yields:
        (offset in bytes, type, payload).

    Raises:
        ArtifactError: The file is no stream of the probe, or of a newer version.
    """
    head = len(wire.MAGIC) + 1
    with safe_files.opened(path.parent, path.name) as source:
        start = source.read(head)
        if start[:-1] != wire.MAGIC:
            raise ArtifactError("not a stream of dlprof's in-process probe", path=path, offset=0)
        if start[-1] > wire.VERSION:
            raise ArtifactError(f"stream version {start[-1]} is newer than this dlprof", path=path, offset=head - 1)
        with mmap.mmap(source.fileno(), 0, access=mmap.ACCESS_READ) as data, memoryview(data) as view:
            offset = head
            while offset + wire.HEAD.size <= len(view):
                kind, length = wire.HEAD.unpack_from(view, offset)
                end = offset + wire.HEAD.size + length
                if end > len(view):
                    break
                with view[offset + wire.HEAD.size : end] as payload:
                    yield offset, kind, payload
                offset = end


def read(path: Path) -> Stream:
    """Read a whole stream; one that was cut is read up to the cut (`complete` is False, `cut` says where).

    Raises:
        ArtifactError: The file is no stream, or a record in it is damaged.
    """
    stream = Stream(path)
    for offset, kind, payload in records(path):
        reader = _READERS.get(kind)
        try:
            if reader is not None:
                reader(stream, payload)
        except Exception as error:
            raise ArtifactError(f"damaged record of type {kind}: {error}", path=path, offset=offset) from error
        stream.read_bytes = offset + wire.HEAD.size + len(payload)
    size = path.stat().st_size
    if stream.read_bytes < size and stream.read_bytes:
        stream.cut = f"{size - stream.read_bytes} bytes at the end are half a record"
    return stream


def describe(path: Path) -> Iterator[dict[str, Any]]:
    """Every record of a stream as a dictionary for people (`dlprof dump`)."""
    names = {value: name for name, value in vars(Record).items() if name.isupper()}
    for offset, kind, payload in records(path):
        yield {"offset": offset, "type": names.get(kind, f"unknown {kind}"), **_fields(kind, payload)}


def _fields(kind: int, payload: memoryview) -> dict[str, Any]:
    layout = _LAYOUTS.get(kind)
    if layout is not None:
        fields, columns = layout
        return dict(zip(columns, fields(payload), strict=True))
    if kind in (Record.META, Record.NOTE, Record.PROBE, Record.TRAILER):
        return {"value": json.loads(bytes(payload))}
    if kind == Record.STRING:
        return {"number": wire.STRING_HEAD.unpack_from(payload)[0], "text": _text(payload[wire.STRING_HEAD.size :])}
    if kind == Record.DETAIL:
        return {"span": wire.STRING_HEAD.unpack_from(payload)[0], "value": json.loads(bytes(payload[4:]))}
    if kind == Record.THREAD:
        return {"thread": wire.THREAD_HEAD.unpack_from(payload)[0], "name": _text(payload[8:])}
    return {"bytes": len(payload)}


_LAYOUTS: dict[int, tuple[Callable[[memoryview], tuple[Any, ...]], tuple[str, ...]]] = {
    Record.BEGIN: (wire.BEGIN.unpack_from, ("span", "kind", "name", "thread", "time_ns", "file", "line")),
    Record.END: (wire.END.unpack_from, ("span", "time_ns")),
    Record.STEP: (
        wire.step_fields,
        ("thread", "loop", "epoch", "step", "count", "begin_ns", "end_ns", "input_ns", "callbacks_ns",
         "call_offset_ns", "call_ns", "wait_ns", "flags"),
    ),
    Record.METRICS: (wire.METRICS.unpack_from, ("loop", "epoch", "step", "time_ns")),
    Record.GC: (wire.GC.unpack_from, ("begin_ns", "dur_ns", "generation", "collected")),
}  # fmt: skip


def _text(payload: memoryview) -> str:
    return bytes(payload).decode("utf-8", "replace")


def _read_meta(stream: Stream, payload: memoryview) -> None:
    stream.meta.update(json.loads(bytes(payload)))


def _read_string(stream: Stream, payload: memoryview) -> None:
    (number,) = wire.STRING_HEAD.unpack_from(payload)
    stream.strings[number] = _text(payload[wire.STRING_HEAD.size :])


def _read_begin(stream: Stream, payload: memoryview) -> None:
    number, kind, name, thread, start, file, line = wire.BEGIN.unpack(payload)
    texts = stream.strings
    span = Span(number, texts[kind], texts.get(name, ""), thread, start, texts.get(file, ""), line)
    stream.spans[number] = span
    stream.last_ns = max(stream.last_ns, start)


def _read_end(stream: Stream, payload: memoryview) -> None:
    number, end = wire.END.unpack(payload)
    span = stream.spans.get(number)
    if span is not None and span.end is None:
        span.end = end
    stream.last_ns = max(stream.last_ns, end)


def _read_detail(stream: Stream, payload: memoryview) -> None:
    (number,) = wire.STRING_HEAD.unpack_from(payload)
    if number in stream.spans:
        stream.spans[number].detail.update(json.loads(bytes(payload[wire.STRING_HEAD.size :])))


def _read_step(stream: Stream, payload: memoryview) -> None:
    fields = wire.step_fields(payload)
    stream.steps.append(fields)
    stream.last_ns = max(stream.last_ns, fields[6])


def _read_metrics(stream: Stream, payload: memoryview) -> None:
    loop, epoch, step, time = wire.METRICS.unpack_from(payload)
    for name, value in wire.METRIC.iter_unpack(payload[wire.METRICS.size :]):
        stream.metrics.append((loop, epoch, step, time, stream.strings.get(name, ""), value))


def _read_gc(stream: Stream, payload: memoryview) -> None:
    stream.collections.append(wire.GC.unpack(payload))


def _read_thread(stream: Stream, payload: memoryview) -> None:
    (number,) = wire.THREAD_HEAD.unpack_from(payload)
    stream.threads[number] = _text(payload[wire.THREAD_HEAD.size :])


def _read_note(stream: Stream, payload: memoryview) -> None:
    note = json.loads(bytes(payload))
    stream.notes.append(Health(note["slug"], note["severity"], note["message"]))


def _read_probe(stream: Stream, payload: memoryview) -> None:
    stream.probes.append(json.loads(bytes(payload)))


def _read_trailer(stream: Stream, payload: memoryview) -> None:
    stream.complete = True
    stream.last_ns = max(stream.last_ns, json.loads(bytes(payload))["time_ns"])


_READERS = {
    Record.META: _read_meta,
    Record.STRING: _read_string,
    Record.BEGIN: _read_begin,
    Record.END: _read_end,
    Record.DETAIL: _read_detail,
    Record.STEP: _read_step,
    Record.METRICS: _read_metrics,
    Record.GC: _read_gc,
    Record.THREAD: _read_thread,
    Record.NOTE: _read_note,
    Record.PROBE: _read_probe,
    Record.TRAILER: _read_trailer,
}


def tables(stream: Stream, process: ProcessId, end_ns: int, names: FileNames) -> dict[str, pa.Table]:
    """The tables spans, steps, epochs, metrics and gc of a stream.

    Args:
        stream: What `read` gave.
        process: Host, rank, process and the origin of its timeline.
        end_ns: End of the process on the stream's clock; open spans are taken to last until then.
        names: How files are named in the tables.

    Raises:
        ArtifactError: A record holds what makes no sense.
    """
    try:
        parents = _parents(stream, end_ns)
        return {
            "spans": _spans_table(stream, process, end_ns, names, parents),
            "steps": _steps_table(stream, process),
            "epochs": _epochs_table(stream, process, end_ns, parents),
            "metrics": _metrics_table(stream, process),
            "gc": _table("gc", process, [(s - process.origin_ns, d, g, c) for s, d, g, c in stream.collections]),
        }
    except (ValueError, TypeError, KeyError, OverflowError, ZeroDivisionError, pa.ArrowException) as error:
        raise ArtifactError(f"a record makes no sense: {error}", path=stream.path) from error


def _table(name: str, process: ProcessId, rows: list[tuple[Any, ...]]) -> pa.Table:
    schema = TABLES[name]
    columns = list(zip(*rows, strict=True)) if rows else [()] * (len(schema) - 3)
    head: list[Any] = [[process.host] * len(rows), [process.rank] * len(rows), [process.pid] * len(rows)]
    arrays = [pa.array(column, type=kind.type) for column, kind in zip([*head, *columns], schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)


def _parents(stream: Stream, end_ns: int) -> dict[int, int]:
    """The innermost span around each span of the same thread (missing: there is none)."""
    parents: dict[int, int] = {}
    stacks: dict[int, list[Span]] = {}
    for span in sorted(stream.spans.values(), key=lambda s: (s.start, -(s.end or end_ns), s.number)):
        stack = stacks.setdefault(span.thread, [])
        while stack and (stack[-1].end or end_ns) <= span.start:
            stack.pop()
        if stack:
            parents[span.number] = stack[-1].number
        stack.append(span)
    return parents


def _spans_table(
    stream: Stream, process: ProcessId, end_ns: int, names: FileNames, parents: dict[int, int]
) -> pa.Table:
    rows = [
        (
            span.thread,
            stream.threads.get(span.thread, ""),
            span.number,
            parents.get(span.number),
            span.kind,
            span.name,
            span.start - process.origin_ns,
            max(0, (span.end or max(end_ns, span.start)) - span.start),
            span.end is not None,
            names.short(span.file) if span.file else None,
            span.line or None,
            json.dumps(span.detail) if span.detail else None,
        )
        for span in stream.spans.values()
    ]
    return _table("spans", process, rows)


def _steps_table(stream: Stream, process: ProcessId) -> pa.Table:
    counters: dict[tuple[int, int], int] = {}
    rows = []
    for thread, loop, epoch, step, count, begin, end, waited, callbacks, offset, call, device, flags in stream.steps:
        span = stream.spans.get(loop)
        name = LOOP_NAMES.get(span.name if span else "", "train")
        seen = counters.get((loop, epoch), 0)
        counters[loop, epoch] = seen + count
        has_call = bool(flags & wire.STEP_HAS_CALL)
        rows.append(
            (
                thread,
                name,
                loop,
                None if epoch == wire.NONE else epoch,
                step,
                count,
                begin - process.origin_ns,
                end - begin,
                waited if flags & wire.STEP_HAS_INPUT else None,
                callbacks,
                offset if has_call else None,
                call if has_call else None,
                bool(flags & wire.STEP_COMPILED),
                bool(flags & wire.STEP_FIRST),
                _samples(span, seen, count),
                device if flags & wire.STEP_HAS_WAIT else None,
            )
        )
    return _table("steps", process, rows)


def _samples(loop: Span | None, seen: int, count: int) -> int | None:
    """Samples in `count` steps after `seen` earlier ones of the epoch; None where Keras did not say."""
    detail = loop.detail if loop else {}
    batch = detail.get("batch_size")
    if not batch:
        return None
    last = detail.get("batches")
    partial = detail.get("partial_batch_size")
    if last is None and detail.get("samples"):
        last, partial = -(-detail["samples"] // batch), detail["samples"] % batch
    has_partial = bool(partial) and last is not None and seen < last <= seen + count
    return int(batch * (count - 1) + partial) if has_partial else int(batch * count)


def _epochs_table(stream: Stream, process: ProcessId, end_ns: int, parents: dict[int, int]) -> pa.Table:
    counts: dict[tuple[int, int], int] = {}
    for step in stream.steps:
        counts[step[1], step[2]] = counts.get((step[1], step[2]), 0) + step[4]
    rows = []
    for span in stream.spans.values():
        if span.kind != wire.SpanKind.EPOCH or span.number not in parents:
            continue
        loop, epoch = parents[span.number], int(span.name)
        rows.append(
            (loop, epoch, span.start - process.origin_ns, (span.end or end_ns) - span.start, counts.get((loop, epoch)))
        )
    return _table("epochs", process, rows)


def _metrics_table(stream: Stream, process: ProcessId) -> pa.Table:
    rows = [
        (
            loop,
            None if epoch == wire.NONE else epoch,
            None if step == wire.NONE else step,
            name,
            value,
            time - process.origin_ns,
        )
        for loop, epoch, step, time, name, value in stream.metrics
    ]
    return _table("metrics", process, rows)
