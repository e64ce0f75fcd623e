"""Reads the raw stream of the in-process probe (`raw/inproc.wire`), as far as it is whole."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from dlprof_probes import wire
from dlprof_probes.wire import Record

from dlprof import safe_files
from dlprof.ingest.artifact import Health, NothingRecordedError
from dlprof.ingest.own import datasets, held_objects, loader_passes, model_memory
from dlprof.ingest.own.collectives import Collectives
from dlprof.ingest.own.columns import Columns, Metrics
from dlprof.ingest.own.span_log import SpanLog
from dlprof.ingest.own.step_log import RECORD, Rows, StepLog
from dlprof.ingest.own.syncs import Sync
from dlprof.ingest.own.wire_records import records, stretches

_LEAP_NS = 24 * 3600 * 1_000_000_000
"""No process is silent for so long: a later time is damage."""
_SLACK_NS = 10_000_000_000
"""What began before the process's own zero, in a notebook."""
_PIECE = 1 << 20
_INT32, _INT64 = 1 << 31, 1 << 63


@dataclass(frozen=True)
class Bounds:
    """Between which times the process lived, on its clock (ns); None: not known."""

    start_ns: int | None = None
    end_ns: int | None = None

    def check(self, time_ns: int, last_ns: int) -> int:
        """The time, if it can be one of the process's.

        Args:
            time_ns: A time that a record names.
            last_ns: The latest of the records before.

        Raises:
            ValueError: It cannot.
        """
        start = self.start_ns - _SLACK_NS if self.start_ns is not None else 0
        latest = _INT64 if self.start_ns is None else max(last_ns, self.start_ns) + _LEAP_NS
        if not start <= time_ns < (self.end_ns or latest):
            raise ValueError(f"the time {time_ns} is not one of the process's")
        return time_ns


@dataclass
class Stream:
    """All that a stream holds; times are the process's clock (ns).

    Attributes:
        steps: In order, with the fields of `wire.STEP`.
        metrics: Rows (loop, epoch, step, time, name, value).
        collections: Rows of the fields of `wire.GC`.
        complete: Whether the probe finished in order.
        last_ns: The latest time that the stream names.
        read_bytes: How far the stream could be read.
        damage: From where on it cannot be read, and why; None: nothing in it is damaged.
        changed: It was written whole and is not what was written, though it can be read.
    """

    path: Path = Path("inproc.wire")
    meta: dict[str, Any] = field(default_factory=dict)
    spans: SpanLog = field(default_factory=SpanLog)
    steps: StepLog = field(default_factory=StepLog)
    metrics: Metrics = field(default_factory=Metrics)
    collections: Columns = field(default_factory=lambda: Columns("qqbq"))
    threads: dict[int, str] = field(default_factory=dict)
    notes: list[Health] = field(default_factory=list)
    probes: list[dict[str, Any]] = field(default_factory=list)
    children: dict[int, str] = field(default_factory=dict)
    """Names of the processes that `multiprocessing` started, by their numbers."""
    started_at: dict[int, tuple[str, int]] = field(default_factory=dict)
    """The user's lines that started processes, by their numbers."""
    passes: list[loader_passes.Pass] = field(default_factory=list)
    datasets: list[datasets.Pipeline] = field(default_factory=list)
    """Pipelines of tf.data."""
    objects: list[held_objects.Held] = field(default_factory=list)
    """How much Python held."""
    models: dict[int, model_memory.Model] = field(default_factory=dict)
    """What models hold, by their numbers; what was told last."""
    stretches: Columns = field(default_factory=lambda: Columns("qqqq"))
    """When threads of an engine ran Python: rows of the fields of `wire.STRETCH`."""
    syncs: dict[int, Sync] = field(default_factory=dict)
    """Where the program asked for values of the device, by number."""
    collectives: Collectives = field(default_factory=Collectives)
    strings: dict[int, str] = field(default_factory=lambda: {0: ""})
    complete: bool = False
    last_ns: int = 0
    read_bytes: int = 0
    cut: str | None = None
    damage: str | None = None
    changed: bool = False
    bounds: Bounds = field(default_factory=Bounds)


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
    for offset, kind, payload, alike in stretches(path):
        try:
            if alike > 1:
                _read_steps(stream, offset, payload)
            else:
                _take(stream, kind, payload)
        except Exception as error:  # noqa: BLE001  (whatever is odd in a record, those before it are read)
            where = max(offset, stream.read_bytes)
            stream.damage = f"raw/{path.name} is damaged: the record at byte {where} makes no sense ({error})"
            return stream
        stream.read_bytes = offset + len(payload) + (wire.HEAD.size if alike == 1 else 0)
        if kind == Record.TRAILER:
            stream.changed = _is_changed(path, offset, payload)
            break
    size = path.lstat().st_size
    if stream.read_bytes < size and stream.read_bytes and not stream.complete:
        stream.cut = f"the last {size - stream.read_bytes} bytes are no whole record"
    return stream


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
    Record.SYNC: (
        wire.SYNC.unpack_from, ("number", "what", "file", "line", "calls", "dur_ns", "first_ns", "last_ns"),
    ),
    Record.STRETCH: (wire.STRETCH.unpack_from, ("thread", "begin_ns", "end_ns", "inside_ns")),
    Record.COLLECTIVE: (
        wire.COLLECTIVE.unpack_from,
        ("kind", "process_group", "number", "begin_ns", "blocked_ns", "end_ns", "bytes"),
    ),
}  # fmt: skip


