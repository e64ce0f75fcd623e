"""Memory of a run on a terminal: its peak, its phases, what holds it, whether it grows."""

from __future__ import annotations

from collections.abc import Sequence

from dlprof.analysis import memory_owners
from dlprof.analysis.engine_memory import EngineMemory
from dlprof.analysis.heap import HeapLine, most_telling
from dlprof.analysis.memory import KERNEL_PEAK_AT_END, Limits
from dlprof.analysis.memory_owners import Owner
from dlprof.report import shared_pages, trend_words
from dlprof.report.console import Page
from dlprof.report.memory_json import HeapReport, MemoryReport, MomentReport, PartReport, PeakAt, TrendReport
from dlprof.units import bar, duration, safe, size

_TIMES = 25
"""Moments that are shown."""
_OWNERS = 24
_LINES, _LINES_IN_SHORT = 24, 5
_BAR = 24
_NOT_KNOWN = "not known"


def summary(page: Page, memory: MemoryReport | None) -> None:
    """The section of a report: in short."""
    if memory is None:
        return
    page.title("Memory", "resident, of the process and all below it, as sampled")
    _head(page, memory)
    if memory.phases:
        _parts(page, sorted(memory.phases, key=lambda part: -(part.peak_bytes or 0))[:4], "phase")
    _growth(page, memory)
    _trends(page, [one for one in memory.trends if one.is_growing])
    if memory.owners:
        _by_kind(page, memory)
    if memory.heap is not None:
        _heap(page, memory.heap, _LINES_IN_SHORT)


def by_phase(page: Page, memory: MemoryReport) -> None:
    """Peak and growth of each phase and epoch."""
    _head(page, memory)
    _parts(page, memory.phases, "phase")
    _parts(page, memory.epochs, "epoch")
    if memory.epochs_left_out:
        page.say(f"... {memory.epochs_left_out} more epochs", "dim", 2)
    _growth(page, memory)
    _trends(page, memory.trends)
    _not_trended(page, memory)


def by_step(page: Page, memory: MemoryReport) -> None:
    """The training steps with the largest peaks."""
    _head(page, memory)
    if memory.steps_count is None:
        return
    if not memory.steps_count:
        page.say("by step: not measured, because the run has no steps of a training", indent=2)
        return
    page.say(f"a sample was taken in {memory.steps_sampled:,} of {memory.steps_count:,} training steps", indent=2)
    _parts(page, memory.steps, "step")
    _growth(page, memory)


def by_time(page: Page, memory: MemoryReport) -> None:
    """The run cut into equal parts, each with its largest sample."""
    _head(page, memory)
    table = page.table(("time", "right"), ("memory", "right"), ("", "left"), ("phase", "left"), ("at", "left"))
    for one in _fewer(memory.time):
        drawn = bar(one.bytes / max(1, memory.peak_bytes or 1), _BAR, ascii_only=page.ascii)
        table.add_row(duration(one.time_ns), size(one.bytes), drawn, safe(one.phase or _NOT_KNOWN), _place(one))
    page.show(table)
    _growth(page, memory)


def by_kind(page: Page, memory: MemoryReport) -> None:
    """Kinds of pages at the peak, and what they are held for."""
    _head(page, memory)
    table = page.table(("pages at the peak", "left"), ("memory", "right"))
    for name, value in memory.kinds.items():
        table.add_row(name.removesuffix("_bytes"), size(value))
    page.show(table)
    _by_kind(page, memory)


def by_layer(page: Page, memory: MemoryReport) -> None:
    """What holds it, layer by layer."""
    _head(page, memory)
    if "owners" in memory.not_measured:
        page.say(f"by layer: not measured, because {safe(memory.not_measured['owners'])}", indent=2)
        return
    _owned(page, memory)
    columns = ("layer", "direction", "kind", "device", "how")
    table = page.table(("memory", "right"), ("arrays", "right"), *[(name, "left") for name in columns])
    for owner in memory.owners[:_OWNERS]:
        table.add_row(*_owner(owner))
    page.show(table)
    left = memory.owners[_OWNERS:]
    if left:
        whole = sum(owner.bytes or 0 for owner in left)
        page.say(f"... {len(left)} more with {size(whole)}: --json has all", "dim", 2)


