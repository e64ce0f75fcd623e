"""Reads XSpace files (`.xplane.pb`) of the TensorFlow and JAX profilers, on CPU and GPU.

The file is mapped, and taken apart line by line, so that memory does not grow with it. On the host, events of
an executed operator are told from all others by their names (`SCOPE/NAME:Type`) or by their stat `hlo_op`;
on a GPU, what lies on lines named `Stream #…` is counted, because the other lines repeat it.
"""

from __future__ import annotations

import gzip
import mmap
import os
import re
import tempfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from dlprof.ingest.artifact import ArtifactError, Health
from dlprof.ingest.formats.registry import Sample
from dlprof.ingest.kernels.trace import CPU, NONE, Foreign, Integers, Kind, Lane, Trace
from dlprof.ingest.parse import hlo, xlines
from dlprof.ingest.parse.protowire import Span, WireError, fields, signed, varint
from dlprof.ingest.parse.protowire import field as field_at

_GPU = re.compile(r"^/device:(GPU|TPU|CUSTOM):(.*?:)?(\d+)")
_STREAM = re.compile(r"^Stream #(\d+)")
_WANTED = ("hlo_op", "hlo_module", "program_id", "run_id", "correlation_id", "tf_op", "name", "annotation")
_EVENT_TAG = 0x22
"""Tag of the events of a line: field 4, with a length."""
_IGNORED = 99
"""A kind of our own for events that are not kept."""
_COPIES = re.compile(r"^(Memcpy|Memset|MEMCPY|MEMSET)")
_WAITS = ("FunctionRun", "ThunkExecutor::Execute (wait", "PjRtBuffer::Await", "BlockHostUntilReady", "Await")
_WORK = ("ExecutorState::Process", "ThunkExecutor::Execute", "ExecutorDoneCallback")
_FETCH = ("IteratorGetNextOp::DoCompute", "IteratorGetNextAsOptionalOp::DoCompute")
_EAGER = re.compile(r"^EagerLocalExecute: (?!\w*(?:Optional|Iterator|Dataset))[A-Z]\w*$")
"""An operation that TensorFlow runs by itself; underscores begin a whole graph, the others are bookkeeping of input."""
_LAUNCH = re.compile(r"^(cuda|hip|cu)[A-Z]\w+$|^(Memcpy|Memset)")
BYTES_AT_MOST = 2 << 30
"""What a protocol buffer can hold."""
_OPERATOR = re.compile(r"^[^\s:#]*[^\s:#]:_?[A-Z]\w*(#.*)?$")


def claims(sample: Sample) -> bool:
    """Whether the file begins as an XSpace does: with a plane that has an id or a name."""
    head = sample.head
    if head[:1] != b"\x0a" or sample.path.name.endswith((".json", ".json.gz", ".csv")):
        return False
    if ".xplane.pb" in sample.path.name:
        return True
    try:
        number, value, _ = field_at(head, 0, 1 << 40)
        if number != 1 or not isinstance(value, tuple):
            return False
        for inner, part in fields(head, value[0], min(value[1], len(head))):
            if inner == 2 and isinstance(part, tuple):
                return head[part[0] : part[1]].startswith((b"/host:", b"/device:", b"Task Environment", b"/host"))
    except (WireError, IndexError):
        pass
    return False


def read(path: Path) -> Foreign:
    """The operators, kernels and copies of an XSpace, and the programs that XLA compiled.

    Raises:
        ArtifactError: The file is damaged, or empty: makers leave empty files when they run into limits.
    """
    with path.open("rb") as source:
        if source.read(2) != b"\x1f\x8b":
            return _mapped(path, source)
    with tempfile.TemporaryFile(prefix="dlprof-") as unpacked:
        _unpack(path, unpacked)
        return _mapped(path, unpacked)


def _mapped(path: Path, source: IO[bytes]) -> Foreign:
    if source.seek(0, os.SEEK_END) == 0:
        text = "the file is empty: a profiler leaves one when the trace is larger than 2 GB"
        raise ArtifactError(text, path=path, offset=0)
    with mmap.mmap(source.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        return _Space(path, mapped).read()


def _unpack(path: Path, target: IO[bytes]) -> None:
    """Unpack into a file, not into memory: what is packed may be large."""
    done = 0
    try:
        with gzip.open(path, "rb") as source:
            while piece := source.read(1 << 20):
                done += target.write(piece)
                if done > BYTES_AT_MOST:
                    raise ArtifactError("unpacked it is larger than 2 GB, which no XSpace can be", path=path)
    except (OSError, EOFError, zlib.error) as error:
        raise ArtifactError(f"damaged: {error}", path=path, offset=done) from error
    target.flush()


@dataclass
class _Plane:
    """A plane, without its events."""

    name: str = ""
    lines: list[Span] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)
    stats: dict[int, str] = field(default_factory=dict)
    own: dict[str, Any] = field(default_factory=dict)
    metadata: dict[int, Span] = field(default_factory=dict)