def _text(payload: memoryview) -> str:
    return bytes(payload).decode("utf-8", "replace")


def _object(payload: memoryview) -> dict[str, Any]:
    """The JSON object in a record.

    Raises:
        ValueError: It is none.
    """
    value = json.loads(bytes(payload))
    if not isinstance(value, dict):
        raise TypeError("no object")
    return value


def _read_meta(stream: Stream, payload: memoryview) -> None:
    facts = _object(payload)
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
    stream.strings[number] = _text(payload[wire.STRING_HEAD.size :])


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
    stream.spans.add_facts(number, _object(payload[wire.STRING_HEAD.size :]))


def _read_step(stream: Stream, payload: memoryview) -> None:
    fields = wire.step_fields(payload)
    thread, loop, epoch, step, count, begin, end, *parts, _flags = fields
    _whole(loop, epoch, step, count)
    _whole(thread, below=_INT64)
    stream.bounds.check(begin, end)
    if begin > end or count < 1 or not -_LEAP_NS < min(parts) <= max(parts) < _LEAP_NS:
        raise ValueError("a step's times make no sense")
    _time(stream, end)
    stream.steps.append(fields)


def _read_steps(stream: Stream, offset: int, records: memoryview) -> None:
    """Take in steps that follow each other, from a place in the file on.

    Raises:
        ValueError: One is damaged; those before it are taken in.
    """
    rows = np.frombuffer(records, RECORD)
    sound = _sound(rows, stream)
    good = len(rows) if sound.all() else int(sound.argmin())
    if good:
        stream.steps.extend(rows[:good])
        stream.last_ns = max(stream.last_ns, int(rows["end"][:good].max()))
        stream.read_bytes = offset + good * RECORD.itemsize
    if good < len(rows):
        _read_step(stream, records[good * RECORD.itemsize :][wire.HEAD.size : RECORD.itemsize])
        raise ValueError("a step makes no sense")


def _sound(rows: Rows, stream: Stream) -> npt.NDArray[np.bool_]:
    """Which steps make sense, as `_read_step` asks of each, if all before do."""
    bounds, begin, end = stream.bounds, rows["begin"], rows["end"]
    earliest = bounds.start_ns - _SLACK_NS if bounds.start_ns is not None else 0
    sound = (rows["thread"] < _INT64) & (rows["loop"] < _INT32) & (rows["count"] < _INT32)
    sound &= (rows["count"] >= 1) & (begin <= end) & (begin >= earliest) & (end >= earliest)
    if bounds.end_ns is not None:
        sound &= end < bounds.end_ns
    elif bounds.start_ns is not None:
        last = np.maximum.accumulate(np.concatenate(([max(stream.last_ns, bounds.start_ns)], end[:-1])))
        sound &= end - _LEAP_NS < last
    for part in ("input", "callbacks", "offset", "call", "wait"):
        sound &= (rows[part] > -_LEAP_NS) & (rows[part] < _LEAP_NS)
    return sound


def _read_metrics(stream: Stream, payload: memoryview) -> None:
    loop, epoch, step, time = wire.METRICS.unpack_from(payload)
    _whole(loop)
    for name, value in wire.METRIC.iter_unpack(payload[wire.METRICS.size :]):
        stream.metrics.add(loop, epoch, step, time, stream.strings.get(name, ""), value)


def _read_gc(stream: Stream, payload: memoryview) -> None:
    begin, dur, generation, collected = wire.GC.unpack(payload)
    _whole(generation, below=1 << 7)
    stream.bounds.check(begin, begin)
    if not 0 <= dur < _LEAP_NS:
        raise ValueError("a collection's time makes no sense")
    stream.collections.append(begin, dur, generation, collected)


def _read_thread(stream: Stream, payload: memoryview) -> None:
    (number,) = wire.THREAD_HEAD.unpack_from(payload)
    stream.threads[number] = _text(payload[wire.THREAD_HEAD.size :])


def _read_note(stream: Stream, payload: memoryview) -> None:
    note = _object(payload)
    stream.notes.append(Health(str(note["slug"]), str(note["severity"]), str(note["message"])))


def _read_probe(stream: Stream, payload: memoryview) -> None:
    told = _object(payload)
    if not isinstance(told["name"], str):
        raise TypeError("a probe without a name")
    stream.probes.append(told)


def _read_child(stream: Stream, payload: memoryview) -> None:
    told = _object(payload)
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
    if not begin <= blocked <= end < begin + _LEAP_NS or size < wire.NONE:
        raise ValueError("a collective makes no sense")
    _time(stream, end)
    stream.collectives.add(stream.strings[kind], stream.strings[group], number, begin, blocked, end, size)


def _read_trailer(stream: Stream, payload: memoryview) -> None:
    _time(stream, int(_object(payload)["time_ns"]))
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
