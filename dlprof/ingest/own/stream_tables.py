"""Makes the tables of what the in-process probe told: spans, steps, epochs, metrics and gc."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
from dlprof_probes import wire

from dlprof.ingest.artifact import ArtifactError, ProcessId
from dlprof.ingest.file_names import FileNames
from dlprof.ingest.own.wire import Span, Stream
from dlprof.schema.tables import TABLES

LOOP_NAMES = {
    "fit": "train", "fit_generator": "train", "train_on_batch": "train",
    "evaluate": "test", "evaluate_generator": "test", "test_on_batch": "test", "test_loop": "test",
    "predict": "predict", "predict_generator": "predict", "predict_on_batch": "predict",
    "tf.data": "data",
}  # fmt: skip
"""Name of a loop (train, test, predict, data), by the name of its span."""


def tables(stream: Stream, process: ProcessId, end_ns: int, names: FileNames) -> dict[str, pa.Table]:
    """The tables spans, steps, epochs, metrics and gc of a stream.

    Args:
        stream: What `read` gave.
        process: Host, rank, process and the origin of its timeline.
        end_ns: Up to when the stream tells of the process, on its clock; open spans are taken to last until then.
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
    known = {"batch_size", "batches", "partial_batch_size", "samples"} & {*detail}
    if any(not isinstance(detail[name], int | float) for name in known if detail[name] is not None):
        return None
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
