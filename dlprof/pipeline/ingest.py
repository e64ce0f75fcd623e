"""Makes the tables of a run from its raw artifacts, one after another."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import structs

from dlprof import rundir
from dlprof.analysis import overhead, phase_steps, phase_turn_edges, phase_turns
from dlprof.analysis import phases as phase_analysis
from dlprof.analysis.phase_threads import PhaseThreads
from dlprof.ingest.own import cores as cores_reader
from dlprof.ingest.own import gpu as gpu_reader
from dlprof.ingest.own import lines as lines_reader
from dlprof.ingest.own import native_stretches
from dlprof.ingest.own import stacks as stacks_reader
from dlprof.launch import payload
from dlprof.launch.recorded import LastProbe
from dlprof.pipeline import (
    anchored_lines,
    first_steps,
    kernel_windows,
    probe_ends,
    probe_stream,
    processes,
    raw_artifacts,
    recorded_heap,
    sampled_lines,
    table_columns,
)
from dlprof.pipeline.workspace import Workspace
from dlprof.rundir import RunDir
from dlprof.schema.manifest import Gpu, Manifest
from dlprof.schema.process_config import decode_reports
from dlprof.schema.tables import SCHEMA_VERSION, TABLES
from dlprof.schema.vocabulary import ProbeState, RunSource, RunState
from dlprof.store import lock, swap


def ingest(folder: RunDir, *, fresh: bool = False, last_probe: LastProbe | None = None) -> Manifest:
    """Make the tables of a run from its raw artifacts, as far as they are there; they take the place of those before.

    Args:
        folder: The run folder.
        fresh: This process has just made it: sources that it names are copied from where they are.
        last_probe: Waits for the sampled stacks, which may still be written, and gives what became of them.

    Returns:
        The manifest, with what the artifacts add to it. It is kept in the folder too, unless the dlprof
        that makes the run is still at work: then it is that one's to write.

    Raises:
        CannotCreateError: The run folder cannot be written to, or another dlprof makes its tables and does not end.
    """
    with lock.held(folder.path, "makes the tables of"):
        return _ingest(folder, fresh=fresh, last_probe=last_probe)


def _ingest(folder: RunDir, *, fresh: bool, last_probe: LastProbe | None) -> Manifest:
    made_of = raw_artifacts.sizes(folder)  # before they are read: what is added meanwhile is not in the tables
    with swap.swapped(folder.tables) as part:
        run = Workspace(folder, folder.read_manifest(), fresh=fresh, tables=part)
        _add_artifacts(run)
        if last_probe is not None:
            run.probes.put(last_probe())
            made_of = raw_artifacts.sizes(folder)
        _add_stacks(run, folder.stack_files())
        run.attempt("Turns of threads are told by spans alone", lambda: _settle_phase_threads(run))
        run.attempt("Hits that the steps tell are missing", lambda: anchored_lines.add(run))
        _add_probes(run)
        run.tables.write(part, made_of)
    manifest = structs.replace(run.manifest, tables_version=SCHEMA_VERSION)
    if not rundir.goes_on(manifest):
        folder.write_manifest(manifest)
    return manifest


def _add_artifacts(run: Workspace) -> None:
    """Every artifact but stacks, then the phases over them, then kernels, which need these."""
    raw = run.folder.raw
    _say_unfinished(run)
    _take_left_words(run)
    run.read(raw / "inproc.wire", partial(probe_stream.add_stream, run), "phases")
    run.read(raw / "marks.jsonl", partial(probe_stream.add_marks, run), "phases")
    probe_stream.add_end(run)
    run.attempt("Phases of other threads than the main one are missing", lambda: _find_phase_threads(run))
    run.read(raw / "cores.jsonl", partial(_add_cores, run), "cores")
    run.read(raw / "gpu.jsonl", partial(_add_gpu, run), "gpu")
    run.read(raw / "lines.json", partial(_add_lines, run), "lines")
    recorded_heap.add(run)
    run.attempt("The phases are missing", lambda: _add_phases(run))
    run.attempt("Kernels are missing", lambda: kernel_windows.add(run))


def _add_probes(run: Workspace) -> None:
    """What became of each of them, and what it cost."""
    _settle_probes(run)
    cores = run.tables.get("cores", ("time_ns", "interval_ns", "busy_pct"))
    own_ns = sum(probe.cost_ns or 0 for probe in run.probes if probe.name in overhead.BESIDE)
    busy = overhead.busy_share(cores, own_ns)
    run.tables.put_rows("probes", (overhead.as_row(overhead.taxed(probe, busy)) for probe in run.probes))


def _take_left_words(run: Workspace) -> None:
    """What probes said of themselves to a dlprof that was killed before it could take it in."""
    if run.manifest.state != RunState.RUNNING or rundir.goes_on(run.manifest):
        return
    with contextlib.suppress(OSError):
        for name, report in decode_reports((run.folder.raw / "sampler.json").read_bytes()).items():
            if report.state != ProbeState.ON:
                run.probes.note(name, ProbeState(report.state), report.reason)
    reason = payload.failure(run.folder)
    if reason is not None:
        run.probes.note("phases", ProbeState.FAILED, reason)


_ARTIFACTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "phases": ("inproc.wire", "marks.jsonl"),
        "cores": ("cores.jsonl",),
        "gpu": ("gpu.jsonl",),
        "lines": ("lines.json",),
        "stacks": ("stacks-[0-9][0-9][0-9].json", "stacks-[0-9][0-9][0-9].json.gz"),
    }
)
"""What a probe that worked leaves: one of these."""


def _settle_probes(run: Workspace) -> None:
    """Decide what became of each probe, and say it."""
    if rundir.goes_on(run.manifest):
        return
    for name, patterns in _ARTIFACTS.items():
        probe = run.probes.get(name)
        works = probe is not None and probe.state == ProbeState.ON
        if works and not any(any(run.folder.raw.glob(pattern)) for pattern in patterns):
            cut = probe_ends.of_missing(name, run.manifest)
            if cut is not None:
                run.cut(name, cut)
    if run.manifest.unrecorded is not None:  # of a dlprof that was killed before it could say which probes there are
        run.probes.update("phases")
    told = {line.slug for line in run.tables.health}
    for probe in list(run.probes):
        cut = run.cuts.get(probe.name)
        settled = probe_ends.settled(probe, cut, run.manifest)
        run.probes.put(settled)
        run.tables.health.extend(line for line in probe_ends.said(settled, cut, run.manifest) if line.slug not in told)
    run.note(probes=tuple(run.probes))


def _say_unfinished(run: Workspace) -> None:
    """A run whose dlprof was killed, or is still at work, has no end: say so."""
    if run.manifest.state != RunState.RUNNING:
        return
    if rundir.goes_on(run.manifest):
        run.warn("still-running", "info", "The run is still going on: these are its figures so far.")
    else:
        text = "dlprof was killed while the script ran: how the script ended is not known, and the end is missing."
        run.warn("dlprof-killed", "error", text)


def _find_phase_threads(run: Workspace) -> None:
    """Other threads that the phases are of for a time: before cores, whose figures of the main thread follow them."""
    stream = run.stream
    spans, steps = _seen(run)
    system = [one.number for one in stream.in_turn.all]
    found = phase_turns.found(spans, steps, stream.meta.get("main_thread"), stream.in_turn.of, system)
    run.note(phase_threads=found)


def _seen(run: Workspace) -> tuple[Iterator[pa.Table], Iterator[pa.Table]]:
    """What the probe saw threads do: spans, and steps."""
    steps = run.tables.pieces("steps", phase_turns.STEP_COLUMNS)
    return run.tables.pieces("spans", phase_turns.COLUMNS), steps


def _settle_phase_threads(run: Workspace) -> None:
    """Have turns of other threads than the main one begin and end by the stacks, and what follows them with them."""
    turns, frames = run.manifest.phase_threads, run.tables.get("frames")
    if not turns or frames is None:
        return
    columns = ("pid", "thread_id", "thread", "stack_id", "start_ns", "dur_ns")
    stacks = (piece.filter(pc.equal(piece["pid"], run.process.pid)) for piece in run.tables.pieces("stacks", columns))
    settled = phase_turn_edges.settled(turns, stacks, frames, phase_turns.busy(*_seen(run)))
    if settled == turns:
        return
    run.note(phase_threads=settled)
    _add_phases(run)
    path = run.folder.raw / "cores.jsonl"
    if path.is_file() and "process_samples" in run.tables.names():
        pieces = cores_reader.Samples(path, run.process, settled).pieces()
        run.tables.put_pieces((name, piece) for name, piece in pieces if name == "process_samples")


def _add_cores(run: Workspace, path: Path) -> None:
    samples = cores_reader.Samples(path, run.process, run.manifest.phase_threads)
    run.tables.put_pieces(samples.pieces())
    run.tables.health.extend(samples.health())
    if not samples.trailer:
        run.cut("cores", probe_ends.Cut(None, samples.last_ns))
    cpu_ns, memory_ns = (samples.trailer.get(name) for name in ("cost_cpu_ns", "memory_cpu_ns"))
    _add_cost(run, "cores", overhead.of_cores(cpu_ns, memory_ns))


def _add_gpu(run: Workspace, path: Path) -> None:
    series = gpu_reader.read(path, run.process)
    run.tables.put({"gpu": series.table})
    run.tables.health.extend(series.health)
    if not series.whole:
        run.cut("gpu", probe_ends.Cut(None, _last_ns(series.table)))
    run.note(gpus=msgspec.convert(series.header.get("gpus"), tuple[Gpu, ...] | None))
    _add_cost(run, "gpu", overhead.of_gpu())


def _last_ns(samples: pa.Table) -> int | None:
    """The moment of the last sample (ns on the run's timeline); None: there is none."""
    return pc.max(samples["time_ns"]).as_py()  # type: ignore[no-any-return]


def _add_cost(run: Workspace, probe: str, cost: overhead.Cost) -> None:
    run.probes.update(probe, cost_ns=cost.ns, cost_source=cost.source)


def _add_lines(run: Workspace, path: Path) -> None:
    names = run.names
    run.tables.put({"lines": lines_reader.read(path, run.process, names, lambda file: run.source(names.short(file)))})


def _add_stacks(run: Workspace, paths: Sequence[Path]) -> None:
    root = run.manifest.command.script if run.names.cells else None
    # One that goes on is sampled for longer than it is looked at: py-spy ends at its next sample.
    last_ns = run.end_ns - run.process.origin_ns if run.manifest.backend.source == RunSource.ATTACHED else None
    stacks = stacks_reader.Stacks(run.process, run.names, root, processes.ends(run), last_ns, _native(run))
    run.attempt("Sampled stacks are missing", lambda: _read_stacks(run, stacks, paths))
    if stacks.error_ns is not None:
        run.note(clock=structs.replace(run.manifest.clock, stacks_error_ns=stacks.error_ns))
    run.attempt("First steps may begin too early", lambda: _settle_first_steps(run))
    others = processes.settle(run, stacks.workers)
    run.attempt(
        "Lines that were not counted are missing",
        lambda: sampled_lines.add(run, stacks.rate_hz, others, stacks.segments),
    )


def _settle_first_steps(run: Workspace) -> None:
    """Have first steps that events tell no begin of follow the stacks, and the phases with them."""
    if first_steps.settle(run):
        _add_phases(run)


def _native(run: Workspace) -> native_stretches.NativeStretches:
    """When Python ran on threads of an engine, as the probe in the process saw it."""
    stream = run.stream
    last_ns = None if stream.complete else stream.last_ns
    return native_stretches.of_stream(stream.stretches, run.process.origin_ns, run.process.pid, last_ns)


def _read_stacks(run: Workspace, stacks: stacks_reader.Stacks, paths: Sequence[Path]) -> None:
    with run.tables.growing() as tables:
        for path in paths:
            run.read(path, lambda segment: run.tables.health.extend(stacks.add(segment)), "stacks")
            for piece in stacks.take():
                tables.add("stacks", piece)
        tables.add("stacks", TABLES["stacks"].empty_table())
        tables.add("frames", stacks.frames())


def _add_phases(run: Workspace) -> None:
    """Cut the wall time; without a stream, or after its end, it is unattributed."""
    meta, origin = run.stream.meta, run.process.origin_ns
    wall = run.end_ns - origin
    if wall <= 0:
        return
    phases = phase_analysis.of_tables(
        run.tables.pieces("spans", ("thread_id", "span_id", "kind", "start_ns", "dur_ns")),
        lambda: run.tables.pieces("steps", phase_steps.COLUMNS),
        PhaseThreads(meta.get("main_thread"), run.manifest.phase_threads),
        phase_analysis.Bounds(
            wall,
            boot=meta["boot_ns"] - origin if "boot_ns" in meta else None,
            told=run.manifest.unrecorded.since_ns if run.manifest.unrecorded is not None else None,
            goes_on=run.manifest.backend.source == RunSource.ATTACHED,
        ),
    )
    process = {"host": run.process.host, "rank": run.process.rank, "pid": run.process.pid}
    rows = ({"phase": p.name, "parent": p.parent, "dur_ns": p.dur_ns, "count": p.count} for p in phases.phases)
    run.tables.put_rows("phases", ({**process, **row} for row in rows))
    run.tables.put(
        {"phase_intervals": table_columns.of_process("phase_intervals", phases.intervals.table(), run.process)}
    )
