"""Memory grows with the steps of the training, and is not given back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from dlprof.analysis import kept_lines, memory, memory_room, memory_series, memory_stairs
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Query, Rank, SourceLine, Statement, Support
from dlprof.analysis.findings.title import Title
from dlprof.analysis.heap import Heap, HeapLine
from dlprof.analysis.kept_lines import KeptLine
from dlprof.analysis.memory import GrownAt, Memory
from dlprof.analysis.memory_growth import ENOUGH, Growth
from dlprof.analysis.scaled_hits import estimate
from dlprof.analysis.trends import Trends
from dlprof.schema.vocabulary import Ground, SpanKind, Trended
from dlprof.units import size, times

TITLE = Title("Memory grows with each step of the training", "memory that grows")
_NAMED = 3
_OF_GROWN = 0.1
"""A line with less of what grew is not named."""
_OF_OBJECTS = 0.02
"""Types with a smaller share of all objects that are more are not named."""
_OF_STEPS = 0.5
"""Steps with a compilation for the same line."""
_LINES = {False: "lines that keep something", True: "any of these lines may keep it, which add something"}
_MEASURED = -2
"""The rank of lines of which more is known than their source."""
_EVIDENCE = (
    Query(
        "memory by tenths of the run",
        "SELECT min(time_ns) AS time_ns, max(rss_bytes) AS rss_bytes, max(anonymous_bytes) AS anonymous_bytes FROM "
        "(SELECT *, ntile(10) OVER (ORDER BY time_ns) AS part FROM process_samples) GROUP BY part ORDER BY time_ns",
    ),
)
_NEXT_OF_QUEUE = (
    "Give the queue a limit (queue.Queue(maxsize=...)): what fills it then waits for what takes from it. What is put "
    "into it faster than it is taken stays in memory. dlprof memory RUN --by time shows when it grows."
)
_NEXT = (
    "Look at what is kept from step to step: lists that losses or outputs go into with their graphs "
    "(keep float(loss)), what callbacks collect, tensors and functions made anew, models of earlier runs of a loop. "
    "dlprof memory RUN --by time shows when it grows; dlprof trace --heap records which line allocates it."
)


def look(case: Case) -> Iterator[Claim]:
    """A slope above zero, of memory that is never given back, in each third of the steps."""
    if case.pair:
        raise Abstain("of two runs memory is not compared")
    found = memory.of_run(case.run)
    if found.growth is None:
        raise Abstain(f"growth of memory was not measured: {found.not_measured['growth']}")
    if not found.growth.is_growing:
        return
    steps = found.growth.slope.steps
    kept = [*_compiling(case, steps), *_keeping(case, found.growth)]
    allocating = _allocating(found.heap)
    chosen = kept_lines.likeliest(kept)
    is_elsewhere = chosen is not None and chosen.is_beside
    told = (
        f"{_slope(found.growth)}{'' if is_elsewhere else _stood(found.grown_at)}{_until(found)}"
        f"{_objects(found.trends)}{_allocated(allocating, found.heap)}{_kept(kept)}"
    )
    yield Claim(
        Statement(told),
        {},
        _EVIDENCE,
        _NEXT_OF_QUEUE if chosen is not None and chosen.is_queue else _NEXT,
        _of(kept, allocating) or (None if kept else _line(found.grown_at)),
        rank=Rank.WITHOUT_TIME,
        support=Support(Ground.REPEATED, seen=steps, covered=min(1.0, found.growth.slope.samples / ENOUGH)),
    )


def _keeping(case: Case, growth: Growth) -> list[KeptLine]:
    """Lines that keep something, and can have kept a good part of what grew, the likeliest first."""
    steps = growth.slope.steps
    found = kept_lines.of_run(case.run, steps, in_workers=growth.is_below)
    return _by_stairs(case, growth, [one for one in found if one.can_keep(growth.kept_bytes, steps)])


def _by_stairs(case: Case, growth: Growth, kept: list[KeptLine]) -> list[KeptLine]:
    """Lines of each epoch before those of each step where memory grew in stairs; beside them where nobody knows."""
    often = [one.hits or 0 for one in kept if one.rank == kept_lines.EACH_STEP and not one.is_small]
    rare = [one.hits or 0 for one in kept if one.rank == kept_lines.RARELY and not one.is_small]
    series = memory_series.of_run(case.run) if often and rare else None
    if series is None:
        return kept
    are_stairs = memory_stairs.are(series, growth, max(rare), max(often))
    if are_stairs is False:
        return kept
    rank = kept_lines.EACH_STEP - 1 if are_stairs else kept_lines.EACH_STEP
    ranked = [replace(one, rank=rank) if one.rank == kept_lines.RARELY else one for one in kept]
    return sorted(ranked, key=lambda one: (one.is_small, one.rank))


def _compiling(case: Case, steps: int) -> Iterator[KeptLine]:
    """The line for which a graph was compiled in most steps: the engine keeps all that it ever made."""
    lines = Counter(call.line for call in case.calls.of(SpanKind.GRAPH_COMPILE) if call.line is not None)
    for (file, line), count in lines.most_common(1):
        if count >= _OF_STEPS * steps:
            source = case.code.source(file, line).strip()
            yield KeptLine(file, line, source, count, "has one more graph compiled", is_in_loop=True, rank=_MEASURED)


def _objects(found: Trends) -> str:
    """Of which types there are more and more objects, where they were counted."""
    trend = found.of(Trended.OBJECTS)
    if trend is None or not trend.is_growing:
        return ""
    each = ((one.name, (one.more_count or 0) / trend.slope.steps) for one in trend.names[:_NAMED])
    named = ", ".join(f"{name} {rate:.3g}" for name, rate in each if rate >= _OF_OBJECTS * trend.slope.per_step)
    return f"; {trend.slope.per_step:.3g} more objects of Python with each step{f' ({named})' if named else ''}"


def _allocating(heap: Heap | None) -> list[HeapLine]:
    """Lines that allocated a good part of what grew, where that was recorded."""
    whole = (heap.grown_bytes or 0) if heap is not None else 0
    return [one for one in (heap.growing if heap else ()) if (one.grown_bytes or 0) >= _OF_GROWN * whole > 0][:_NAMED]


def _allocated(lines: Sequence[HeapLine], heap: Heap | None) -> str:
    if not lines or heap is None:
        return ""
    told = ", ".join(
        f"{one.where} {size(one.grown_bytes)} ({100 * (one.grown_bytes or 0) / (heap.grown_bytes or 1):.0f} %)"
        for one in lines
    )
    return f"; of {size(heap.grown_bytes)} that grew among what memray recorded, these allocated most: {told}"


def _of(kept: Sequence[KeptLine], allocating: Sequence[HeapLine]) -> SourceLine | None:
    """The line to look at: one that keeps something and allocated it, or else one that allocated it, or that keeps.

    Of several that may keep it, and none of which is likelier than the others, none is named.
    """
    allocated = [one.place for one in allocating if one.place is not None]
    keeping = [(one.file, one.line) for one in kept]
    likeliest = kept_lines.likeliest(kept)
    chosen = [(likeliest.file, likeliest.line)] if likeliest is not None else []
    return next((one for one in keeping if one in allocated), next(iter((*allocated, *chosen)), None))


def _slope(growth: Growth) -> str:
    low, high = (size(end) for end in growth.slope.ci)
    return (
        f"Memory of {'processes below it' if growth.is_below else 'the process'} grew by "
        f"{size(growth.bytes_per_step)} with each step (95 %: {low} to {high}): "
        f"{size(growth.kept_bytes)} over {growth.slope.steps:,} steps were not given back"
    )


def _stood(at: GrownAt | None) -> str:
    if at is None:
        return ""
    place = f" at {at.file}:{at.line}" if at.file else ""
    phase = f" in {at.phase}" if at.phase else ""
    return f", {100 * at.share:.0f} % of it while the main thread stood{place}{phase}" if place or phase else ""


def _until(found: Memory) -> str:
    """In how many steps it is at the end of the memory that it may have, as far as that is known."""
    growth = found.growth
    nearest = memory_room.nearest(found.limits, int(growth.slope.last)) if growth is not None else None
    if growth is None or nearest is None or growth.bytes_per_step <= 0 or nearest.left <= 0:
        return ""
    whole = f"{size(nearest.whole)}{f' of {nearest.whose}' if nearest.whose else ''}"
    return f"; at this rate {whole} are full after {int(nearest.left / growth.bytes_per_step):,} more"


def _kept(kept: Sequence[KeptLine]) -> str:
    """Lines that may keep it, by the source: a line that only adds something takes too little time to be sampled."""
    if not kept:
        return ""
    told = "; ".join(f"{one.file}:{one.line} {one.what}{_beside(one)}{_times(one)}" for one in kept[:_NAMED])
    return f"; {_LINES[kept_lines.likeliest(kept) is None]} each time they run: {told}"


def _beside(line: KeptLine) -> str:
    return ", on another thread" if line.is_beside else ""


def _times(line: KeptLine) -> str:
    if line.hits is None:
        return ""
    return f" (about {times(estimate(line.hits, line.hits))})" if line.is_scaled else f" ({times(line.hits)})"


def _line(at: GrownAt | None) -> SourceLine | None:
    return (at.file, at.line) if at is not None and at.file is not None and at.line is not None else None
