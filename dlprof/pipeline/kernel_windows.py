"""The traces of kernels in a run folder, of the engine's own tracer and of tools around the process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa

from dlprof.analysis import overhead
from dlprof.ingest.own import datasets
from dlprof.launch import gpu_tracers
from dlprof.pipeline.run_tables import RunTables
from dlprof.pipeline.workspace import Workspace
from dlprof.schema.manifest import Probe
from dlprof.schema.tables import TABLES
from dlprof.schema.vocabulary import ProbeState, StreamEnd

_COLUMNS: Mapping[str, Sequence[str]] = {
    "steps": ("loop", "loop_id", "epoch", "step", "count", "start_ns", "dur_ns", "input_ns", "compiled", "samples"),
    "spans": ("detail",),
    "phase_intervals": ("phase", "start_ns", "dur_ns"),
    "metrics": ("loop_id", "epoch", "step", "time_ns"),
}
"""Columns of large tables that are looked at."""
_UNWRITTEN = (StreamEnd.DISK_FULL, StreamEnd.FILE_LIMIT, StreamEnd.UNWRITTEN)


class _Tables(Mapping[str, pa.Table]):
    """The tables so far; of large ones only columns, which are read when they are asked for."""

    def __init__(self, tables: RunTables) -> None:
        self._tables = tables

    def __getitem__(self, name: str) -> pa.Table:
        table = self._tables.get(name, _COLUMNS.get(name))
        if table is None and name in _COLUMNS:  # nobody told any: a loop without Keras may have no metrics
            return TABLES[name].empty_table().select(list(_COLUMNS[name]))
        if table is None:
            raise KeyError(name)
        return table

    def __contains__(self, name: object) -> bool:
        return name in self._tables.names()

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables.names())

    def __len__(self) -> int:
        return len(self._tables.names())


def add(run: Workspace) -> None:
    """Take in all of them; they need steps and phases."""
    folder = run.folder.raw / "kernels"
    tool_files = gpu_tracers.files(run.folder.raw)
    if folder.is_dir() or tool_files:
        from dlprof.ingest.own.windows import Windows  # noqa: PLC0415  (all readers: large, and often there is none)

        pipelines = datasets.graphs(run.stream.datasets, run.process.origin_ns, run.names) if run.stream else ()
        asynchronous = run.manifest.backend.asynchronous_dispatch
        windows = Windows(run.process, _Tables(run.tables), run.manifest.clock, pipelines, run.names, asynchronous)
        for path in sorted(folder.glob("window-[0-9][0-9][0-9].json")):
            run.read(path, windows.add)
        # Sums that an engine's own profiler keeps, and what tools around the process saw.
        for path in (*sorted(folder.glob("*-profile.json")), *tool_files):
            run.read(path, windows.add_whole_run)
        run.tables.put(windows.tables())
        if (held := windows.held()).num_rows:
            run.tables.append("memory_owners", held)
        run.tables.health.extend(windows.health)
        run.tables.skip("kernel windows", windows.skipped)
        _add_cost(run)
    _judge(run)


def _add_cost(run: Workspace) -> None:
    probe = run.probes.get("kernels") or Probe(name="kernels")
    run.probes.put(probe)
    if probe.state != ProbeState.ON or "steps" not in _Tables(run.tables):
        return
    asynchronous = run.manifest.backend.asynchronous_dispatch
    cost = overhead.of_kernels(_Tables(run.tables), probe.cost_ns, asynchronous=asynchronous)
    if cost is not None:
        run.probes.update("kernels", cost_ns=cost.ns, cost_source=cost.source)


def _judge(run: Workspace) -> None:
    """A process that was killed could not say what became of its windows."""
    probe, windows = run.probes.get("kernels"), run.tables.get("kernel_windows")
    if probe is not None and probe.state == ProbeState.ON and (windows is None or not windows.num_rows):
        failed = next((line.message for line in run.tables.health if line.slug == "kernels-failed"), None)
        state = ProbeState.UNAVAILABLE if failed is None else ProbeState.FAILED
        reason = _why_none(run) if failed is None else failed.removeprefix("Kernels are missing: ").rstrip(".")
        run.probes.update("kernels", state=state, reason=reason)


def _why_none(run: Workspace) -> str:
    """Why there is no window of a process that did not say so."""
    if any((run.folder.raw / "kernels").glob("window-[0-9][0-9][0-9].json")):
        return "what the tracer wrote of its window is not there, or cannot be read"
    end = run.manifest.unrecorded
    if end is not None and end.cause in _UNWRITTEN:
        return f"nothing was written any more, because {end.reason}"
    return "the process ended before a kernel window was complete"
