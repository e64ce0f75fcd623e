"""Makes a run folder of foreign traces: joins readers, attribution and store."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from dlprof import __version__, rundir
from dlprof.errors import CannotCreateError, UsageError
from dlprof.ingest.artifact import Health, ProcessId
from dlprof.ingest.formats import alignment
from dlprof.ingest.formats import registry as formats
from dlprof.ingest.formats.base import FileContent, Reader
from dlprof.ingest.kernels.assemble import Assembly
from dlprof.ingest.kernels.context import TraceContext
from dlprof.ingest.kernels.windows import KernelWindow, windows_table
from dlprof.rundir import RunDir, writing_into
from dlprof.schema import manifest as manifests
from dlprof.schema.manifest import Manifest
from dlprof.schema.tables import SCHEMA_VERSION, TABLES
from dlprof.schema.vocabulary import RunState
from dlprof.store.run import Run
from dlprof.store.writer import RowWriter, write_tables

Report = Callable[[str], None]
_TIMES = ("start_ns", "time_ns")


def import_files(paths: Sequence[Path], output: Path | None, *, reader: str | None, report: Report) -> Run:
    """Read foreign traces into a new run folder, on one time line.

    The folder appears when all is done: nothing of it is left when a file cannot be read.

    Args:
        paths: The files.
        output: The run folder; None: a new one below `dlprof_runs/`.
        reader: Name of the format of all files; None: told from their content.
        report: Takes a line for the user about each file.

    Raises:
        NoInputError: A file does not exist.
        ArtifactError: One is damaged or of no known format.
        CannotCreateError: The folder exists and is not empty, or cannot be written.
        UsageError: There is no such format.
    """
    _check(output)
    readers = [_named(reader) if reader else formats.find(path) for path in paths]
    files = []
    for path, found in zip(paths, readers, strict=True):
        foreign = formats.read(path, found)
        files.append(foreign)
        report(f"{path.name}: {found.title}, {_size(foreign)}")
    now = datetime.now().astimezone()
    name = f"{now:%Y%m%d-%H%M%S}-{paths[0].name.split('.')[0] or 'trace'}"
    with _folder(output or Path(rundir.RUNS_FOLDER) / name) as part:
        work = _Import(part)
        work.add(list(paths), files)
        work.store(now)
        folder = _place(part, output or Path(rundir.RUNS_FOLDER) / name, chosen=output is not None)
    return Run(folder, folder.read_manifest())


@contextlib.contextmanager
def _folder(wanted: Path) -> Iterator[Path]:
    """A folder beside the one that is wanted; removed if anything goes wrong."""
    parent = wanted.absolute().parent
    with writing_into(parent):
        parent.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(prefix=f".{wanted.name}.", dir=parent))
    try:
        with writing_into(part):
            part.chmod(0o777 & ~_umask())
            (part / "raw").mkdir()
        yield part
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise


def _place(part: Path, wanted: Path, *, chosen: bool) -> RunDir:
    """Give the folder its name; one that dlprof chose itself gets a number where it is taken."""
    number, name = 1, wanted.name
    while not chosen and wanted.exists():
        number += 1
        wanted = wanted.with_name(f"{name}-{number}")
    with writing_into(wanted.parent):
        part.replace(wanted)
    return RunDir(wanted.absolute())


def _check(output: Path | None) -> None:
    if output is not None and output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise CannotCreateError(
            f"The output folder {output} exists and is not empty.", hint="choose another with -o DIR, or remove it"
        )


def _named(name: str) -> Reader:
    reader = formats.named(name)
    if reader is not None:
        return reader
    known = ", ".join(reader.name for reader in formats.all_readers())
    raise UsageError(f"There is no format {name}.", hint=f"one of: {known}")


def _size(foreign: FileContent) -> str:
    if foreign.trace is not None:
        sums = foreign.trace.sums
        return f"{len(sums):,} sums" if sums is not None else f"{foreign.trace.size:,} events"
    return ", ".join(f"{table.num_rows:,} rows of {name}" for name, table in foreign.tables.items()) or "nothing"


class _Import:
    """The tables and the manifest of a run that is made of foreign files."""

    def __init__(self, part: Path) -> None:
        self._part = part
        self._who = ProcessId(platform.node(), 0, 0, 0)
        self._tables: dict[str, pa.Table] = {}
        self._health: list[Health] = []
        self._sources: list[dict[str, Any]] = []
        self._windows: list[KernelWindow] = []
        self._events = RowWriter(part / "tables", "kernel_events")
        self._assembly = Assembly(sink=self._events.write)
        self._gpus: dict[int, str] = {}
        self._end_ns = 0
        self._origin_ns: int | None = None

    def add(self, paths: list[Path], files: list[FileContent]) -> None:
        """Put all files on one time line, and take in their events and tables."""
        shifts, self._origin_ns, health = alignment.shifts(files)
        self._health.extend(health)
        for number, (path, foreign, shift) in enumerate(zip(paths, files, shifts, strict=True)):
            events = foreign.trace.size if foreign.trace is not None else None
            if foreign.trace is not None:
                self._trace(number, foreign, shift)
            else:
                self._health.extend(foreign.health)
            self._foreign_tables(foreign, shift)
            for gpu in foreign.facts.get("devices") or foreign.facts.get("gpus") or ():
                if isinstance(gpu, dict) and gpu.get("name"):
                    self._gpus.setdefault(int(gpu.get("device", gpu.get("gpu", 0)) or 0), str(gpu["name"]))
            self._sources.append({
                "file": path.name, "format": foreign.format, "events": events, "shift_ns": shift,
                "facts": json.dumps(foreign.facts, default=str),
            })  # fmt: skip

    def _trace(self, number: int, foreign: FileContent, shift: int) -> None:
        trace = foreign.trace
        assert trace is not None  # noqa: S101  (asked by the caller)
        process = self._who.as_told(foreign.facts)
        start, end = self._assembly.add(trace, TraceContext(process, shift, number))
        self._end_ns = max(self._end_ns, end)
        self._windows.append(
            KernelWindow(process, number, trace.engine, trace.path.name, start, end - start, dropped=trace.dropped)
        )

    def _foreign_tables(self, foreign: FileContent, shift: int) -> None:
        frames = self._tables.get("frames")
        last = max(frames["stack_id"].to_pylist(), default=-1) if frames is not None else -1
        for name, table in foreign.tables.items():
            placed = _renumbered(_shifted(_with_who(name, table, self._who), shift), last + 1)
            before = self._tables.get(name)
            self._tables[name] = placed if before is None else pa.concat_tables([before, placed]).unify_dictionaries()
            for column in _TIMES:
                if column in placed.column_names and placed.num_rows:
                    durations = placed["dur_ns"].to_pylist() if "dur_ns" in placed.column_names else None
                    ends = zip(placed[column].to_pylist(), durations or [0] * placed.num_rows, strict=True)
                    self._end_ns = max(self._end_ns, *(s + d for s, d in ends))

    def store(self, now: datetime) -> None:
        """Write all that is left to write."""
        self._events.close()
        self._tables.update(self._assembly.tables())
        self._tables["kernel_windows"] = windows_table(self._windows)
        self._tables["sources"] = pa.Table.from_pylist(self._sources, schema=TABLES["sources"])
        health = [vars(entry) for entry in [*self._health, *self._assembly.health]]
        self._tables["health"] = pa.Table.from_pylist(health, schema=TABLES["health"])
        write_tables(self._part / "tables", self._tables)
        RunDir(self._part).write_manifest(self._manifest(now))

    def _manifest(self, now: datetime) -> Manifest:
        recorded = datetime.fromtimestamp(self._origin_ns / 1e9, UTC).isoformat() if self._origin_ns else None
        return Manifest(
            dlprof_version=__version__,
            state=RunState.IMPORTED,
            created=now.isoformat(timespec="seconds"),
            recorded=recorded,
            machine=manifests.Machine(host=self._who.host),
            clock=manifests.Clock(origin_wall_ns=self._origin_ns),
            process=manifests.Process(wall_ns=self._end_ns or None),
            gpus=tuple(manifests.Gpu(gpu=number, name=name) for number, name in sorted(self._gpus.items())),
            tables_version=SCHEMA_VERSION,
        )


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _with_who(name: str, table: pa.Table, who: ProcessId) -> pa.Table:
    """The table with its process columns filled."""
    for column, value in (("host", who.host), ("rank", who.rank), ("pid", who.pid)):
        if column in table.column_names:
            kind = TABLES[name].field(column).type
            filled = pa.array([value] * table.num_rows, type=kind)
            table = table.set_column(table.column_names.index(column), TABLES[name].field(column), filled)
    return table


def _shifted(table: pa.Table, shift: int) -> pa.Table:
    for column in _TIMES:
        if shift and column in table.column_names:
            moved = [None if value is None else value + shift for value in table[column].to_pylist()]
            at = table.column_names.index(column)
            table = table.set_column(at, table.schema.field(column), pa.array(moved, table.schema.field(column).type))
    return table


def _renumbered(table: pa.Table, first: int) -> pa.Table:
    """Stacks and frames of a second file: their stacks get numbers behind those of the files before."""
    if not first or "stack_id" not in table.column_names:
        return table
    moved = [number + first for number in table["stack_id"].to_pylist()]
    at = table.column_names.index("stack_id")
    return table.set_column(at, table.schema.field("stack_id"), pa.array(moved, pa.int32()))
