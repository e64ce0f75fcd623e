"""The answer of a run of foreign traces in one sentence or two, as far as the traces tell it.

With a GPU: how long it was busy and idle, what the host did in most of the idle time, what collectives took that
nothing hid. Without: what the operators did, or the sampled stacks, the lines, the sums, the samples of the machine.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence

from dlprof.analysis.device_time import DeviceTime
from dlprof.analysis.gpu_idle import HostDoing
from dlprof.analysis.kernels import OF_DEVICES
from dlprof.analysis.stacks import NAMELESS
from dlprof.report import between_words, imported_functions, step_words
from dlprof.report.imported_parts import Facts
from dlprof.report.model import MeasuredGpus, PhaseStack, Report
from dlprof.schema.trace_marks import EVALUATION
from dlprof.schema.tree_paths import IN_PARTS, Tree
from dlprof.schema.vocabulary import (
    WAITING_FUNCTIONS,
    Category,
    EventKind,
    Loop,
    Phase,
    PseudoLayer,
    StepPart,
    StepTime,
)
from dlprof.units import cut, duration

_WORTH = 0.05
"""A smaller share is not worth a word."""
_MOST = 0.5
_ALL = 1000
_NEARLY_ALL = 0.9
_LITTLE = 0.5
"""Where devices had work for no larger share of a trace, it is said first how long the trace is."""
_DIGIT = 0.1
"""The least share that is told (%)."""
_NAMED = 0.1
"""A call of the host is named where it stood for this share of the idle time."""
_TOP = 3
_NAME_AT_MOST = 60
_THREAD_AT_MOST = 40
"""The only thread is not named where it has a longer name: that of a whole profile."""
_SOURCE_LINE = re.compile(r"'([^']*\.py:\d+)'")
"""In the names of ranges that say from where they were made."""
_LIBRARY = re.compile(r"lib/python\d|/python\d[^/]*/|site-packages|dist-packages|^<|^[^/]*$")
"""Files that are not the user's own: of Python, of packages, and of no folder that is told."""
_NO_WORK = "The trace shows no kernel, no operator and no sample."
_IDLE = {
    StepPart.INPUT: "the host waited for the next batch, or made it",
    StepPart.SYNC: "the host waited in a synchronisation",
    StepPart.DISPATCH: "the host was in operators and calls that prepare and launch work",
    StepPart.HOST_PYTHON: "the host was in Python",
    StepPart.IDLE: "the host was in no operator and no call that the trace shows",
}


def of(report: Report, facts: Facts) -> str:
    """The sentences.

    Args:
        report: The run.
        facts: What is known of it besides.
    """
    told = _of_devices(report, facts) or _of_operators(report, facts) or _of_sums(report, facts)
    told = told or _of_stacks(report) or _of_lines(report) or _of_samples(report)
    if not told and report.lost_tables:
        told = f"What ran is not known: {report.lost_tables[0].why}."
    if not told:
        told = _NO_WORK if report.phases else "The files hold no event from which a time can be told."
    return f"{told}{_of_steps(report)}{_of_other_steps(report)}"


def _of_devices(report: Report, facts: Facts) -> str:
    computing = [device for device in report.devices if device.busy_ns and device.compute_ns] or report.devices
    span = sum(device.span_ns for device in computing)
    if not span:
        return ""
    busy, idle = (sum(getattr(device, name) for device in computing) for name in ("busy_ns", "idle_ns"))
    traced = sum(leaf.ns for leaf in report.tree or ())
    if span < _LITTLE * len(computing) * traced:
        return f"{_hardly_used(computing, traced)}{_idle(report, facts)}."
    return (
        f"{_whose(computing)} busy {_percent(busy, span)} and idle {_percent(idle, span)} of {_span(computing)}"
        f"{f', in a trace of {duration(traced)}' if span < _NEARLY_ALL * len(computing) * traced else ''}"
        f"{_idle(report, facts) if idle >= _WORTH * span else ''}{_not_hidden(computing, span)}."
    )