def by_line(page: Page, memory: MemoryReport) -> None:
    """Who allocated it."""
    _head(page, memory)
    heap = memory.heap
    if heap is None:
        page.say(f"by line: not measured, because {safe(memory.not_measured['heap'])}", indent=2)
        return
    _heap(page, heap, _LINES)
    left = len(heap.lines) - _LINES
    if left > 0:
        page.say(f"... {left} more lines: --json has all", "dim", 2)
    _growth(page, memory)


BY = {"phase": by_phase, "step": by_step, "time": by_time, "kind": by_kind, "layer": by_layer, "line": by_line}


def _owner(owner: Owner) -> list[str]:
    texts = (owner.layer or "-", owner.direction or "-", owner.kind.value, owner.device or "-", owner.how.value)
    return [size(owner.bytes), str(owner.count or "-"), *map(safe, texts)]


def _head(page: Page, memory: MemoryReport) -> None:
    peak = memory.peak_at
    if peak is None:
        page.say(f"not measured, because {safe(memory.not_measured['peak_bytes'])}", indent=2)
        return
    count = "" if memory.processes == 1 else f" in {memory.processes} processes{shared_pages.counted(memory)}"
    phase = f" in {peak.phase}" if peak.phase else ""
    page.say(
        safe(f"peak {size(memory.peak_bytes)}{count}, at {duration(peak.time_ns)}{phase}, {_stood(peak)}"), indent=2
    )
    told = [f"{name.removesuffix('_bytes')} {size(value)}" for name, value in memory.kinds.items() if value]
    if told:
        page.say(f"pages within a second of it: {', '.join(told)}", indent=2)
    if memory.traced_peak_bytes is not None:
        page.say(f"{size(memory.traced_peak_bytes)} while kernels were traced, which takes memory itself", indent=2)
    if memory.kernel_peak_bytes is not None:
        page.say(_kernel_peak(memory.kernel_peak_bytes, memory), indent=2)
    for one in memory.devices:
        own = one.peak_bytes if one.peak_bytes is not None else one.used_peak_bytes
        whose = "" if one.peak_bytes is not None else " (of all programs)"
        page.say(f"{one.device}: peak {size(own)} of {size(one.total_bytes)}{whose}", indent=2)
    for engine in memory.engines:
        _engine(page, engine)
    limits = _limits(memory.limits)
    if limits:
        page.say(f"limits: {limits}", indent=2)


def _kernel_peak(peak_bytes: int, memory: MemoryReport) -> str:
    """The most that the process alone had, and that this is not to its end, where it is not."""
    told = f"the process alone at its largest, as the kernel keeps it: {size(peak_bytes)}"
    open_end = memory.not_measured.get(KERNEL_PEAK_AT_END)
    return told if open_end is None else f"{told} ({safe(open_end)})"


def _engine(page: Page, engine: EngineMemory) -> None:
    """What an engine counts itself."""
    if engine.live_bytes is not None:
        peak_of = f"at most {size(engine.peak_bytes)}, " if engine.peak_bytes is not None else ""
        page.say(
            safe(f"{engine.engine}'s own count: {peak_of}{size(engine.live_bytes)} at the end of a training"), indent=2
        )
    if engine.step_bytes is not None:
        page.say(safe(f"{engine.engine}'s own count: {size(engine.step_bytes)} {engine.step_how or ''}"), indent=2)


def _limits(limits: Limits) -> str:
    told = (
        ("address space", limits.address_space, limits.address_space_peak),
        ("data", limits.data, None),
        ("control group", limits.control_group, limits.control_group_peak),
    )
    parts = [
        f"{name} {size(limit)}{f' (at most {size(used)} used)' if used is not None else ''}"
        for name, limit, used in told
        if limit is not None
    ]
    if limits.killed:
        parts.append(f"{limits.killed} process(es) of the group were killed by the kernel for want of memory")
    return ", ".join(parts)


def _stood(moment: PeakAt) -> str:
    return f"at {moment.file}:{moment.line}" if moment.file else "no line of the script seen there"


def _place(moment: PeakAt | MomentReport) -> str:
    return safe(f"{moment.file}:{moment.line}") if moment.file else "-"