class _Space:
    """One file."""

    def __init__(self, path: Path, data: Any) -> None:
        self.path = path
        self.data = data
        self.trace = Trace(path, "xspace", "tensorflow")
        self._devices: list[dict[str, Any]] = []
        self._start_ns: int | None = None

    def read(self) -> Foreign:
        """All planes."""
        try:
            planes = [self._plane(span) for number, span in self._fields(0, len(self.data)) if number == 1]
            for plane in planes:
                self._details(plane)
            for plane in planes:
                self._events(plane)
        except WireError as error:
            raise ArtifactError(f"damaged: {error}", path=self.path, offset=error.offset) from error
        self._close(planes)
        return Foreign("xspace", self.trace, facts=self.trace.facts, health=self.trace.health)

    def _fields(self, start: int, end: int) -> Iterator[tuple[int, Any]]:
        return fields(self.data, start, end)

    def _text(self, value: int | Span) -> str:
        span = _span(value)
        return bytes(self.data[span[0] : span[1]]).decode("utf-8", "replace")

    def _plane(self, span: int | Span) -> _Plane:
        plane = _Plane()
        own = []
        for number, value in self._fields(*_span(span)):
            if number == 2:
                plane.name = self._text(value)
            elif number == 3:
                plane.lines.append(_span(value))
            elif number in (4, 5):
                self._metadata(plane, _span(value), number)
            elif number == 6:
                own.append(_span(value))
        for stat in own:
            name, value = self._stat(plane, stat)
            plane.own[name] = value
        return plane

    def _metadata(self, plane: _Plane, entry: Span, which: int) -> None:
        key, message = 0, None
        for number, value in self._fields(*entry):
            if number == 1 and isinstance(value, int):
                key = signed(value)
            elif number == 2:
                message = _span(value)
        if message is None:
            return
        name = ""
        for number, value in self._fields(*message):
            if number == 2:
                name = self._text(value)
        if which == 4:
            plane.names[key] = name
            plane.metadata[key] = message
        else:
            plane.stats[key] = name

    def _stat(self, plane: _Plane, span: Span) -> tuple[str, Any]:
        name: str = ""
        found: Any = None
        for number, value in self._fields(*span):
            if number == 1 and isinstance(value, int):
                name = plane.stats.get(value, str(value))
            elif number == 7 and isinstance(value, int):
                found = plane.stats.get(value, "")
            elif number in (3, 4) and isinstance(value, int):
                found = signed(value) if number == 4 else value
            elif number in (5, 6) and isinstance(value, tuple):
                found = value if number == 6 else self._text(value)
        return name, found

    def _details(self, plane: _Plane) -> None:
        """Facts of a plane, and compiled programs in it."""
        start = plane.own.get("profile_start_time")
        if isinstance(start, int) and 0 <= start < 2**62:
            self._start_ns = start
        gpu = _GPU.match(plane.name)
        if gpu:
            vendor = plane.own.get("device_vendor")
            self._devices.append({"device": int(gpu[3]), "name": vendor if isinstance(vendor, str) else None})
        if "metadata" not in plane.name:
            return
        self.trace.engine = "xla"
        for key, span in plane.metadata.items():
            for number, value in self._fields(*span):
                if number == 5 and isinstance(value, tuple):
                    name, found = self._stat(plane, value)
                    if name.lower().replace(" ", "_") == "hlo_proto" and isinstance(found, tuple):
                        self.trace.programs[plane.names.get(key, "")] = self._program(found)

    def _program(self, span: Span) -> hlo.Program:
        try:
            return hlo.read(bytes(self.data[span[0] : span[1]]))[1]
        except WireError as error:
            raise WireError(str(error), span[0] + error.offset) from error

    def _events(self, plane: _Plane) -> None:
        gpu = _GPU.match(plane.name)
        if not plane.lines or not (gpu or plane.name.startswith("/host:CPU")):
            return
        table = _NameTable(self.trace, plane, bool(gpu))
        for span in plane.lines:
            line = self._line(span)
            lane = line["name"]
            stream = _STREAM.match(lane)
            if gpu and not stream:
                continue
            device = int(gpu[3]) if gpu else CPU
            thread = int(stream[1]) if stream else line["id"] % 2**62
            name = f"stream {stream[1]}" if stream else lane
            number = self.trace.lane((plane.name, line["id"], lane), Lane(0, thread, name, device))
            for piece in self._pieces(line["first"], line["end"]):
                self._add(table, line["timestamp_ns"], piece, number, device)

    def _line(self, span: Span) -> dict[str, Any]:
        """The head of a line: what stands before its events."""
        found: dict[str, Any] = {"id": 0, "name": "", "timestamp_ns": 0}
        names = {1: "id", 2: "name", 3: "timestamp_ns"}
        at, end = span
        while at < end and self.data[at] != _EVENT_TAG:
            here = at
            number, value, at = field_at(self.data, at, end)
            if number not in names:
                continue
            if isinstance(value, tuple) != (number == 2):
                raise WireError("a line whose head is of unknown kind", here)
            found[names[number]] = self._text(value) if isinstance(value, tuple) else signed(value)
        if abs(found["timestamp_ns"]) >= 2**62:
            raise WireError("a line at an impossible time", span[0])
        return {**found, "first": at, "end": end}

    def _pieces(self, at: int, end: int) -> Iterator[tuple[Any, Integers, int]]:
        """The bytes of a line's events, some MB at a time, where each event begins in them, and where they stand."""
        while at < end and self.data[at] == _EVENT_TAG:
            stop = min(end, at + xlines.PIECE_BYTES)
            data = np.frombuffer(self.data, np.uint8, stop - at, at).copy()
            try:
                begins = self._begins(data.tobytes(), at, end)
            except WireError as error:
                raise WireError(str(error), at + error.offset) from error
            yield data, begins, at
            at += int(begins[-1])
        for number, _ in self._fields(at, end):  # what may follow: a duration and a name for display
            if number == 4:
                raise WireError("events of a line in two places", at)

    def _begins(self, raw: bytes, at: int, end: int) -> Integers:
        """Where the events of a piece begin, and behind the last whole one.

        The chain of lengths can only be followed one by one: this loop is all that is done for each event.
        """
        found, i, size = [0], 0, len(raw)
        add = found.append
        while i < size and raw[i] == _EVENT_TAG:
            if i + 6 >= size and at + size < end:
                break
            length, j = raw[i + 1], i + 2
            if length >= 0x80:
                length, j = varint(raw, i + 1, size)
            i = j + length
            if i > size:
                break
            add(i)
        if len(found) == 1 or (i > size and at + size >= end):
            raise WireError("an event that is longer than its line", found[-1])
        return np.asarray(found, np.int64)

    def _add(self, table: _NameTable, line_ns: int, piece: tuple[Any, Integers, int], lane: int, device: int) -> None:
        data, begins, at = piece
        try:
            heads = xlines.heads(data, begins)
            kinds = table.kinds(heads.metadata)
            keep = kinds != _IGNORED
            chosen = xlines.decode(data, heads, keep)
            stats = xlines.stat_numbers(data, chosen, np.asarray(list(table.wanted), np.int64))
        except xlines.IrregularError as error:
            raise WireError("an event that is written in an unusual order", at) from error
        kind, scope, link = table.resolve(chosen.metadata, kinds[keep], stats)
        good = (kind != _IGNORED) & (chosen.offset_ps >= 0) & (chosen.duration_ps >= 0)
        # Rounded from picoseconds once, so that sums stay what the file says.
        start = line_ns + (chosen.offset_ps + 500) // 1000
        end = line_ns + (chosen.offset_ps + chosen.duration_ps + 500) // 1000
        dur = np.where(table.is_gpu, (chosen.duration_ps + 500) // 1000, np.maximum(end - start, 0))
        names = table.names(chosen.metadata)
        size = int(good.sum())
        self.trace.add(
            kind=kind[good], name=names[good], start=start[good], dur=dur[good], device=np.full(size, device),
            lane=np.full(size, lane), link=link[good], scope=scope[good],
        )  # fmt: skip

    def _close(self, planes: list[_Plane]) -> None:
        hosts, problems = [], []
        for number, value in self._fields(0, len(self.data)):
            if number == 4:
                hosts.append(self._text(value))
            elif number in (2, 3):
                problems.append(self._text(value))
        self.trace.zero_ns = self._start_ns
        self.trace.facts = {"host": hosts[0] if hosts else None, "devices": self._devices, "planes": len(planes)}
        for problem in problems:
            match = re.search(r"(\d+)[^.]*\bdropped", problem)
            self.trace.dropped += int(match[1]) if match else 0
            self.trace.health.append(Health("trace-maker", "warning", f"{self.path.name} says: {problem[:300]}"))


def _span(value: int | Span) -> Span:
    """The place of a field that must hold bytes."""
    if isinstance(value, tuple):
        return value
    raise WireError("a number where a message or a text was to be", 0)


class _NameTable:
    """Names, kinds and stats of a plane, as arrays over the numbers of its metadata."""

    def __init__(self, trace: Trace, plane: _Plane, is_gpu: bool) -> None:
        self.is_gpu = is_gpu
        self._trace = trace
        self._plane = plane
        numbers = np.asarray(sorted(plane.names), np.int64)
        self._numbers = numbers
        texts = [plane.names[number] for number in numbers.tolist()]
        self._names = np.asarray([trace.names.number(text) for text in texts] or [NONE], np.int32)
        judge: Callable[[str], int] = _gpu_kind if is_gpu else _host_kind
        self._kinds = np.asarray([judge(text) for text in texts] or [_IGNORED], np.int64)
        self.wanted = {number: name for number, name in plane.stats.items() if name in _WANTED}

    def _index(self, metadata: Integers) -> tuple[Integers, npt.NDArray[np.bool_]]:
        at = np.minimum(np.searchsorted(self._numbers, metadata), max(0, len(self._numbers) - 1))
        known = self._numbers[at] == metadata if len(self._numbers) else np.zeros(len(metadata), bool)
        return at.astype(np.int64), known

    def kinds(self, metadata: Integers) -> Integers:
        """The kind of each event, by its name."""
        at, known = self._index(metadata)
        return np.where(known, self._kinds[at], _IGNORED)

    def names(self, metadata: Integers) -> Integers:
        """The number of each event's name in the trace."""
        return self._names[self._index(metadata)[0]].astype(np.int64)

    def resolve(self, metadata: Integers, kinds: Integers, stats: dict[int, Integers]) -> tuple[Any, Any, Any]:
        """Kind, scope and link of events whose kind depends on their stats as well."""
        by_name = {name: stats[number] for number, name in self.wanted.items()}
        size = len(metadata)
        link = by_name.get("correlation_id", np.full(size, NONE, np.int64))
        scope = np.full(size, NONE, np.int64)
        op = by_name.get("hlo_op")
        if op is not None:
            self._scopes(scope, (op, by_name.get("hlo_module"), by_name.get("program_id"), by_name.get("name")), "hlo")
        for name in ("tf_op", "annotation"):
            column = by_name.get(name)
            if column is not None and self.is_gpu:
                self._scopes(scope, (column,), "tf")
        kind = kinds.copy()
        if op is not None and not self.is_gpu:
            # On the host an event with `hlo_op` is an executed instruction, whatever its name.
            kind = np.where(op >= 0, int(Kind.OPERATOR), kind)
            runtime = (op >= 0) & (link >= 0)
            kind = np.where(runtime, int(Kind.RUNTIME), kind)
            run = by_name.get("run_id")
            if run is not None:
                link = np.where(kind == Kind.OPERATOR, run, link)
        return np.where(kind == _MAYBE, _IGNORED, kind), scope, link

    def _scopes(self, scope: Integers, columns: tuple[Integers | None, ...], prefix: str) -> None:
        rows = np.flatnonzero((columns[0] >= 0) & (scope == NONE)) if columns[0] is not None else ()
        if not len(rows):
            return
        values = [np.full(len(rows), NONE) if column is None else column[rows] for column in columns]
        inverse = first = np.zeros(len(rows), np.int64)
        for column in values:
            unique, number = np.unique(column, return_inverse=True)
            _, first, inverse = np.unique(inverse * len(unique) + number, return_index=True, return_inverse=True)
        texts = [self._scope_text([int(column[at]) for column in values], prefix) for at in first.tolist()]
        numbers = np.asarray([NONE if t is None else self._trace.scopes.number(t) for t in texts], np.int64)
        scope[rows] = numbers[inverse]

    def _scope_text(self, row: list[int], prefix: str) -> str | None:
        texts = self._plane.stats
        if prefix == "hlo":
            op, module, program, path = row
            return "\t".join(("hlo", texts.get(op, ""), texts.get(module, ""), str(program), texts.get(path, "")))
        text = texts.get(row[0], "")
        return f"tf\t{text}" if text and text != "XlaModule:" else None


_MAYBE = 98
"""An event of the host that counts only if it has the stat `hlo_op`."""


def _gpu_kind(name: str) -> int:
    return Kind.TRANSFER if _COPIES.match(name) else Kind.KERNEL


_BY_PREFIX: tuple[tuple[tuple[str, ...], int], ...] = (
    (("end: ", "ThreadpoolListener"), _IGNORED),
    (_FETCH, Kind.INPUT),
    (_WAITS, Kind.WAIT),
    (_WORK, Kind.RUNTIME),
)


def _host_kind(name: str) -> int:
    for prefixes, kind in _BY_PREFIX:
        if name.startswith(prefixes):
            return kind
    if _LAUNCH.match(name):
        return Kind.RUNTIME
    if _EAGER.match(name):
        return Kind.OPERATOR
    return Kind.OPERATOR if _OPERATOR.match(name) and "::" not in name else _MAYBE
