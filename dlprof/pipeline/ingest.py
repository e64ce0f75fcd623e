"""Makes the tables of a run from its raw artifacts, one after another."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import msgspec
from msgspec import structs

from dlprof import rundir
from dlprof.analysis import overhead
from dlprof.analysis import phases as phase_analysis
from dlprof.ingest.own import cores as cores_reader
from dlprof.ingest.own import gpu as gpu_reader
from dlprof.ingest.own import lines as lines_reader
from dlprof.ingest.own import stacks as stacks_reader
from dlprof.pipeline import kernel_windows, probe_stream, sampled_lines
from dlprof.pipeline.workspace import Workspace
from dlprof.rundir import RunDir
from dlprof.schema.manifest import Gpu, Manifest
from dlprof.schema.tables import SCHEMA_VERSION
from dlprof.schema.vocabulary import RunState


def ingest(folder: RunDir, *, fresh: bool = False) -> Manifest:
    """Make the tables of a run from its raw artifacts, as far as they are there.

    Args:
        folder: The run folder.
        fresh: This process has just made it: sources that it names are copied from where they are.

    Returns:
        The manifest, with what the artifacts add to it. It is kept in the folder too, unless the dlprof
        that makes the run is still at work: then it is that one's to write.

    Raises:
        CannotCreateError: The run folder cannot be written to.
    """
    run = Workspace(folder, folder.read_manifest(), fresh=fresh)
    _add_artifacts(run)
    shutil.rmtree(folder.tables, ignore_errors=True)
    run.tables.write(folder.tables)
    manifest = structs.replace(run.manifest, tables_version=SCHEMA_VERSION)
    if not rundir.goes_on(manifest):
        folder.write_manifest(manifest)
    return manifest


def _add_artifacts(run: Workspace) -> None:
    """Every artifact, then the phases over them, then kernels, which need these."""
    raw = run.folder.raw
    _say_unfinished(run)
    run.read(raw / "inproc.wire", partial(probe_stream.add_stream, run))
    run.read(raw / "marks.jsonl", partial(probe_stream.add_marks, run))
    run.read(raw / "cores.jsonl", partial(_add_cores, run))
    run.read(raw / "gpu.jsonl", partial(_add_gpu, run))
    run.read(raw / "lines.json", partial(_add_lines, run))
    _add_stacks(run, run.folder.stack_files())
    _add_phases(run)
    kernel_windows.add(run)
    busy = overhead.busy_share(run.tables.get("cores"))
    run.tables.put_rows("probes", (overhead.as_row(overhead.taxed(probe, busy)) for probe in run.probes))


def _say_unfinished(run: Workspace) -> None:
    """A run whose dlprof was killed, or is still at work, has no end: say so."""
    if run.manifest.state != RunState.RUNNING:
        return
    if rundir.goes_on(run.manifest):
        run.warn("still-running", "info", "The run is still going on: these are its figures so far.")
    else:
        text = "dlprof was killed while the script ran: how the script ended is not known, and the end is missing."
        run.warn("dlprof-killed", "error", text)


def _add_cores(run: Workspace, path: Path) -> None:
    tables, health, trailer = cores_reader.read(path, run.process)
    run.tables.put(tables)
    run.tables.health.extend(health)
    _add_cost(run, "cores", overhead.of_cores(trailer.get("cost_cpu_ns")))


def _add_gpu(run: Workspace, path: Path) -> None:
    table, health, header = gpu_reader.read(path, run.process)
    run.tables.put({"gpu": table})
    run.tables.health.extend(health)
    run.note(gpus=msgspec.convert(header.get("gpus"), tuple[Gpu, ...] | None))
    _add_cost(run, "gpu", overhead.of_gpu())


def _add_cost(run: Workspace, probe: str, cost: overhead.Cost) -> None:
    run.probes.update(probe, cost_ns=cost.ns, cost_source=cost.source)


def _add_lines(run: Workspace, path: Path) -> None:
    names = run.names
    run.tables.put({"lines": lines_reader.read(path, run.process, names, lambda file: run.source(names.short(file)))})


def _add_stacks(run: Workspace, paths: Sequence[Path]) -> None:
    root = run.manifest.command.script if run.names.cells else None
    stacks = stacks_reader.Stacks(run.process, run.names, root)
    for path in paths:
        run.read(path, lambda segment: run.tables.health.extend(stacks.add(segment)))
    run.tables.put(stacks.tables())
    if stacks.error_ns is not None:
        run.note(clock=structs.replace(run.manifest.clock, stacks_error_ns=stacks.error_ns))
    run.attempt("Lines that were not counted are missing", lambda: sampled_lines.add(run, stacks.rate_hz))


def _add_phases(run: Workspace) -> None:
    """Cut the wall time; without a stream, or a wall time, all of it is unattributed or unknown."""
    meta, origin = run.stream.meta, run.process.origin_ns
    wall = run.end_ns - origin
    if wall <= 0:
        return
    phases = phase_analysis.of_main_thread(
        run.tables.get("spans"),
        run.tables.get("steps"),
        meta.get("main_thread"),
        wall,
        meta["boot_ns"] - origin if "boot_ns" in meta else None,
    )
    process = {"host": run.process.host, "rank": run.process.rank, "pid": run.process.pid}
    rows = ({"phase": p.name, "parent": p.parent, "dur_ns": p.dur_ns, "count": p.count} for p in phases.phases)
    run.tables.put_rows("phases", ({**process, **row} for row in rows))
    intervals = ({"phase": name, "start_ns": start, "dur_ns": dur} for name, start, dur in phases.intervals)
    run.tables.put_rows("phase_intervals", ({**process, **row} for row in intervals))
