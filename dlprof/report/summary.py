"""Makes the report of a run (`dlprof.report.model`) from its tables and its manifest."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, TypeVar

import pyarrow.compute as pc
from msgspec import convert, structs

from dlprof.analysis import (
    breakdown,
    core_use,
    counting_cost,
    device_time,
    gpu_idle,
    graph_breaks,
    graph_compilations,
    import_lines,
    input_graphs,
    input_pipeline,
    kernel_lines,
    kernels,
    latency,
    later_epochs,
    lines,
    loops,
    memory,
    memory_room,
    overhead,
    phase_threads,
    processes,
    program,
    ranks,
    recompilations,
    stacks,
    step_split,
    steps,
    syncs,
    training_threads,
    utilisation,
)
from dlprof.analysis.findings.diagnose import NO_TIME
from dlprof.analysis.findings.finding import Diagnosis
from dlprof.report import cause_list, imported_parts, imported_verdict, memory_json, start_words, strict_json, verdict
from dlprof.report.json_text import plain
from dlprof.report.memory_json import MemoryReport
from dlprof.report.model import (
    CategoryKernels,
    ClockErrors,
    CoreLoad,
    DirectionKernels,
    EpochTime,
    Exit,
    HealthLine,
    KernelSums,
    LayerKernels,
    LineKernels,
    LostTable,
    MainLoop,
    MeasuredGpus,
    MemoryLimit,
    Overhead,
    PartTime,
    PhaseStack,
    PhaseThread,
    PhaseTime,
    ProbeCost,
    ProcessUse,
    Report,
    SkippedEvents,
    Source,
    StackFrame,
    StepParts,
    UnmeasuredGpus,
    UnrecordedTime,
)
from dlprof.schema.manifest import Manifest
from dlprof.schema.vocabulary import RunSource, RunState, Severity, SpanKind, StepPart
from dlprof.store.run import Run

STRIP_PARTS = 60
_CALLS = 100
"""Places of calls, at most: a page has all of them in it."""
_STACKS_SHARE = 4
"""A phase has one stack for so many lines that are asked for."""
T = TypeVar("T")


def summarise(run: Run, *, top: int = 10, diagnosis: Diagnosis | None = None, in_short: bool = False) -> Report:
    """All that the report of a run says.

    Args:
        run: The run.
        top: How many lines, and rows of kernels, at most.
        diagnosis: Its causes; None: they are not looked for here, so that the report has none.
        in_short: Leave out what the answer of a traced run does not show and takes long to sum: lines, stacks, kernels,
            what was compiled again, what a step consists of.
    """
    report = _quickly_summed(run)
    if not in_short or report.imported:  # an imported run has little else
        report = _with_the_rest(run, report, top)
    if report.imported:
        tree = breakdown.of_run(run)
        parts = imported_parts.leaves(tree), imported_parts.step_parts(run, tree)
        report = structs.replace(report, tree=parts[0], step_split=parts[1])
        answer = imported_verdict.of(report, imported_parts.facts(run, tree))
    else:
        answer = verdict.of(report, diagnosis, counting_cost.exact_ns(run)) + start_words.waited(run)
    findings = cause_list.of(diagnosis) if diagnosis is not None else None
    return structs.replace(report, verdict=answer.strip(), findings=findings, not_asked=_not_asked(diagnosis))


def _not_asked(diagnosis: Diagnosis | None) -> tuple[str, ...]:
    abstained = diagnosis.abstained if diagnosis is not None else ()
    return tuple(rule.slug for rule in abstained if rule.because == NO_TIME)


def _phases(run: Run) -> tuple[PhaseTime, ...]:
    return tuple(PhaseTime(row["phase"], row["parent"], row["dur_ns"], row["count"]) for row in run.rows("phases"))


def _quickly_summed(run: Run) -> Report:
    """What the answer of a traced run shows; the answer itself is not in it."""
    manifest, is_imported = run.manifest, run.manifest.state == RunState.IMPORTED
    phases, summaries, calls = _phases(run), tuple(steps.of_run(run)), () if is_imported else latency.of_run(run)
    return Report(
        run=run.name,
        script=manifest.command.text,
        arguments=manifest.command.argv,
        state=manifest.state,
        source=manifest.backend.source,
        backend=run.backend,
        keras_version=manifest.keras.version if manifest.keras is not None else None,
        engine=manifest.engine,
        versions={name: version for name, version in manifest.packages.items() if version},
        python_version=manifest.interpreter.version,
        machine=manifest.machine,
        created=manifest.created,
        wall_ns=run.wall_ns,
        phases=phases,
        unattributed_ns=None if run.missing("phases") else _unattributed(run.wall_ns, phases),
        steps=_main_loop(run, summaries),
        step_summaries=summaries,
        epochs=_epochs(run),
        recompilations=(),
        step_split=None,
        kernels=None,
        devices=tuple(device_time.of_run(run)),
        gpu_idle=tuple(gpu_idle.of_run(run)),
        sources=_typed(run.rows("sources"), Source),
        window_starts={row["source"]: row["start_ns"] for row in run.rows("kernel_windows")},
        lines=(),
        stacks=(),
        cores=cores(run),
        process=_process(run),
        processes=processes.of_run(run) if _asks_for_processes(run, summaries) else (),
        processes_left_out=max(0, processes.count(run) - processes.MOST),
        calls=calls[:_CALLS],
        calls_left_out=max(0, len(calls) - _CALLS),
        followed=manifest.followed,
        gpu=_gpu(run),
        probes=_probes(run),
        overhead=_overhead(run),
        health=(*_typed(run.rows("health"), HealthLine), *_trained_elsewhere(run)),
        skipped=_typed(run.rows("skipped"), SkippedEvents) if run.has("skipped") else None,
        clock=convert(manifest.clock, ClockErrors, from_attributes=True),
        exit=_exit(run),
        import_line=None if is_imported else import_lines.longest(run),
        loops=() if is_imported else loops.of_run(run),
        phase_threads=tuple(convert(one, PhaseThread, from_attributes=True) for one in manifest.phase_threads),
        unrecorded=_unrecorded(manifest),
        lost_tables=tuple(LostTable(table, why) for table, why in run.lost.items()),
    )


def _trained_elsewhere(run: Run) -> Iterator[HealthLine]:
    """That phases say nothing of trainings beside the thread that they are of."""
    found = training_threads.of_run(run)
    if found is not None:
        text = (
            f"{found.steps:,} steps ran on {found.where} beside the one that phases are of: these steps are in none, "
            "and most causes in them are not looked for."
        )
        yield HealthLine("trained-on-thread", Severity.WARNING, text, found.steps)


def _asks_for_processes(run: Run, loops_found: Sequence[steps.StepSummary]) -> bool:
    """Whether the answer speaks of processes: of an attached run, and of one that has no training of its own."""
    return run.manifest.backend.source == RunSource.ATTACHED or not loops_found


def _with_the_rest(run: Run, report: Report, top: int) -> Report:
    """With what takes long to sum."""
    columns = {*recompilations.COLUMNS, *graph_compilations.COLUMNS, *graph_breaks.COLUMNS}
    spans = run.table("spans", sorted(columns))
    return structs.replace(
        report,
        recompilations=tuple(recompilations.find(spans)),
        step_split=_step_parts(run),
        kernels=_kernels(run, top),
        lines=tuple(lines.hottest(_functions(run), top)),
        stacks=_stacks(run, max(1, top // _STACKS_SHARE)),
        processes=processes.of_run(run),
        input_pipelines=input_pipeline.of_run(run),
        input_graphs=input_graphs.of_run(run),
        graph_compilations=tuple(graph_compilations.find(spans)),
        graph_breaks=tuple(graph_breaks.find(spans)),
        memory=_memory(run),
        syncs=syncs.of_run(run),
        syncs_unknown=syncs.unknown(run),
    )


def _memory(run: Run) -> MemoryReport | None:
    """Memory of a run; None: of foreign traces, which hold none."""
    if run.manifest.state == RunState.IMPORTED and not run.count("process_samples"):
        return None
    return memory_json.as_json(memory.of_run(run))


def as_builtins(report: Report) -> dict[str, Any]:
    """The report as plain dictionaries and lists, as its JSON has it."""
    return plain(report)  # type: ignore[no-any-return]


def cores(run: Run) -> tuple[CoreLoad, ...]:
    """Every core over the run."""
    return tuple(CoreLoad(use.core, use.mean_pct, use.strip) for use in core_use.of_run(run, STRIP_PARTS).cores)


def _probes(run: Run) -> tuple[ProbeCost, ...]:
    rows = (
        {**row, "thinned": overhead.thinned_of(row), "share": _share(row["tax_ns"], run.wall_ns)}
        for row in run.rows("probes")
    )
    return tuple(convert(row, ProbeCost) for row in rows)


def _overhead(run: Run) -> Overhead:
    known = [row["tax_ns"] for row in run.rows("probes") if row["tax_ns"] is not None]
    tax = sum(known) if known else None
    budget = run.manifest.config.get("budget")
    return Overhead(tax, _share(tax, run.wall_ns), budget if isinstance(budget, float) else None)


def _share(ns: int | None, wall_ns: int | None) -> float | None:
    return ns / wall_ns if ns is not None and wall_ns else None


def _typed(rows: list[dict[str, Any]], kind: type[T]) -> tuple[T, ...]:
    """Rows as objects; what these do not know is left out."""
    return tuple(convert(row, kind) for row in rows)


def _exit(run: Run) -> Exit:
    """How the process ended; of a script that failed the exception that left it, too."""
    process = run.manifest.process
    left = run.chosen("spans", "kind", [SpanKind.EXCEPTION], ("name", "file", "line")) if process.exit_code else []
    if not left:
        return Exit(process.exit_code, process.signal)
    last = left[-1]
    return Exit(process.exit_code, process.signal, last["name"], last["file"], last["line"])


def _unrecorded(manifest: Manifest) -> UnrecordedTime | None:
    end = manifest.unrecorded
    return UnrecordedTime(end.since_ns, end.dur_ns, end.share, end.cause, end.reason) if end is not None else None


def _unattributed(wall_ns: int | None, phases: tuple[PhaseTime, ...]) -> int | None:
    return None if wall_ns is None else wall_ns - sum(phase.dur_ns for phase in phases if phase.parent is None)


def _main_loop(run: Run, summaries: tuple[steps.StepSummary, ...]) -> MainLoop | None:
    if not summaries:
        return None
    backend = run.manifest.backend
    return MainLoop(
        **asdict(summaries[0]),
        asynchronous_dispatch=backend.asynchronous_dispatch,
        input_inside_step=backend.input_inside_step,
        collectives_ns=ranks.stood_in_collectives(run) if summaries[0].loop in ranks.LOOPS else None,
    )


def _epochs(run: Run) -> tuple[EpochTime, ...]:
    values: dict[tuple[int, int], dict[str, float]] = {}
    metrics = run.table("metrics", ("loop_id", "epoch", "step", "name", "value"))
    for row in metrics.filter(pc.and_(pc.is_null(metrics["step"]), pc.is_valid(metrics["epoch"]))).to_pylist():
        values.setdefault((row["loop_id"], row["epoch"]), {})[row["name"]] = row["value"]
    return tuple(_epoch(row, values.get((row["loop_id"], row["epoch"]), {})) for row in run.rows("epochs"))


def _epoch(row: Mapping[str, Any], metrics: Mapping[str, float]) -> EpochTime:
    told = {name: strict_json.told(value) for name, value in metrics.items() if not math.isfinite(value)}
    return EpochTime(row["loop_id"], row["epoch"], row["dur_ns"], row["steps"], metrics, told)


def _stacks(run: Run, per_phase: int) -> tuple[PhaseStack, ...]:
    stood = program.pieces_of(run, "stacks", ("pid", "thread", "start_ns", "dur_ns", "stack_id"))
    whose = phase_threads.of_run(run)
    tables = stood, run.table("frames"), run.table("phase_intervals")
    hottest = stacks.hottest(*tables, per_phase=per_phase, whose=whose)
    return tuple(
        PhaseStack(stack.phase, stack.dur_ns, stack.share, tuple(StackFrame(*frame) for frame in stack.frames))
        for stack in hottest
    )


def _step_parts(run: Run) -> StepParts | None:
    """What a step consists of, from the kernel window of the main loop; None where there was none."""
    split = step_split.of_run(run)
    if split is None:
        return None
    plain_ns: Mapping[StepPart, int | None] = split.plain_ns or {}
    return StepParts(
        split.loop,
        split.engine,
        split.steps,
        split.window_step_ns,
        split.plain_step_ns,
        split.slowdown,
        tuple(PartTime(part.value, split.window_ns[part], plain_ns.get(part)) for part in StepPart),
        later_epochs.of_window(run),
    )


def _kernels(run: Run, top: int) -> KernelSums | None:
    """Kernels with most time, by layer; None where none were traced."""
    if not run.table("kernel_ops").num_rows:
        return None
    by_layer, by_category, by_direction = (kernels.summarise(run, by) for by in ("layer", "category", "direction"))
    return KernelSums(
        tuple(
            LayerKernels(
                **row.keys, count=row.count, total_ns=row.total_ns, share=row.total_ns / max(1, by_layer.whole_ns(row))
            )
            for row in by_layer.rows[:top]
        ),
        by_layer.all_ns,
        by_layer.unattributed_ns,
        by_layer.dropped_events,
        tuple(CategoryKernels(**row.keys, total_ns=row.total_ns) for row in by_category.rows),
        tuple(DirectionKernels(**row.keys, total_ns=row.total_ns) for row in by_direction.rows),
        by_layer.all_of,
        by_layer.host_ns,
        tuple(_lines_of_kernels(run, top)),
    )


def _lines_of_kernels(run: Run, top: int) -> Iterator[LineKernels]:
    if not kernel_lines.are_known(run):
        return
    sums = kernels.summarise(run, "line")
    rows = sums.rows[:top]
    for row, source in zip(rows, kernel_lines.texts(run, rows), strict=True):
        share = row.total_ns / max(1, sums.whole_ns(row))
        yield LineKernels(**row.keys, source=source, count=row.count, total_ns=row.total_ns, share=share)


def _functions(run: Run) -> list[lines.FunctionLines]:
    return lines.functions(run.table("lines"), processes.kinds(run, program.others(run)))


def _process(run: Run) -> ProcessUse:
    process = run.manifest.process
    use = utilisation.machine_of_run(run)
    limit = _memory_limit(run, use.peak_rss_bytes)
    return ProcessUse(**structs.asdict(process), **asdict(use), memory_limit=limit)


def _memory_limit(run: Run, resident: int | None) -> MemoryLimit | None:
    """The limit that is nearer than the machine's memory, where one is."""
    found = memory_room.nearest(memory.limits(run), resident) if resident is not None else None
    return MemoryLimit(found.whose, found.whole, found.left) if found is not None and found.whose else None


def _gpu(run: Run) -> MeasuredGpus | UnmeasuredGpus:
    table = run.table("gpu")
    if table.num_rows:
        return MeasuredGpus(True, tuple(utilisation.gpus(table, run.manifest)))
    reason = next((row["reason"] for row in run.rows("probes") if row["name"] == "gpu"), None)
    return UnmeasuredGpus(False, run.missing("gpu") or reason or "no sample was taken")
