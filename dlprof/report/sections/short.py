"""Each part of a run in a line: phases, steps, cores, memory, GPUs, warnings. Empty: the run has nothing of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from dlprof.analysis.steps import StepSummary
from dlprof.analysis.utilisation import GpuUse
from dlprof.report import imported_functions, no_training, overhead_words, shared_pages, step_words, traced_memory
from dlprof.report.model import MainLoop, MeasuredGpus, PhaseTime, ProcessUse, Report
from dlprof.report.sections.program import no_steps
from dlprof.schema.vocabulary import Category, EventKind, Phase, Severity, StepTime
from dlprof.units import duration, percent, safe, size

_LEAST_SHARE = 0.01
_LEAST_OF_LINE = 0.05
_LEAST_IN_COLLECTIVES = 0.02
_ONE_PROCESS = "trace-one-process"
"""What the health section says of files of several processes."""
_GROWTH = "memory-growth"
_KERNELS = 3
_LINES = 3
_PART_NAMES = {Phase.FIT_WAIT.value: "wait for results"}
"""Parts whose name alone would be misread: nothing waits for data there."""
_OF_TRACES = {Phase.FIT.value: "training steps", Phase.UNATTRIBUTED.value: "not traced"}
"""Phases of foreign traces, between which a profiler may have been off."""
_TOLD = (Severity.ERROR, Severity.WARNING)
"""What else is in the health section changes no figure."""


def phases(report: Report) -> str:
    """Phases of 1 % of the wall time and more, the longest first, each with its parts."""
    wall = report.wall_ns
    whole = [phase for phase in report.phases if phase.parent is None]
    if not wall or not whole or (report.imported and len(report.phases) == 1):  # a trace that tells none is one phase
        return ""
    rest = PhaseTime(Phase.UNATTRIBUTED, None, report.unattributed_ns or 0, None)
    shown = sorted(
        (phase for phase in (*whole, rest) if phase.dur_ns >= _LEAST_SHARE * wall), key=lambda phase: -phase.dur_ns
    )
    return ", ".join(_phase(report, phase, wall) for phase in shown)


def _phase(report: Report, phase: PhaseTime, wall: int) -> str:
    parts = sorted((part for part in report.phases if part.parent == phase.name), key=lambda part: -part.dur_ns)
    inside = [
        f"{_PART_NAMES.get(part.name, part.name.partition('.')[2])} {100 * part.dur_ns / wall:.0f}"
        for part in parts
        if part.dur_ns >= _LEAST_SHARE * wall
    ]
    told = f": {', '.join(inside)}" if inside and not report.imported else ""
    if phase.name == Phase.IMPORT:
        told = _of_line(report, wall)
    return f"{_name(report, phase)} {duration(phase.dur_ns)} ({100 * phase.dur_ns / wall:.0f} %{told})"


def _of_line(report: Report, wall: int) -> str:
    """The user's line that most of the imports are in, where these count."""
    found = report.import_line
    if found is None or found.dur_ns < _LEAST_OF_LINE * wall:
        return ""
    return f", of which {duration(found.dur_ns)} at {safe(found.file)}:{found.line}"


def _name(report: Report, phase: PhaseTime) -> str:
    """A phase; a foreign trace shows the steps of a training, and nothing else of a fit."""
    if not report.imported:
        return phase.name
    return _OF_TRACES.get(phase.name, phase.name.replace("_", " "))


def steps(report: Report) -> str:
    """The loop that counts most."""
    loop = report.steps
    if loop is None:
        return _of_trace(report) if report.imported and not report.missing("steps") else no_steps(report)
    figures = (
        _usual_step(report, loop) if loop.median_ns is not None else "the time of a usual one is not known",
        _in_collectives(loop),
        f"p95 {duration(loop.p95_ns)}" if loop.p95_ns is not None else "",
        f"first {duration(loop.first_ns)}" if loop.first_ns is not None and loop.count > 1 else "",
    )
    mean = " on average" if _has_median(loop) else ""
    rate = f"; {loop.samples_per_s:,.0f} samples/s{mean}" if loop.samples_per_s else ""
    how = "" if loop.median_ns is None or loop.how is StepTime.MEASURED else f" ({step_words.how(loop)})"
    kind = f"{step_words.kind(loop.loop)}{'s' * (loop.count != 1)}"
    where = step_words.own_loop(report.loops)
    return f"{loop.count:,} {kind}: {', '.join(figure for figure in figures if figure)}{rate}{how}{where}"


