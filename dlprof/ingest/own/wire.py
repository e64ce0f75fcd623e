"""Reads the raw stream of the in-process probe (`raw/inproc.wire`), as far as it is whole."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from dlprof_probes import wire
from dlprof_probes.wire import Record

from dlprof import safe_files
from dlprof.ingest.artifact import Health, NothingRecordedError
from dlprof.ingest.own import datasets, held_objects, loader_passes, model_memory
from dlprof.ingest.own.step_log import StepLog
from dlprof.ingest.own.syncs import Sync
from dlprof.ingest.own.wire_batches import Batch
from dlprof.ingest.own.wire_records import Piece, json_object, pieces, records, text
from dlprof.ingest.own.wire_stream import LEAP_NS, Bounds, Stream

_PIECE = 1 << 20
_INT32, _INT64 = 1 << 31, 1 << 63


def read(path: Path, bounds: Bounds | None = None) -> Stream:
    """Read a whole stream, up to where it was cut (`complete` is False, `cut` says where) or is damaged (`damage`).

    Args:
        path: The file.
        bounds: When the process lived: a record that tells of another time is damaged.

    Raises:
        NothingRecordedError: The file is empty.
        ArtifactError: It is no stream.
    """
    if not path.lstat().st_size:
        raise NothingRecordedError("it holds nothing", path=path)
    stream = Stream(path, bounds=bounds or Bounds(), steps=StepLog(path.parent))
    for piece in pieces(path):
        if not _take_piece(stream, piece):
            break
    size = path.lstat().st_size
    if stream.read_bytes < size and stream.read_bytes and not stream.complete and stream.damage is None:
        stream.cut = f"the last {size - stream.read_bytes} bytes are no whole record"
    return stream


def _take_piece(stream: Stream, piece: Piece) -> bool:
    """Take in records that follow each other; False: nothing behind them can be read, or is to be."""
    together = Batch.of(stream, piece)
    for number in range(len(piece.kinds)) if together is None else together.others:
        kind, place = piece.kinds[number], piece.offset + piece.places[number]
        if together is not None:
            stream.last_ns = max(stream.last_ns, together.last_before(number))
        try:
            _take(stream, kind, piece.payload(number))
        except Exception as error:  # noqa: BLE001  (whatever is odd in a record, those before it are read)
            _end_before(stream, piece, number, together)
            stream.damage = f"raw/{stream.path.name} is damaged: the record at byte {place} makes no sense ({error})"
            return False
        if kind == Record.TRAILER:
            _end_before(stream, piece, number + 1, together)
            stream.changed = _is_changed(stream.path, place, piece.payload(number))
            return False
    _end_before(stream, piece, len(piece.kinds), together)
    return True


def _end_before(stream: Stream, piece: Piece, number: int, together: Batch | None) -> None:
    """Take in what of a piece is taken in together, up to a record; it is read up to there."""
    if together is not None:
        together.take(stream, number)
    if number:
        stream.read_bytes = piece.offset + piece.places[number]


def _take(stream: Stream, kind: int, payload: memoryview) -> None:
    """Take in a record.

    Raises:
        Exception: It is damaged: of any type, as what is odd in it.
    """
    reader = _READERS.get(kind)
    if reader is not None:
        reader(stream, payload)


def _is_changed(path: Path, size: int, trailer: memoryview) -> bool:
    """Whether what is before the trailer is not what was written; not known of a dlprof that kept no checksum."""
    facts = json.loads(bytes(trailer))
    if "crc32" not in facts:
        return bool(facts.keys() != {"time_ns"})  # else it was there, and its name is damaged
    found, told = 0, facts["crc32"]
    with safe_files.opened(path.parent, path.name) as source:
        while size > 0 and (piece := source.read(min(size, _PIECE))):
            found, size = zlib.crc32(piece, found), size - len(piece)
    return bool(found != told)


_OBJECTS = frozenset(
    {
        Record.META, Record.NOTE, Record.PROBE, Record.TRAILER, Record.CHILD, Record.LOADER, Record.MODEL,
        Record.DATASETS, Record.OBJECTS,
    }
)  # fmt: skip
"""Records that are a JSON object."""


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
    if kind in _OBJECTS:
        return {"value": json.loads(bytes(payload))}
    if kind == Record.STRING:
        return {"number": wire.STRING_HEAD.unpack_from(payload)[0], "text": text(payload[wire.STRING_HEAD.size :])}
    if kind == Record.DETAIL:
        return {"span": wire.STRING_HEAD.unpack_from(payload)[0], "value": json.loads(bytes(payload[4:]))}
    if kind in _THREADS:
        head, columns = _THREADS[kind]
        return {**dict(zip(columns, head.unpack_from(payload), strict=True)), "name": text(payload[head.size :])}
    return {"bytes": len(payload)}


_THREADS: dict[int, tuple[struct.Struct, tuple[str, ...]]] = {
    Record.THREAD: (wire.THREAD_HEAD, ("thread",)),
    Record.SYSTEM_THREAD: (wire.SYSTEM_THREAD, ("thread", "system", "span")),
}
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
    Record.SYNC: (
        wire.SYNC.unpack_from, ("number", "what", "file", "line", "calls", "dur_ns", "first_ns", "last_ns"),
    ),
    Record.STRETCH: (wire.STRETCH.unpack_from, ("thread", "begin_ns", "end_ns", "inside_ns")),
    Record.COLLECTIVE: (
        wire.COLLECTIVE.unpack_from,
        ("kind", "process_group", "number", "begin_ns", "blocked_ns", "end_ns", "bytes"),
    ),
}  # fmt: skip


def _read_meta(stream: Stream, payload: memoryview) -> None:
    facts = json_object(payload)
    for name in ("pid", "main_thread", "boot_ns"):
        if name in facts and not isinstance(facts[name], int):
            raise TypeError(f"{name} is no number")
    stream.meta.update(facts)


def _time(stream: Stream, time_ns: int) -> int:
    """A time that a record names; the last of all is kept."""
    stream.last_ns = max(stream.last_ns, stream.bounds.check(time_ns, stream.last_ns))
    return time_ns


def _whole(*numbers: int, below: int = _INT32) -> None:
    """Refuse numbers that no column holds."""
    if max(numbers) >= below or min(numbers) < -below:
        raise ValueError("a number is too large")


def _read_string(stream: Stream, payload: memoryview) -> None:
    (number,) = wire.STRING_HEAD.unpack_from(payload)
    stream.strings[number] = text(payload[wire.STRING_HEAD.size :])


def _read_begin(stream: Stream, payload: memoryview) -> None:
    number, kind, name, thread, start, file, line = wire.BEGIN.unpack(payload)
    texts = stream.strings
    _whole(number, line)
    _whole(thread, below=_INT64)
    if texts[kind] == wire.SpanKind.EPOCH:
        _whole(int(texts.get(name, "")))
    _time(stream, start)
    stream.spans.begin(number, texts[kind], texts.get(name, ""), thread, start, texts.get(file, ""), line)


def _read_end(stream: Stream, payload: memoryview) -> None:
    number, end = wire.END.unpack(payload)
    _time(stream, end)
    stream.spans.end(number, end)


def _read_detail(stream: Stream, payload: memoryview) -> None:
    (number,) = wire.STRING_HEAD.unpack_from(payload)
    stream.spans.add_facts(number, json_object(payload[wire.STRING_HEAD.size :]))


def _read_step(stream: Stream, payload: memoryview) -> None:
    fields = wire.step_fields(payload)
    thread, loop, epoch, step, count, begin, end, *parts, _flags = fields
    _whole(loop, epoch, step, count)
    _whole(thread, below=_INT64)
    stream.bounds.check(begin, end)
    if begin > end or count < 1 or not -LEAP_NS < min(parts) <= max(parts) < LEAP_NS:
        raise ValueError("a step's times make no sense")
    _time(stream, end)
    stream.steps.append(fields)


def _read_metrics(stream: Stream, payload: memoryview) -> None:
    loop, epoch, step, time = wire.METRICS.unpack_from(payload)
    _whole(loop)
    for name, value in wire.METRIC.iter_unpack(payload[wire.METRICS.size :]):
        stream.metrics.add(loop, epoch, step, time, stream.strings.get(name, ""), value)


def _read_gc(stream: Stream, payload: memoryview) -> None:
    begin, dur, generation, collected = wire.GC.unpack(payload)
    _whole(generation, below=1 << 7)
    stream.bounds.check(begin, begin)
    if not 0 <= dur < LEAP_NS:
        raise ValueError("a collection's time makes no sense")
    stream.collections.append(begin, dur, generation, collected)


def _read_thread(stream: Stream, payload: memoryview) -> None:
    (number,) = wire.THREAD_HEAD.unpack_from(payload)
    stream.threads[number] = text(payload[wire.THREAD_HEAD.size :])


def _read_system_thread(stream: Stream, payload: memoryview) -> None:
    thread, number, span = wire.SYSTEM_THREAD.unpack_from(payload)
    _whole(thread, below=_INT64)
    _whole(number, span)
    stream.in_turn.add(thread, number, span, text(payload[wire.SYSTEM_THREAD.size :]))


def _read_note(stream: Stream, payload: memoryview) -> None:
    note = json_object(payload)
    stream.notes.append(Health(str(note["slug"]), str(note["severity"]), str(note["message"])))


def _read_probe(stream: Stream, payload: memoryview) -> None:
    told = json_object(payload)
    if not isinstance(told["name"], str):
        raise TypeError("a probe without a name")
    stream.probes.append(told)


def _read_child(stream: Stream, payload: memoryview) -> None:
    told = json_object(payload)
    pid = told["pid"]
    if not isinstance(pid, int):
        raise TypeError("a process without a number")
    _whole(pid)
    if told["name"] is not None:
        stream.children[pid] = str(told["name"])
    file, line = told.get("file"), told.get("line")
    if isinstance(file, str) and file and isinstance(line, int):
        _whole(line)
        stream.started_at[pid] = file, line


def _read_loader(stream: Stream, payload: memoryview) -> None:
    one = loader_passes.parse(bytes(payload))
    for time in (one.begin_ns, one.end_ns):
        _time(stream, time)
    stream.passes.append(one)


def _read_datasets(stream: Stream, payload: memoryview) -> None:
    one = datasets.parse(bytes(payload))
    _time(stream, one.time_ns)
    stream.datasets.append(one)


def _read_model(stream: Stream, payload: memoryview) -> None:
    one = model_memory.parse(bytes(payload))
    _time(stream, one.time_ns)
    stream.models[one.model] = one


def _read_objects(stream: Stream, payload: memoryview) -> None:
    one = held_objects.parse(bytes(payload))
    _time(stream, one.time_ns)
    stream.objects.append(one)


def _read_stretch(stream: Stream, payload: memoryview) -> None:
    thread, begin, end, inside = wire.STRETCH.unpack(payload)
    _whole(thread, below=_INT64)
    stream.bounds.check(begin, end)
    if not 0 <= inside <= end - begin:
        raise ValueError("the time in which a thread ran Python makes no sense")
    _time(stream, end)
    stream.stretches.append(thread, begin, end, inside)


def _read_sync(stream: Stream, payload: memoryview) -> None:
    number, what, file, line, *sums = wire.SYNC.unpack(payload)
    one = Sync(stream.strings[what], stream.strings[file], line, *sums)
    _whole(line)
    for time in (one.first_ns, one.last_ns):
        _time(stream, time)
    if one.calls < 1 or not 0 <= one.first_ns <= one.last_ns or not 0 <= one.dur_ns < _INT64 // 2:
        raise ValueError("what was summed of a place makes no sense")
    stream.syncs[number] = one


def _read_collective(stream: Stream, payload: memoryview) -> None:
    kind, group, number, begin, blocked, end, size = wire.COLLECTIVE.unpack(payload)
    _whole(number)
    stream.bounds.check(begin, end)
    if not begin <= blocked <= end < begin + LEAP_NS or size < wire.NONE:
        raise ValueError("a collective makes no sense")
    _time(stream, end)
    stream.collectives.add(stream.strings[kind], stream.strings[group], number, begin, blocked, end, size)


def _read_trailer(stream: Stream, payload: memoryview) -> None:
    _time(stream, int(json_object(payload)["time_ns"]))
    stream.complete = True


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
    Record.SYSTEM_THREAD: _read_system_thread,
    Record.NOTE: _read_note,
    Record.PROBE: _read_probe,
    Record.TRAILER: _read_trailer,
    Record.CHILD: _read_child,
    Record.LOADER: _read_loader,
    Record.MODEL: _read_model,
    Record.DATASETS: _read_datasets,
    Record.OBJECTS: _read_objects,
    Record.STRETCH: _read_stretch,
    Record.SYNC: _read_sync,
    Record.COLLECTIVE: _read_collective,
}