def _parts(page: Page, parts: Sequence[PartReport], name: str) -> None:
    if not parts:
        return
    table = page.table((name, "left"), ("peak", "right"), ("growth", "right"), ("at the peak", "left"))
    for part in parts:
        place = _place(part.peak_at) if part.peak_at is not None else "shorter than the time between two samples"
        grown = f"{'+' if (part.growth_bytes or 0) > 0 else ''}{size(part.growth_bytes)}"
        table.add_row(safe(part.name), size(part.peak_bytes), grown, place)
    page.show(table)


def _trends(page: Page, found: Sequence[TrendReport]) -> None:
    """What else was looked at over the steps."""
    if not found:
        return
    columns = ("a step", "95 %", "first", "last")
    table = page.table(
        ("over the steps", "left"), *((name, "right") for name in columns), ("", "left"), ("most of it", "left")
    )
    for one in map(trend_words.told, found):
        table.add_row(one.name, one.told, one.ci, one.first, one.last, one.verdict, safe(one.most))
    page.show(table)


def _not_trended(page: Page, memory: MemoryReport) -> None:
    """What could not be told, by the reason."""
    by_reason: dict[str, list[str]] = {}
    for name, why in memory.not_measured.items():
        if name.startswith("trends."):
            by_reason.setdefault(why, []).append(name.removeprefix("trends.").replace("_", " "))
    for why, names in by_reason.items():
        page.say(safe(f"{', '.join(names)} over the steps: not measured, because {why}"), "dim", 2)


def _growth(page: Page, memory: MemoryReport) -> None:
    growth = memory.growth
    if growth is None:
        page.say(f"growth over steps: not measured, because {safe(memory.not_measured['growth'])}", indent=2)
        return
    low, high = growth.ci
    slope = f"{size(growth.bytes_per_step)} a step (95 %: {size(low)} to {size(high)}), over {growth.steps:,} steps"
    below = " of the processes below" if growth.is_below else ""
    page.say(f"growth over steps{below}: {slope}: {shared_pages.growth_verdict(memory)}", indent=2)
    at = growth.at
    if at is not None:
        place = f"{at.file}:{at.line}" if at.file else "no line of the script"
        page.say(safe(f"most of it while the main thread stood at {place} ({at.phase or _NOT_KNOWN})"), indent=2)


def _by_kind(page: Page, memory: MemoryReport) -> None:
    if "owners" in memory.not_measured:
        page.say(f"held for: not measured, because {safe(memory.not_measured['owners'])}", indent=2)
        return
    _owned(page, memory)
    table = page.table(("held for", "left"), ("memory", "right"), ("how", "left"))
    for kind, value in memory_owners.by_kind(memory.owners).items():
        how = memory_owners.how(owner for owner in memory.owners if owner.kind == kind)
        table.add_row(kind.value, size(value), how or "-")
    page.show(table)


def _heap(page: Page, heap: HeapReport, most: int) -> None:
    """Lines that held most, and those that grew most."""
    grown = f", {size(heap.grown_bytes)} of it grew in the training" if (heap.grown_bytes or 0) > 0 else ""
    page.say(f"recorded by memray: at most {size(heap.peak_bytes)} of allocations held{grown}", indent=2)
    table = page.table(
        ("held at most", "right"), ("blocks", "right"), ("grown", "right"), ("line", "left"), ("allocated in", "left")
    )
    for one in most_telling(heap.lines, most):
        told = f"{'+' if one.grown_bytes > 0 else ''}{size(one.grown_bytes)}" if one.grown_bytes is not None else "-"
        table.add_row(size(one.peak_bytes), f"{one.peak_count:,}", told, safe(one.where), safe(_inner(one)))
    page.show(table)


def _inner(one: HeapLine) -> str:
    """Where it was allocated, if that is another line."""
    if one.at is None or (one.at.file, one.at.line) == one.place:
        return "-"
    return f"{one.at.file}:{one.at.line} {one.at.function}"


def _owned(page: Page, memory: MemoryReport) -> None:
    """The moment that owners are told of, where it is not the peak."""
    if memory.owned_peak_bytes is not None and memory.owned_peak_bytes != memory.peak_bytes:
        page.say(f"of {size(memory.owned_peak_bytes)}, the most while a model was trained:", indent=2)


def _fewer(moments: Sequence[MomentReport]) -> list[MomentReport]:
    """At most so many: of neighbours the largest."""
    each = -(-len(moments) // _TIMES) or 1
    groups = (moments[low : low + each] for low in range(0, len(moments), each))
    return [max(group, key=lambda one: one.bytes) for group in groups]