def _of_trace(report: Report) -> str:
    """Why a trace of operators has no steps; empty: it is of something else."""
    operator = EventKind.OPERATOR.word
    if report.kernels is None or not report.kernels.rows or imported_functions.noun(report, operator) != operator:
        return ""
    return "none: nothing in the trace names them (ProfilerStep, StepTraceAnnotation, a range train_step)"


def _in_collectives(loop: MainLoop) -> str:
    """What of a usual step a rank stands still, where that is worth a word."""
    stood = loop.collectives_ns or 0
    if loop.median_ns is None or stood < _LEAST_IN_COLLECTIVES * loop.median_ns:
        return ""
    return f"{duration(stood)} of it standing still in collectives"


def _usual_step(report: Report, loop: StepSummary) -> str:
    """What a step takes, by which mean, and whether the wait for its batch is in it."""
    taken = duration(loop.median_ns)
    if not _has_median(loop):
        return f"{taken} on average" if report.imported and loop.how is StepTime.WINDOW and loop.count > 1 else taken
    waits = bool(loop.input_median_ns) and not step_words.fetches_in_call(report, loop.loop)
    return f"median {taken}{' with the wait for input' if waits else ''}"


def _has_median(loop: StepSummary) -> bool:
    """Whether the time of a step is the median of several; where it is a mean, the rate is that of the same steps."""
    return loop.how is StepTime.MEASURED and loop.count > 1


def cores(report: Report) -> str:
    """How busy all cores were, and with what."""
    means = [core.mean_pct for core in report.cores if core.mean_pct is not None]
    if not means:
        return "" if report.imported else _not_measured(report, "cores")
    use = report.process
    parts = (
        ("this program", use.tree_cpu_pct),
        ("others", use.others_cpu_pct),
        (overhead_words.HELPERS, use.dlprof_cpu_pct),
    )
    busy = ", ".join(f"{name} {pct / 100:.2f}" for name, pct in parts if pct is not None)
    return f"{len(means)}, {sum(means) / len(means):.0f} % busy{f': {busy} cores' if busy else ''}"


def memory(report: Report) -> str:
    """How much the program took, whether that grew, and how much was left."""
    use = report.process
    if use.peak_rss_bytes is None:
        return traced_memory.told(report)
    one = "1 process" if use.processes == 1 else f"{use.processes} processes"
    shared = shared_pages.beside_peak(report.memory, use.processes)
    return f"peak {size(use.peak_rss_bytes)} in {one}{shared}{_grown(report)}{_left(use)}"


def _grown(report: Report) -> str:
    """That memory grew with the steps: it claims no time, and may stand behind all causes that are told here."""
    found = next((one for one in report.findings or () if one.slug == _GROWTH), None)
    if found is None:
        return ""
    place = f" at {safe(found.file)}:{found.line}" if found.file else ""
    grew = found.claim.partition(" (95 %")[0].removeprefix("Memory of the process ")
    return f"; {safe(grew)}{place}, see {_GROWTH}"


def _left(use: ProcessUse) -> str:
    """What the nearest limit left, or else the machine."""
    limit = use.memory_limit
    if limit is not None:
        return f"; {size(limit.left_bytes)} left of {limit.whose}, {size(limit.limit_bytes)}"
    return f"; at least {size(use.available_min_bytes)} available" if use.available_min_bytes is not None else ""


def gpu(report: Report) -> str:
    """All GPUs."""
    if not isinstance(report.gpu, MeasuredGpus):
        return "" if report.imported else _because(report.gpu.reason)
    gpus = report.gpu.gpus
    if len(gpus) == 1:
        return _one_gpu(gpus[0])
    busy = [use.utilisation_mean_pct for use in gpus if use.utilisation_mean_pct is not None]
    told = f"kernels ran in {min(busy):.0f} to {max(busy):.0f} % of the time" if busy else "use not measured"
    return f"{len(gpus)} GPUs: {told}"


