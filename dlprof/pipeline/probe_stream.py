"""What the probe in the traced process told, or what a program told by marks: spans, steps, facts, costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
from msgspec import structs

from dlprof import rundir
from dlprof.analysis import overhead
from dlprof.backends import registry
from dlprof.engines import registry as engines
from dlprof.engines.base import Dispatch
from dlprof.ingest.own import collectives, held_objects, loader_passes, model_memory, stream_tables, syncs
from dlprof.ingest.own import marks as marks_reader
from dlprof.ingest.own import wire as wire_reader
from dlprof.ingest.own.wire_stream import Bounds, Stream
from dlprof.pipeline import stream_end
from dlprof.pipeline.workspace import Workspace
from dlprof.schema.manifest import DataParallel, Engine, Keras, Probe, Process, Rank
from dlprof.schema.vocabulary import ProbeState, SpanKind

_SLACK_NS = 1_000_000_000
"""By how much the end of the process may lie behind the end that was seen: one clock, read in two processes."""


def add_stream(run: Workspace, path: Path) -> None:
    """Take in the stream of the in-process probe."""
    _add(run, wire_reader.read(path, _bounds(run)))


def _bounds(run: Workspace) -> Bounds:
    """When the process can have lived; a clock whose zero is not known says nothing."""
    origin, wall = run.process.origin_ns, run.manifest.process.wall_ns
    if not origin:
        return Bounds()
    return Bounds(origin, origin + wall + _SLACK_NS if wall else None)


def add_end(run: Workspace) -> None:
    """Say of a stream that ends before the process did from when on nothing is known, and why."""
    if rundir.goes_on(run.manifest) or not run.probes.wants("phases"):
        return
    stream, probe = run.stream, run.probes.get("phases")
    if probe is not None and probe.state == ProbeState.UNAVAILABLE and not stream.read_bytes:
        return  # it never began
    cut = run.cuts.get("phases")
    if cut is not None and cut.is_damage:  # not even its beginning could be read
        stream = Stream(path=stream.path, damage=cut.reason)
    run.note(unrecorded=stream_end.unrecorded(stream, run.manifest, run.probes.get("phases")))
    if stream.changed:
        text = "The stream of the in-process probe is not what was written, though it can be read: phases may be wrong."
        run.warn("inproc-changed", "error", text)


def add_marks(run: Workspace, path: Path) -> None:
    """Take in what a program that is no Python script said of its phases."""
    start = run.manifest.clock.anchor_start
    to_run = start.perf_ns - start.wall_ns if start is not None else 0
    origin = run.process.origin_ns
    stream = marks_reader.read(path, origin, run.end_ns or origin, to_run)
    _add(run, stream)
    if len(stream.spans) > 1:
        state, reason = ProbeState.ON, None
    else:
        state = ProbeState.UNAVAILABLE
        reason = "the program stated none: it can, in the file that DLPROF_MARK names"
    run.probes.update("phases", state=state, reason=reason, cost_ns=None, cost_source=None)


def _add(run: Workspace, stream: Stream) -> None:
    run.stream = stream
    _add_rank(run, stream.meta)
    _add_data_parallel(run, stream.meta)
    if run.manifest.process.wall_ns is None:
        run.process = replace(run.process, pid=stream.meta.get("pid", 0))
        wall_ns = max(0, stream.last_ns - run.process.origin_ns)
        run.note(process=Process(pid=run.process.pid, wall_ns=wall_ns))
    run.tables.health.extend(stream.notes)
    told_until = run.end_ns if stream.complete else min(run.end_ns, stream.last_ns)
    run.tables.put_pieces(stream_tables.pieces(stream, run.process, told_until, run.names))
    run.tables.put({"loaders": loader_passes.table(stream.passes, run.process, run.names)})
    run.tables.put({"memory_owners": model_memory.table(stream.models, stream.spans.details, run.process)})
    run.tables.put({"collectives": collectives.table(stream.collectives, run.process)})
    run.tables.put({"syncs": syncs.table(stream.syncs.values(), run.process, run.names)})
    run.tables.put({"held_objects": held_objects.table(stream.objects, run.process)})
    run.tables.put({"layers": model_memory.layers(stream.models, stream.spans.details, run.process)})
    for told in stream.probes:
        before = run.probes.get(told["name"]) or Probe(name=told["name"])
        run.probes.put(msgspec.convert({**structs.asdict(before), **told}, Probe))
    _add_facts(run, stream.meta)
    _add_cost(run, stream)


def _add_rank(run: Workspace, meta: Mapping[str, Any]) -> None:
    """The rank as the engine itself has it: where the script told it, no variable says so."""
    try:
        told = msgspec.convert(meta.get("rank"), Rank)
    except msgspec.ValidationError:
        return
    if told.world == 1:
        return
    before = run.manifest.rank
    if before is not None:
        told = structs.replace(told, local=before.local, attempt=before.attempt)
    run.note(rank=told)
    run.process = replace(run.process, rank=told.rank)


def _add_data_parallel(run: Workspace, meta: Mapping[str, Any]) -> None:
    """How gradients are given to other ranks."""
    try:
        told = msgspec.convert(meta.get("data_parallel"), DataParallel)
    except msgspec.ValidationError:
        return
    file = run.names.short(told.file) if told.file else None
    run.note(data_parallel=structs.replace(told, file=file, line=told.line or None))


def _add_cost(run: Workspace, stream: Stream) -> None:
    own = {True: 0, False: 0}
    for span in stream.spans.of_kind(SpanKind.DLPROF):
        if span.name not in overhead.OF_OTHER_PROBES:
            own[span.name == overhead.COUNTING_OBJECTS] += (span.end or span.start) - span.start
    cost = overhead.of_phases(own[False], own[True], stream.steps.steps, len(stream.spans), _prices(stream.meta))
    run.probes.update("phases", cost_ns=cost.ns, cost_source=cost.source)


def _prices(meta: Mapping[str, Any]) -> overhead.Prices | None:
    """What hooks cost, as the process said; None where it could not."""
    try:
        return msgspec.convert(meta.get("tax"), overhead.Prices)
    except msgspec.ValidationError:
        return None


def _add_facts(run: Workspace, meta: Mapping[str, Any]) -> None:
    """Engine and Keras as they said themselves, and how steps return on them."""
    if "syncs_of" in meta:
        run.note(syncs_of=tuple(str(one) for one in meta["syncs_of"]))
    if "engine" in meta:
        run.note(engine=Engine(name=meta["engine"], version=meta.get("engine_version")))
    spec = registry.all_specs().get(run.manifest.backend.name or "")
    if "keras_version" in meta and (spec is None or spec.keras_backend):  # TensorFlow loads a Keras by itself
        keras = Keras(
            module=meta["keras"],
            version=meta["keras_version"],
            backend=meta["keras_backend"],
            engine_version=meta.get("engine_version"),
        )
        run.note(keras=keras)
    dispatch = _dispatch(run.manifest.engine, run.manifest.keras)
    # A backend of dlprof's says it for Keras: its engine may be used alone, too.
    if dispatch is not None and (run.manifest.backend.source != "managed" or run.manifest.keras is None):
        backend = structs.replace(
            run.manifest.backend,
            asynchronous_dispatch=dispatch.asynchronous,
            input_inside_step=dispatch.input_inside_step,
        )
        run.note(backend=backend)


def _dispatch(engine: Engine | None, keras: Keras | None) -> Dispatch | None:
    """How steps return; None: no engine was seen, or none that is known."""
    if keras is not None:
        return engines.dispatch_under_keras(keras.backend, keras.version)
    spec = engines.find(engine.name, engine.version) if engine is not None else None
    return spec.alone if spec is not None else None
