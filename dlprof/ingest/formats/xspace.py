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
from pathlib import Path
from typing import IO, Any

import numpy as np

from dlprof.ingest.artifact import ArtifactError
from dlprof.ingest.formats.base import FileContent, Reader, Sample
from dlprof.ingest.kernels.events import CPU
from dlprof.ingest.kernels.trace import Lane, Trace
from dlprof.ingest.parse import xlines
from dlprof.ingest.parse.protowire import WireError, fields
from dlprof.ingest.parse.protowire import field as field_at
from dlprof.ingest.parse.xnames import IGNORED, NameTable
from dlprof.ingest.parse.xplane import Line, Piece, Plane, SpaceBytes, SpaceHead

_GPU = re.compile(r"^/device:(?:GPU|TPU|CUSTOM):(?:.*?:)?(\d+)")
_STREAM = re.compile(r"^Stream #(\d+)")
_HOST = "/host:CPU"
_DROPPED = re.compile(r"(\d+)[^.]*\bdropped")
BYTES_AT_MOST = 2 << 30
"""What a protocol buffer can hold."""


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


def read(path: Path) -> FileContent:
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


def _mapped(path: Path, source: IO[bytes]) -> FileContent:
    if source.seek(0, os.SEEK_END) == 0:
        text = "the file is empty: a profiler leaves one when the trace is larger than 2 GB"
        raise ArtifactError(text, path=path, offset=0)
    with mmap.mmap(source.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        return _Reading(path, mapped).read()


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


class _Reading:
    """One file."""

    def __init__(self, path: Path, data: Any) -> None:
        self._bytes = SpaceBytes(data)
        self._trace = Trace(path, "xspace", "tensorflow", attribution="path")

    def read(self) -> FileContent:
        """All planes."""
        try:
            head = self._bytes.head()
            for plane in head.planes:
                self._add_programs(plane)
            for plane in head.planes:
                self._add_events(plane)
        except WireError as error:
            raise ArtifactError(f"damaged: {error}", path=self._trace.path, offset=error.offset) from error
        self._tell(head)
        return FileContent.of(self._trace)

    def _add_programs(self, plane: Plane) -> None:
        """The compiled programs, which stand in a plane of metadata."""
        if "metadata" not in plane.name:
            return
        self._trace.engine, self._trace.attribution = "xla", "program"
        self._trace.programs.update(self._bytes.programs(plane))

    def _add_events(self, plane: Plane) -> None:
        gpu = _GPU.match(plane.name)
        if not plane.lines or not (gpu or plane.name.startswith(_HOST)):
            return
        names = NameTable(self._trace, plane, is_gpu=gpu is not None)
        for span in plane.lines:
            line = self._bytes.line(span)
            if gpu and not _STREAM.match(line.name):
                continue
            lane = self._lane(plane, line, int(gpu[1]) if gpu else CPU)
            for piece in self._bytes.pieces(line):
                self._add_piece(names, line.timestamp_ns, piece, lane)

    def _lane(self, plane: Plane, line: Line, device: int) -> int:
        stream = _STREAM.match(line.name)
        thread, name = (int(stream[1]), f"stream {stream[1]}") if stream else (line.number % 2**62, line.name)
        return self._trace.lane((plane.name, line.number, line.name), Lane(0, thread, name, device))

    def _add_piece(self, names: NameTable, line_ns: int, piece: Piece, lane: int) -> None:
        try:
            heads = xlines.heads(piece.data, piece.begins)
            kinds = names.kinds(heads.metadata)
            keep = kinds != IGNORED
            events = xlines.decode(piece.data, heads, keep)
            stats = xlines.stat_numbers(piece.data, events, np.asarray(list(names.wanted), np.int64))
        except xlines.IrregularError as error:
            raise WireError("an event that is written in an unusual order", piece.at) from error
        told = names.resolve(events.metadata, kinds[keep], stats)
        good = (told.kind != IGNORED) & (events.offset_ps >= 0) & (events.duration_ps >= 0)
        # Rounded from picoseconds once, so that sums stay what the file says.
        start = line_ns + (events.offset_ps + 500) // 1000
        end = line_ns + (events.offset_ps + events.duration_ps + 500) // 1000
        dur = np.where(names.is_gpu, (events.duration_ps + 500) // 1000, np.maximum(end - start, 0))
        number, size = names.names(events.metadata), int(good.sum())
        device = self._trace.lanes[lane].device
        self._trace.add(
            kind=told.kind[good],
            name=number[good],
            start=start[good],
            dur=dur[good],
            device=np.full(size, device),
            lane=np.full(size, lane),
            link=told.link[good],
            scope=told.scope[good],
        )

    def _tell(self, head: SpaceHead) -> None:
        """What the file says of itself."""
        starts = [plane.own.get("profile_start_time") for plane in head.planes]
        for start in starts:
            if isinstance(start, int) and 0 <= start < 2**62:
                self._trace.zero_ns = start
        devices = [_device(plane, int(gpu[1])) for plane in head.planes if (gpu := _GPU.match(plane.name))]
        host = head.hosts[0] if head.hosts else None
        self._trace.facts = {"host": host, "devices": devices, "planes": len(head.planes)}
        for problem in head.problems:
            match = _DROPPED.search(problem)
            self._trace.dropped += int(match[1]) if match else 0
            self._trace.tell("trace-maker", "warning", f"{self._trace.path.name} says: {problem[:300]}")


def _device(plane: Plane, number: int) -> dict[str, Any]:
    vendor = plane.own.get("device_vendor")
    return {"device": number, "name": vendor if isinstance(vendor, str) else None}


READER = Reader("xspace", "TensorFlow or JAX profiler (.xplane.pb)", claims, read)