def _one_gpu(use: GpuUse) -> str:
    busy = use.utilisation_mean_pct
    parts = (
        f"kernels ran in {busy:.0f} % of the time" if busy is not None else "",
        f"memory {size(use.memory_peak_bytes)}" if use.memory_peak_bytes is not None else "",
        f"{use.power_mean_w:.0f} W" if use.power_mean_w is not None else "",
    )
    return f"{safe(use.name or f'GPU {use.gpu}')}: {', '.join(part for part in parts if part) or 'use not measured'}"


def overhead(report: Report) -> str:
    """What dlprof took, where that is more than its budget; of a script that does next to nothing that is no news."""
    if not overhead_words.is_over(report) or no_training.too_short(report):
        return ""
    once = "; most of it once, a longer run has hardly more" if overhead_words.is_mostly_once(report) else ""
    return f"dlprof took {overhead_words.account(report)}{once}"


def kernels(report: Report) -> str:
    """What a device computed most, of a run of foreign traces; GPUs and CPUs are never one sum."""
    if report.kernels is None:
        return ""
    groups: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for row in report.kernels.by_category:
        name = row.category or "no category"
        groups[row.device, row.kind][name] = groups[row.device, row.kind].get(name, 0) + row.total_ns
    if not groups:
        return ""
    device, kind = max(groups, key=lambda group: (_counts(*group), sum(groups[group].values())))
    times = groups[device, kind]
    whole = sum(times.values())
    top = sorted(times.items(), key=lambda item: -item[1])[:_KERNELS]
    shares = ", ".join(f"{safe(name)} {percent(ns, whole)} %" for name, ns in top)
    noun = imported_functions.noun(report, kind)
    users = {used.pid for used in report.devices if used.device == device and used.pid is not None}
    count = len(users) or next((line.count or 0 for line in report.health if line.slug == _ONE_PROCESS), 0)
    whose = f" of {count} processes" if count > 1 else ""
    if noun != kind:  # what functions are for, names do not tell
        return f"{duration(whole)} of {noun}s{whose}"
    return f"{duration(whole)} of {noun}s on {device}{whose}: {shares}{_beside(report, times)}"


def _beside(report: Report, times: Mapping[str, int]) -> str:
    """Exchanges of a trace of the host that are ranges around no operator: the phases have them, operators do not."""
    exchanged = sum(leaf.ns for leaf in report.tree or () if leaf.path.endswith(f"kernels/{Category.COLLECTIVE}"))
    in_ranges = exchanged - times.get(Category.COLLECTIVE, 0)
    return f"; beside them exchanges, told by ranges: {duration(in_ranges)}" if in_ranges > exchanged / 2 else ""


def _counts(device: str, kind: str) -> tuple[bool, bool]:
    """Kernels before copies, GPUs before CPUs."""
    return kind in (EventKind.KERNEL.word, EventKind.OPERATOR.word), device != "cpu"


def lines(report: Report) -> str:
    """The hottest lines of a run of foreign traces."""
    return ", ".join(f"{safe(line.file)}:{line.line} {duration(line.own_ns)}" for line in report.lines[:_LINES])


def warnings(report: Report) -> str:
    """What makes figures doubtful, or the training: the first of them, and how many there are."""
    told = (line.message for line in report.health if line.severity in _TOLD)
    every = [*_diverged(report), *(message for message in told if message not in report.verdict)]
    if not every:
        return ""
    more = f" (and {len(every) - 1} more: report --full)" if len(every) > 1 else ""
    return f"{safe(every[0])}{more}"


def _diverged(report: Report) -> Iterator[str]:
    """Metrics that became no number, each with its first epoch."""
    seen: set[str] = set()
    for epoch in report.epochs:
        for name, value in epoch.not_finite.items():
            if name not in seen:
                seen.add(name)
                yield f"{name} is {value} from epoch {epoch.epoch + 1} on"


def _not_measured(report: Report, probe: str) -> str:
    told = report.probe(probe)
    return _because(report.missing(probe) or (told.reason if told else None) or "nothing was recorded")


def _because(reason: str) -> str:
    """Why nothing was measured, without what stands in brackets."""
    return f"not measured, because {safe(reason.partition(' (')[0])}"
