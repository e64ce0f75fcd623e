"""Reads the SQLite files of nvprof and Nsight Systems: kernels, copies, API calls and NVTX ranges."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self

from dlprof.ingest.artifact import ArtifactError, Health
from dlprof.ingest.formats.registry import Sample
from dlprof.ingest.kernels.trace import CPU, NONE, Foreign, Kind, Lane, Trace

_MAGIC = b"SQLite format 3\x00"
_ROWS = 200_000
_NVTX_RANGES = (59, 60)
"""Event types of ranges: pushed and popped, started and ended. The others are marks and names."""
_COPY_NAMES = {1: "HtoD", 2: "DtoH", 3: "HtoA", 4: "AtoH", 5: "AtoA", 6: "AtoD", 7: "DtoA", 8: "DtoD", 10: "PtoP"}

_RUNTIME_CALLS = {
    10: "cudaGetLastError", 13: "cudaLaunch", 16: "cudaSetDevice", 17: "cudaGetDevice", 20: "cudaMalloc",
    22: "cudaFree", 31: "cudaMemcpy", 41: "cudaMemcpyAsync", 51: "cudaMemsetAsync", 131: "cudaStreamSynchronize",
    135: "cudaEventRecord", 137: "cudaEventSynchronize", 165: "cudaDeviceSynchronize", 211: "cudaLaunchKernel",
}  # fmt: skip
"""Names of callback numbers of the CUDA runtime (cupti_runtime_cbid.h), as far as they matter here."""


def claims_nsys(sample: Sample) -> bool:
    """Whether the file is an SQLite export of Nsight Systems."""
    return sample.head.startswith(_MAGIC) and _has_table(sample.path, ("StringIds", "TARGET_INFO_SESSION_START_TIME"))


def claims_nvprof(sample: Sample) -> bool:
    """Whether the file is a database of nvprof."""
    return sample.head.startswith(_MAGIC) and _has_table(sample.path, ("StringTable", "CUPTI_ACTIVITY_KIND_DRIVER"))


def _has_table(path: Path, names: Sequence[str]) -> bool:
    try:
        with _Database(path) as database:
            return any(name in database.tables for name in names)
    except ArtifactError:
        return False


class _Database:
    """An SQLite file, opened for reading only; a column that a version lacks reads as null."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tables: dict[str, tuple[str, ...]] = {}
        self._connection: sqlite3.Connection | None = None

    def __enter__(self) -> Self:
        try:
            self._connection = sqlite3.connect(f"{self.path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)
            self._connection.text_factory = lambda data: data.decode("utf-8", "replace")
            names = [r[0] for r in self._connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            for name in names:
                columns = self._connection.execute(f"PRAGMA table_info({_quoted(name)})")
                self.tables[name] = tuple(row[1] for row in columns)
        except (sqlite3.Error, ValueError) as error:
            self.__exit__()
            raise ArtifactError(f"no readable SQLite file: {error}", path=self.path, offset=0) from error
        return self

    def __exit__(self, *_: object) -> None:
        if self._connection is not None:
            self._connection.close()

    def rows(self, table: str, columns: Sequence[str]) -> Iterator[list[tuple[Any, ...]]]:
        """The rows of a table, many at a time; none if there is no such table."""
        known = self.tables.get(table)
        if known is None or self._connection is None:
            return
        wanted = ", ".join(_quoted(name) if name in known else f"NULL AS {_quoted(name)}" for name in columns)
        try:
            cursor = self._connection.execute(f"SELECT {wanted} FROM {_quoted(table)}")
            while rows := cursor.fetchmany(_ROWS):
                yield rows
        except (sqlite3.Error, OverflowError, ValueError) as error:
            raise ArtifactError(f"table {table}: {error}", path=self.path) from error

    def all(self, table: str, columns: Sequence[str]) -> list[tuple[Any, ...]]:
        """All rows of a small table."""
        return [row for rows in self.rows(table, columns) for row in rows]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def read_nsys(path: Path) -> Foreign:
    """An SQLite export of Nsight Systems; schema versions 2 and 3 were tried.

    Raises:
        ArtifactError: The file is damaged.
    """
    with _Database(path) as database:
        trace = Trace(path, "nsys", "cuda")
        start = database.all("TARGET_INFO_SESSION_START_TIME", ("utcEpochNs",))
        zero = start[0][0] if start else None
        trace.zero_ns = zero if isinstance(zero, int) and 0 <= zero < 2**62 else None
        work = _Cuda(trace, dict(database.all("StringIds", ("id", "value"))))
        work.thread_names(database.all("ThreadNames", ("globalTid", "nameId")))
        work.kernels(
            database.rows(
                "CUPTI_ACTIVITY_KIND_KERNEL",
                ("start", "end", "deviceId", "streamId", "correlationId", "demangledName", "shortName"),
            )
        )
        for table, what in (("CUPTI_ACTIVITY_KIND_MEMCPY", "memcpy"), ("CUPTI_ACTIVITY_KIND_MEMSET", "memset")):
            columns = ("start", "end", "deviceId", "streamId", "correlationId", "bytes", "copyKind")
            work.copies(database.rows(table, columns), what)
        runtime = ("start", "end", "globalTid", "correlationId", "nameId", "eventClass")
        work.calls(database.rows("CUPTI_ACTIVITY_KIND_RUNTIME", runtime))
        for rows in database.rows("NVTX_EVENTS", ("start", "end", "eventType", "text", "textId", "globalTid")):
            work.ranges([(s, e, tid, str(text or work.text(text_id))) for s, e, kind, text, text_id, tid in rows
                         if kind in _NVTX_RANGES and e is not None])  # fmt: skip
        _facts_of_nsys(database, trace)
        work.close()
    return Foreign("nsys", trace, facts=trace.facts, health=trace.health)


def _facts_of_nsys(database: _Database, trace: Trace) -> None:
    exported = dict(database.all("META_DATA_EXPORT", ("name", "value")))
    exported.update(database.all("EXPORT_META_DATA", ("name", "value")))
    gpus = database.all("TARGET_INFO_GPU", ("id", "name"))
    trace.facts = {
        "devices": [{"device": number, "name": name} for number, name in gpus if isinstance(number, int)],
        "host": exported.get("EXPORT_HOST"),
        "product_version": exported.get("EXPORT_PRODUCT_VERSION"),
        "schema_version": exported.get("EXPORT_SCHEMA_VERSION"),
    }


def read_nvprof(path: Path) -> Foreign:
    """A database of nvprof (`nvprof -o FILE`).

    Raises:
        ArtifactError: The file is damaged.
    """
    with _Database(path) as database:
        trace = Trace(path, "nvprof", "cuda", zero_ns=0)
        work = _Cuda(trace, dict(database.all("StringTable", ("_id_", "value"))))
        columns = ("start", "end", "deviceId", "streamId", "correlationId", "name", "name")
        for table in ("CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL", "CUPTI_ACTIVITY_KIND_KERNEL"):
            work.kernels(database.rows(table, columns))
        for table, what in (("CUPTI_ACTIVITY_KIND_MEMCPY", "memcpy"), ("CUPTI_ACTIVITY_KIND_MEMSET", "memset")):
            copies = ("start", "end", "deviceId", "streamId", "correlationId", "bytes", "copyKind")
            work.copies(database.rows(table, copies), what)
        for table, prefix in (("CUPTI_ACTIVITY_KIND_RUNTIME", "runtime"), ("CUPTI_ACTIVITY_KIND_DRIVER", "driver")):
            for rows in database.rows(table, ("start", "end", "threadId", "correlationId", "cbid")):
                work.calls([[(s, e, tid, link, _api(prefix, cbid), None) for s, e, tid, link, cbid in rows]])
        markers = database.rows("CUPTI_ACTIVITY_KIND_MARKER", ("timestamp", "id", "name", "objectId", "flags"))
        work.ranges(_paired(markers, work))
        devices = database.all("CUPTI_ACTIVITY_KIND_DEVICE", ("id", "name"))
        named = [{"device": number, "name": work.text(name)} for number, name in devices if isinstance(number, int)]
        trace.facts = {"devices": named}
        work.close()
    return Foreign("nvprof", trace, facts=trace.facts, health=trace.health)


def _api(prefix: str, cbid: Any) -> str:
    return (_RUNTIME_CALLS.get(cbid) if prefix == "runtime" else None) or f"CUDA {prefix} call {cbid}"


def _paired(batches: Iterator[list[tuple[Any, ...]]], work: _Cuda) -> list[tuple[int, int, int, str]]:
    """Markers of nvprof as ranges: a begin has a name, the end with the same id has none."""
    open_: dict[int, tuple[int, int, str]] = {}
    found = []
    for rows in batches:
        for time, number, name, owner, _flags in rows:
            begun = open_.pop(number, None)
            if begun is not None:
                found.append((begun[0], time, begun[1], begun[2]))
            else:
                open_[number] = (time, _thread_of(owner), work.text(name))
    return found


def _thread_of(owner: Any) -> int:
    """The thread in the object identifier of a marker: the number after that of the process."""
    return int.from_bytes(owner[4:8], "little") if isinstance(owner, bytes) and len(owner) >= 8 else 0


class _Cuda:
    """Turns rows of either tool into columns."""

    def __init__(self, trace: Trace, strings: dict[Any, Any]) -> None:
        self.trace = trace
        self._strings = strings
        self._odd = 0

    def text(self, number: Any) -> str:
        """A string of the file by its number."""
        return str(self._strings.get(number, number if number is not None else ""))

    def thread_names(self, rows: list[tuple[Any, ...]]) -> None:
        """Remember the names of threads."""
        for thread, name in rows:
            self._thread(thread, self.text(name))

    def _thread(self, thread: Any, name: str | None = None) -> int:
        number = thread if isinstance(thread, int) else 0
        # Nsight Systems packs host, process and thread into one number; the low 24 bits are the thread.
        process, low = (number >> 24) & 0xFFFFFF, number & 0xFFFFFF if number > 2**40 else number
        return self.trace.lane(("thread", thread), Lane(process if number > 2**40 else 0, low, name or str(low)))

    def _stream(self, device: int, stream: Any) -> int:
        number = stream if isinstance(stream, int) else 0
        return self.trace.lane(("stream", device, stream), Lane(0, number, f"stream {stream}", device))

    def kernels(self, batches: Iterator[list[tuple[Any, ...]]]) -> None:
        """Add kernels: (start, end, device, stream, correlation, name, short name)."""
        for rows in batches:
            self._add(Kind.KERNEL, [
                (start, end, device, self._stream(device, stream), link, self.text(name), None)
                for start, end, device, stream, link, name, _short in self._good(rows)
            ])  # fmt: skip

    def copies(self, batches: Iterator[list[tuple[Any, ...]]], what: str) -> None:
        """Add copies or memsets: (start, end, device, stream, correlation, bytes, kind)."""
        for rows in batches:
            self._add(Kind.TRANSFER, [
                (start, end, device, self._stream(device, stream), link,
                 f"{what} {_COPY_NAMES.get(way, way)}" if what == "memcpy" else what,
                 f"bytes={size}" if isinstance(size, int) else None)
                for start, end, device, stream, link, size, way in self._good(rows)
            ])  # fmt: skip

    def calls(self, batches: Iterator[list[tuple[Any, ...]]] | list[list[tuple[Any, ...]]]) -> None:
        """Add calls of the CUDA API: (start, end, thread, correlation, name, class)."""
        for rows in batches:
            found = [
                (start, end, CPU, self._thread(thread), link, self.text(name), None)
                for start, end, thread, link, name, _class in self._good(rows)
            ]
            waits = [row for row in found if "ynchronize" in row[5]]
            self._add(Kind.WAIT, waits)
            self._add(Kind.RUNTIME, [row for row in found if "ynchronize" not in row[5]])

    def ranges(self, rows: list[tuple[Any, Any, Any, str]]) -> None:
        """Add NVTX ranges: (start, end, thread, name)."""
        self._add(Kind.ANNOTATION, [
            (start, end, CPU, self._thread(thread), NONE, name, None)
            for start, end, thread, name in self._good(rows)
        ])  # fmt: skip

    def _good(self, rows: list[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
        """The rows whose times make sense."""
        for row in rows:
            if type(row[0]) is int and type(row[1]) is int and 0 <= row[0] <= row[1] < 2**62:
                yield row
            else:
                self._odd += 1

    def _add(self, kind: Kind, rows: list[tuple[Any, ...]]) -> None:
        if not rows:
            return
        start, end, device, lane, link, names, scopes = zip(*rows, strict=True)
        number, scope = self.trace.names.number, self.trace.scopes.number
        self.trace.add(
            kind=[kind] * len(rows), name=[number(name) for name in names], start=start,
            dur=[e - s for s, e in zip(start, end, strict=True)],
            device=[d if isinstance(d, int) else 0 for d in device], lane=lane,
            link=[value if isinstance(value, int) and value else NONE for value in link],
            scope=[NONE if text is None else scope(text) for text in scopes],
        )  # fmt: skip

    def close(self) -> None:
        """Say what was left out."""
        if self._odd:
            with contextlib.suppress(TypeError):
                text = f"{self._odd} rows of {self.trace.path.name} have no sensible times and were passed over."
                self.trace.health.append(Health("trace-malformed", "warning", text, self._odd))
            self.trace.dropped += self._odd