def _hardly_used(devices: Sequence[DeviceTime], traced: int) -> str:
    """Of a trace that goes on for long before or after what ran on its devices."""
    each = " each on average" if len(devices) > 1 else ""
    busy, span = (sum(getattr(device, name) for device in devices) // len(devices) for name in ("busy_ns", "span_ns"))
    return (
        f"{_whose(devices)} busy for {duration(busy)}{each} in a trace of {duration(traced)}; from first to last "
        f"kernel {duration(span)} passed{each}"
    )


def _whose(devices: Sequence[DeviceTime]) -> str:
    kind = devices[0].device.partition(":")[0].upper()
    if len(devices) == 1:
        return f"The {kind} was"
    processes = len({(device.host, device.rank, device.pid) for device in devices if device.pid is not None})
    if processes > 1:  # two that have one number in two processes may be one
        return f"{len(devices)} {kind}s, as {processes} processes number them (each {_range(devices)}), were"
    return f"{len(devices)} {kind}s (each {_range(devices)}) were"


def _span(devices: Sequence[DeviceTime]) -> str:
    """What shares are of; devices need not have been traced for equally long."""
    span = duration(sum(device.span_ns for device in devices) // len(devices))
    if len(devices) == 1:
        return f"the {span} from first to last kernel"
    return f"the time from their first to their last kernel, {span} each on average"


def _range(devices: Sequence[DeviceTime]) -> str:
    shares = [device.busy_ns / max(1, device.span_ns) for device in devices]
    return f"busy {100 * min(shares):.0f} to {100 * max(shares):.0f} %"


def _idle(report: Report, facts: Facts) -> str:
    """What the host did in most of the idle time."""
    whole = sum(facts.idle.values())
    if not whole:
        return ""
    part, ns = max(facts.idle.items(), key=lambda item: item[1])
    how_much = "most" if ns > _MOST * whole else "the largest part"
    ranks = {(device.host, device.rank): device for device in report.devices}
    whose = f" of rank {report.devices[0].rank}" if len(ranks) > 1 else _of_process(facts)
    longest = "for longest" if part is StepPart.IDLE else "and stood longest"
    return f"; in {how_much} of the idle time{whose} ({_percent(ns, whole)}) {_IDLE[part]}{_at(report, facts, longest)}"


def _at(report: Report, facts: Facts, longest: str) -> str:
    """Where the host was for longest while nothing was launched, where that is much of the idle time."""
    places: Counter[str] = Counter()
    pids = {None, *(one.process[2] for one in facts.processes[:1])}
    found = [idle for idle in report.gpu_idle if idle.pid in pids]
    for idle in found:
        for doing in idle.host_doings:
            if place := _place_of(doing):
                places[place] += doing.ns
    place, ns = places.most_common(1)[0] if places else ("", 0)
    idle_ns = sum(idle.idle_ns for idle in found)
    return f", {longest} ({duration(ns)}) {place}" if ns >= max(1, _NAMED * idle_ns) else ""


def _place_of(doing: HostDoing) -> str:
    parts = [
        f"in {_short(doing.name)}" if doing.name else "",
        f"within {_short(doing.within)}" if doing.within else "",
        f"at {_short(doing.at)}" if doing.at and doing.at != doing.name else "",
    ]
    return " ".join(part for part in parts if part)


def _not_hidden(devices: Sequence[DeviceTime], span: int) -> str:
    """Collectives and copies that no kernel hid."""
    collectives = sum(device.communication_ns - device.communication_overlapped_ns for device in devices)
    copies = sum(device.non_compute_ns for device in devices) - collectives
    parts = [
        f"only {what} ran in {_percent(ns, span)}"
        for what, ns in (("collectives", collectives), ("copies", copies))
        if ns >= _WORTH * span
    ]
    return f"; {' and '.join(parts)} of the time" if parts else ""


def _of_operators(report: Report, facts: Facts) -> str:
    """Without a GPU: which operators of the host took the time that was traced."""
    categories = Counter({sort: _time(report, StepPart.KERNELS, sort) for sort in Category})
    working, whole = sum(categories.values()), sum(leaf.ns for leaf in report.tree or ())
    if not working or not whole:
        return ""
    waiting = _time(report, StepPart.INPUT)
    data = f"; {_percent(waiting, whole)} went to loading data" if waiting >= _WORTH * whole else ""
    noun = imported_functions.noun(report, EventKind.OPERATOR.word)
    ran = f"{noun}s and collectives" if categories[Category.COLLECTIVE] else f"{noun}s"
    return (
        f"No GPU is in the trace: {ran}{_in_process(facts)} ran in {_percent(working, whole)} of "
        f"{_traced(report, facts, whole)}{_sorts(categories, whole, noun)}{_operator(report, facts, noun)}{data}."
        f"{between_words.of(report, facts, whole)}{_own_functions(report, whole)}{_other_processes(facts, noun)}"
    )


def _sorts(categories: Counter[Category], whole: int, noun: str) -> str:
    """The categories with most time; nothing where names tell none."""
    if noun != EventKind.OPERATOR.word or categories[Category.OTHER] >= _NEARLY_ALL * sum(categories.values()):
        return ""
    top = ", ".join(f"{sort} {_percent(ns, whole)}" for sort, ns in categories.most_common(_TOP) if ns)
    return f", most of it {top}"


def _traced(report: Report, facts: Facts, traced: int) -> str:
    """The time that shares are of: a profiler with a schedule is off between its cycles."""
    if facts.processes or report.wall_ns is None or traced >= _NEARLY_ALL * report.wall_ns:
        return f"its {duration(traced)}"
    return f"the {duration(traced)} that were traced (of {duration(report.wall_ns)} from the first event to the last)"


def _in_process(facts: Facts) -> str:
    return f" of one process ({_short(facts.processes[0].name)})" if facts.processes else ""


def _of_process(facts: Facts) -> str:
    return f" of {_short(facts.processes[0].name)}" if facts.processes else ""


def _other_processes(facts: Facts, noun: str) -> str:
    """The other processes of a file, with what each did."""
    others = facts.processes[1:]
    if not others:
        return ""
    named = [f"{duration(one.operators_ns)} ({_short(one.name)})" for one in others[:_TOP]]
    whose = "the other process" if len(others) == 1 else f"the {len(others)} other processes"
    more = f" and {len(others) - _TOP} more" if len(others) > _TOP else ""
    are_ranks = len({one.process[1] for one in facts.processes}) > 1
    compared = " The folder of their traces, imported itself, compares the ranks." if are_ranks else ""
    return f" {noun[0].upper()}{noun[1:]}s of {whose} took {', '.join(named)}{more}.{compared}"


def _operator(report: Report, facts: Facts, noun: str) -> str:
    rows = report.kernels.rows if report.kernels is not None else ()
    first = next((row for row in rows if row.op and row.layer != PseudoLayer.INPUT), None)
    whose = " in all processes" if facts.processes else ""
    return f"; the {noun} with most time of its own{whose} is {_short(first.op or '')}" if first is not None else ""


def _of_sums(report: Report, facts: Facts) -> str:
    """Sums without times: which of them are large."""
    sums = report.kernels
    if sums is None or not facts.kernels or not facts.kernels_ns:
        return ""
    top = ", ".join(f"{_short(name)} ({_percent(ns, facts.kernels_ns)})" for name, ns in facts.kernels)
    where = "the GPU" if sums.all_of == OF_DEVICES else "the CPU"
    if noun := imported_functions.of_sums(report):
        return (
            f"{duration(facts.kernels_ns)} in {noun}s, by their own time: {top}; when is not in the file."
            f"{_with_callees(report)}"
        )
    host = f"; {duration(sums.host_ns)} of operators on the host" if sums.all_of == OF_DEVICES and sums.host_ns else ""
    # With a tree the files hold times: of another process than the one that it is of.
    when = "when it ran is not in the file" if report.tree is None else "it is not of the process whose time is told"
    return f"{duration(facts.kernels_ns)} of work on {where}, most of it in {top}{host}; {when}."


def _with_callees(report: Report) -> str:
    """Functions of the user's, which may do little themselves and call what takes long."""
    own = imported_functions.with_callees(report)[:_TOP]
    of_imports = imported_functions.of_sums(report) == imported_functions.IMPORT
    named = ", ".join(f"{_short(name)} {duration(ns)}" for name, ns in own)
    return f" With what they {'import' if of_imports else 'call'}: {named}." if named else ""


def _own_functions(report: Report, whole: int) -> str:
    """Functions of the user's that took much of a trace (ns), work of operators in them included."""
    own = [(name, ns) for name, ns in imported_functions.with_callees(report) if ns >= _WORTH * whole][:_TOP]
    named = ", ".join(f"{_short(name)} {duration(ns)}" for name, ns in own)
    return f" Functions of the script, with what they call: {named}." if named else ""


def _of_stacks(report: Report) -> str:
    """Sampled stacks: where most of those of a thread ended that did not only wait."""
    standing = [stack for stack in report.stacks if stack.frames]
    if not standing:
        return ""
    working = [stack for stack in standing if stack.frames[0].function not in WAITING_FUNCTIONS] or standing
    phase = working[0].phase
    shares: Counter[tuple[str, str]] = Counter()
    for stack in standing:
        if stack.phase == phase:
            shares[stack.frames[0].function, _place(stack)] += round(1000 * stack.share)
    (function, place), share = shares.most_common(1)[0]
    stack = next(one for one in standing if (one.frames[0].function, _place(one)) == (function, place))
    where = f"{_short(function)}{f' ({place})' if place else ''}{_called_at(stack)}"
    is_named = len(phase) <= _THREAD_AT_MOST and not phase.endswith(NAMELESS)
    whose = f" of {phase}" if is_named or len({stack.phase for stack in report.stacks}) > 1 else ""
    least = " or more" if share < _ALL else ""
    return f"Of the {_samples(report)}samples{whose}, {share // 10} %{least} stood in {where}."


def _samples(report: Report) -> str:
    """How many there were, where the only file is of py-spy and says so: of a few, shares say little."""
    only = report.sources[0] if len(report.sources) == 1 else None
    if only is None or not only.format.startswith("pyspy-"):
        return ""
    count = json.loads(only.facts or "{}").get("samples")
    return f"{count:,} " if isinstance(count, int) else ""


def _called_at(stack: PhaseStack) -> str:
    """The line outside of libraries that a call was made at, where it ends inside one."""
    own = next((frame for frame in stack.frames if not _LIBRARY.search(frame.file)), None)
    if own is None or own is stack.frames[0]:
        return ""
    return f", called by {_short(own.function)} ({own.file.rpartition('/')[2]}:{own.line})"


def _place(stack: PhaseStack) -> str:
    """The file and line that a stack ends in, as far as its maker knows them."""
    frame = stack.frames[0]
    return f"{'/'.join(frame.file.split('/')[-2:])}{f':{frame.line}' if frame.line else ''}" if frame.file else ""


def _of_lines(report: Report) -> str:
    if not report.lines:
        return ""
    line = max(report.lines, key=lambda line: line.own_ns)
    share = f", {_percent(line.own_ns, report.wall_ns)} of {duration(report.wall_ns)}" if report.wall_ns else ""
    where = f"{_short(line.file)}:{line.line} in {_short(line.function)}"
    if line.own_ns == line.time_ns:
        return f"The line with most time is {where}: {duration(line.own_ns)}{share}, with what it calls."
    return (
        f"The line with most time of its own is {where}: {duration(line.own_ns)}{share}, and "
        f"{duration(line.time_ns)} with the profiled functions that it calls, by its text."
    )


def _of_samples(report: Report) -> str:
    """Samples of GPUs, with nothing that ran on them."""
    if not isinstance(report.gpu, MeasuredGpus):
        return ""
    parts = [
        f"GPU {use.gpu} ran kernels in {use.utilisation_mean_pct:.0f} % of the time"
        for use in report.gpu.gpus
        if use.utilisation_mean_pct is not None
    ]
    return f"{', '.join(parts)}, by samples over {duration(report.wall_ns)}." if parts else ""


def _of_steps(report: Report) -> str:
    steps = report.steps
    if steps is None or steps.median_ns is None:
        return ""
    kind = step_words.kind(steps.loop)
    if steps.count == 1:
        return f" The trace holds one {kind}, of {duration(steps.median_ns)}."
    figure = "median" if steps.how is StepTime.MEASURED else "mean"
    told = f" A {kind} takes {duration(steps.median_ns)}, the {figure} of {steps.count}"
    beyond = _beyond_steps(report)
    return f"{told}, but {beyond}." if beyond else f"{told}."


def _of_other_steps(report: Report) -> str:
    """Steps beside those that train which do not: they may evaluate."""
    others = next((phase for phase in report.phases if phase.name == Phase.STEPS and phase.count), None)
    if report.steps is None or report.steps.loop is not Loop.TRAIN or others is None or not others.count:
        return ""
    noun, verb = ("step", "takes") if others.count == 1 else ("steps", "take")
    whole = "" if others.count == 1 else " in all"
    return f" {others.count} other {noun}, without a backward pass, {verb} {duration(others.dur_ns)}{whole}."


def _beyond_steps(report: Report) -> str:
    """Where steps only begin the work, as those of JAX do: how much of it runs when no step is told."""
    times = {leaf.path: leaf.ns for leaf in report.tree or ()}
    outside = sum(times.get(Tree.OUTSIDE_STEPS / StepPart.KERNELS / sort, 0) for sort in Category)
    inside = sum(_time(report, StepPart.KERNELS, sort) for sort in Category) - outside
    if report.devices or outside <= inside:
        return ""
    share = _percent(outside, outside + inside)
    if any(EVALUATION in (source.facts or "") for source in report.sources):
        return f"{share} of the time of operators lies outside of the steps, that of evaluations between them, too"
    return f"{share} of the time of operators lies outside of the steps: they may only start what runs later"


def _time(report: Report, part: StepPart, sort: Category | None = None) -> int:
    """Time of a part in the whole tree (ns)."""
    times = {leaf.path: leaf.ns for leaf in report.tree or ()}
    places = (root / part / sort if sort is not None else root / part for root in IN_PARTS)
    return sum(times.get(place, 0) for place in places)


def _percent(part: float, whole: float | None) -> str:
    if not whole:
        return "-"
    share = 100 * part / whole
    if _DIGIT <= share < 1 or 99 < share <= 100 - _DIGIT:
        return f"{share:.1f} %"
    return f"{share:.0f} %" if share >= 1 or not part else f"below {_DIGIT} %"


def _short(name: str) -> str:
    """A name that fits into a sentence: of a kernel in C++ what is called, of a dictionary the first line in it."""
    if name.startswith("{") and (line := _SOURCE_LINE.search(name)):
        return line[1]
    if "::" in name and name.startswith(("void ", "at::", "cub::", "thrust::")):
        name = re.sub(r"[<(].*", "", name.replace("(anonymous namespace)::", "")).rpartition("::")[2] or name
    return cut(name, _NAME_AT_MOST)
