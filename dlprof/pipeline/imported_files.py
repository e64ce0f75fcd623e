"""The tables and the manifest of a run that is made of foreign files."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from dlprof.analysis import trace_processes
from dlprof.ingest.artifact import Health, ProcessId, Skipped, told
from dlprof.ingest.formats import alignment
from dlprof.ingest.formats.base import FileContent
from dlprof.ingest.kernels import python_time
from dlprof.ingest.kernels.assemble import Assembly
from dlprof.ingest.kernels.context import TraceContext
from dlprof.ingest.kernels.trace import Trace
from dlprof.ingest.kernels.windows import KernelWindow, windows_table
from dlprof.pipeline import table_columns, trace_structure
from dlprof.pipeline.run_tables import RunTables
from dlprof.rundir import RunDir
from dlprof.schema import manifest as manifests
from dlprof.schema.manifest import Gpu, Manifest
from dlprof.schema.tables import SCHEMA_VERSION, TIMELESS
from dlprof.schema.vocabulary import RunState
from dlprof.store.writer import RowWriter
from dlprof.version import __version__


class ImportedFiles:
    """Puts foreign files on one timeline, and stores them.

    Args:
        folder: The run folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process = ProcessId(platform.node(), 0, 0, 0)
        self._tables = RunTables()
        self._sources: list[dict[str, Any]] = []
        self._windows: list[KernelWindow] = []
        self._events = RowWriter(folder / "tables", "kernel_events")
        self._assembly = Assembly(sink=self._events.write)
        self._gpus: dict[int, Gpu] = {}
        self._end_ns = 0
        self._origin_ns: int | None = None

    def add(self, paths: Sequence[Path], files: Sequence[FileContent]) -> None:
        """Put all files on one timeline, and take in their events and tables."""
        shifts, self._origin_ns, health = alignment.shifts(list(files))
        self._tables.health.extend(health)
        self._tables.health.extend(_alike(paths, files))
        for number, (path, content, shift) in enumerate(zip(paths, files, shifts, strict=True)):
            facts = {**content.facts, **_functions(content.trace)}  # the trace is given up below
            if content.trace is not None:
                self._add_trace(number, content.trace, content.facts, shift)
            else:
                self._tables.health.extend(content.health)
            self._add_tables(content.tables, shift)
            self._add_skipped(path.name, content.skipped)
            self._add_gpus(content.facts)
            self._sources.append(
                {
                    "file": _told(path, content.facts),
                    "format": content.format,
                    "shift_ns": shift,
                    "events": content.trace.size if content.trace is not None and content.trace.sums is None else None,
                    "facts": json.dumps(facts, default=str),
                }
            )

    def _add_trace(self, number: int, trace: Trace, facts: Mapping[str, Any], shift: int) -> None:
        process = self._process.as_told(facts)
        start, end = self._assembly.add(trace, TraceContext(process, shift, number))
        self._end_ns = max(self._end_ns, end)
        source = _told(trace.path, facts)
        self._windows.append(
            KernelWindow(process, number, trace.engine, source, start, end - start, dropped=trace.dropped)
        )

    def _add_skipped(self, file: str, skipped: Sequence[Skipped]) -> None:
        if not skipped:
            return
        self._tables.skip(file, skipped)
        events = sum(one.events for one in skipped)
        text = f"{events:,} events of {file} were not read: {told(skipped)}."
        self._tables.health.append(Health("events-skipped", "info", text, events))

    def _add_tables(self, tables: Mapping[str, pa.Table], shift: int) -> None:
        frames = self._tables.get("frames")
        stacks = max(frames["stack_id"].to_pylist(), default=-1) + 1 if frames is not None else 0
        for name, table in tables.items():
            placed = table_columns.with_process(name, table, self._process)
            if name not in TIMELESS:
                placed = table_columns.shifted(placed, shift)
                self._end_ns = max(self._end_ns, table_columns.end_ns(placed))
            self._tables.append(name, table_columns.renumbered_stacks(placed, stacks))

    def _add_gpus(self, facts: Mapping[str, Any]) -> None:
        for gpu in facts.get("devices") or facts.get("gpus") or ():
            if isinstance(gpu, dict) and (gpu.get("name") or gpu.get("kind")):
                number, name = int(gpu.get("device", gpu.get("gpu", 0)) or 0), gpu.get("name")
                made = Gpu(gpu=number, name=str(name) if name else None, kind=str(gpu.get("kind") or "gpu"))
                self._gpus.setdefault(number, made)

    def store(self, now: datetime) -> None:
        """Write all that is left to write.

        Raises:
            CannotCreateError: The folder cannot be written to.
        """
        self._events.close()
        self._tables.put(self._assembly.tables())
        self._tables.put({"kernel_windows": windows_table(self._windows)})
        self._tables.put_rows("sources", self._sources)
        self._tables.health.extend(self._assembly.health)
        folder, manifest = RunDir(self._folder), self._manifest(now)
        found = trace_structure.add(self._tables, folder, manifest)
        if found is not None:
            source = self._sources[found.place.window]
            source["facts"] = json.dumps({**json.loads(source["facts"]), "steps": found.how})
            self._tables.put_rows("sources", self._sources)
        self._tables.write(self._folder / "tables")
        folder.write_manifest(manifest)

    def _manifest(self, now: datetime) -> Manifest:
        recorded = datetime.fromtimestamp(self._origin_ns / 1e9, UTC).isoformat() if self._origin_ns else None
        return Manifest(
            dlprof_version=__version__,
            state=RunState.IMPORTED,
            created=now.isoformat(timespec="seconds"),
            recorded=recorded,
            machine=manifests.Machine(host=self._process.host),
            clock=manifests.Clock(origin_wall_ns=self._origin_ns),
            process=manifests.Process(wall_ns=self._end_ns or None),
            gpus=tuple(gpu for _, gpu in sorted(self._gpus.items())),
            tables_version=SCHEMA_VERSION,
        )


def _told(path: Path, facts: Mapping[str, Any]) -> str:
    """The name of a file; of one that holds several processes, with which of them."""
    if facts.get("pid") is None:
        return path.name
    return f"{path.name} ({trace_processes.named(facts)})"


def _functions(trace: Trace | None) -> dict[str, Any]:
    """What a trace tells of functions of Python, as facts of its file; empty: nothing."""
    found = python_time.longest(trace) if trace is not None and trace.sums is None else []
    return {"python_functions": found} if found else {}


def _alike(paths: Sequence[Path], files: Sequence[FileContent]) -> list[Health]:
    """What is to be said of files with as many events in the same time, such as one that is there packed, too."""
    seen: dict[tuple[Any, ...], Path] = {}
    said = []
    for path, content in zip(paths, files, strict=True):
        trace = content.trace
        if trace is None or not trace.size:
            continue
        told = (content.format, trace.size, trace.first_ns, trace.last_ns, content.facts.get("pid"))
        first = seen.setdefault(told, path)
        if first != path:
            text = f"{path.name} seems to hold the same events as {first.name}: if so, their work is counted twice."
            said.append(Health("trace-alike", "warning", text))
    return said
