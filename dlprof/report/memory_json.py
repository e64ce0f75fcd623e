"""Memory of a run as JSON (`dlprof.memory/1`). Bytes, and ns on the run's timeline; None: not measured."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from dlprof.analysis import heap, memory_growth, trends
from dlprof.analysis.engine_memory import EngineMemory
from dlprof.analysis.heap import Heap, HeapLine
from dlprof.analysis.memory import DeviceMemory, GrownAt, Limits, Memory
from dlprof.analysis.memory_growth import Growth
from dlprof.analysis.memory_owners import Owner
from dlprof.analysis.memory_parts import Moment, PartMemory
from dlprof.analysis.trends import Named, Trend, Trends
from dlprof.schema.vocabulary import Trended

SCHEMA = "dlprof.memory/1"
HOW = (
    "resident memory of the traced process and of all below it, sampled: pages that several share count in each, and "
    "what was there between two samples only is in kernel_peak_bytes of the traced process alone"
)


class PeakAt(Struct, frozen=True):
    """When memory was at its largest, and who stood there on the main thread."""

    time_ns: int
    phase: str | None
    file: str | None
    line: int | None


class PartReport(Struct, frozen=True):
    """Memory of a phase or an epoch."""

    name: str
    peak_bytes: int | None
    """None: it lasted for less than the time between two samples."""
    growth_bytes: int | None
    """None: likewise."""
    peak_at: PeakAt | None


class MomentReport(Struct, frozen=True):
    """Memory at a moment."""

    time_ns: int
    bytes: int
    phase: str | None
    file: str | None
    line: int | None


class GrowthReport(Struct, frozen=True):
    """How memory went with the steps of the training."""

    bytes_per_step: float
    ci: tuple[float, float]
    """95 % interval."""
    is_growing: bool
    """Beyond doubt, from beginning to end, and by what is worth a word."""
    steps: int
    begin_ns: int
    end_ns: int
    kept_bytes: int
    """What was never given back while it trained."""
    at: GrownAt | None
    """Where the main thread stood in most of that; None: it does not grow."""
    is_below: bool = False
    """Of the processes below together, and not of the traced one, which does not grow."""
    how: str = memory_growth.HOW


class TrendReport(Struct, frozen=True):
    """How something else went with the steps of the training."""

    quantity: Trended
    unit: str
    """Of the figures: `ns` or `count`."""
    per_step: float
    ci: tuple[float, float]
    """95 % interval."""
    per_epoch: float | None
    """The same for the steps of an epoch; None: there are fewer than two."""
    is_growing: bool
    """Beyond doubt, from beginning to end, and by what is worth a word."""
    first: float
    last: float
    """Medians at the beginning, behind the warm-up, and at the end."""
    steps: int
    samples: int
    names: tuple[Named, ...]
    """What there is more of, where that is known."""
    how: str


class HeapReport(Struct, frozen=True):
    """Who allocated memory, by line of the user's own."""

    peak_bytes: int
    """The most that was held of what was recorded."""
    grown_bytes: int | None
    """By how much that grew in the training; None: there was none, or it was too short."""
    lines: tuple[HeapLine, ...]
    """Those that held most first."""
    how: str = heap.HOW


class MemoryReport(Struct, frozen=True, kw_only=True):
    """Memory of a run."""

    schema: str = SCHEMA
    peak_bytes: int | None
    """The largest sample, but for those in which kernels were traced if there are others."""
    peak_at: PeakAt | None
    phases: tuple[PartReport, ...]
    owners: tuple[Owner, ...]
    """Those of most bytes first."""
    growth: GrowthReport | None
    trends: tuple[TrendReport, ...]
    """What else was looked at over the steps."""
    traced_peak_bytes: int | None
    """The largest sample of all, where kernels were traced then, which takes memory itself; None: they were not."""
    owned_peak_bytes: int | None
    """What the owners sum to: the largest sample of the training, where there is one."""
    kernel_peak_bytes: int | None
    """The most that the traced process alone ever had resident."""
    processes: int | None
    """At the peak."""
    kinds: Mapping[str, int | None]
    """At the peak: anonymous, file, shared, swap."""
    pss_bytes: int | None
    uss_bytes: int | None
    epochs: tuple[PartReport, ...]
    epochs_left_out: int
    steps: tuple[PartReport, ...]
    """The training steps with the largest peaks, at most 20, the largest first."""
    steps_sampled: int | None
    """Training steps in which a sample was taken; None: there is none."""
    steps_count: int | None
    """Training steps in all."""
    time: tuple[MomentReport, ...]
    """The largest sample of each of a hundred equal parts of the run."""
    devices: tuple[DeviceMemory, ...]
    engines: tuple[EngineMemory, ...]
    """What the engines' own allocators counted at the ends of trainings."""
    limits: Limits
    heap: HeapReport | None
    """None: allocations were not recorded."""
    how: str = HOW
    not_measured: Mapping[str, str]
    """What is null or empty, and why."""


def as_json(memory: Memory) -> MemoryReport:
    """All of it, for machines. See `dlprof help json`."""
    peak = memory.peak
    return MemoryReport(
        peak_bytes=peak.bytes if peak is not None else None,
        peak_at=_at(peak),
        phases=tuple(map(_part, memory.phases)),
        owners=memory.owners,
        growth=_growth(memory.growth, memory.grown_at),
        trends=tuple(map(_trend, memory.trends.found)),
        traced_peak_bytes=memory.traced_peak.bytes if memory.traced_peak is not None else None,
        owned_peak_bytes=memory.owned_peak.bytes if memory.owned_peak is not None else None,
        kernel_peak_bytes=memory.kernel_peak_bytes,
        processes=memory.processes,
        kinds=memory.kinds,
        pss_bytes=memory.pss_bytes,
        uss_bytes=memory.uss_bytes,
        epochs=tuple(map(_part, memory.epochs)),
        epochs_left_out=memory.epochs_left_out,
        steps=tuple(map(_part, memory.steps.largest)) if memory.steps is not None else (),
        steps_sampled=memory.steps.sampled if memory.steps is not None else None,
        steps_count=memory.steps.count if memory.steps is not None else None,
        time=tuple(MomentReport(one.time_ns, one.bytes, one.phase, one.file, one.line) for one in memory.over_time),
        devices=memory.devices,
        engines=memory.engines,
        limits=memory.limits,
        heap=_heap(memory.heap),
        not_measured={**memory.not_measured, **_trends_not_measured(memory.trends)},
    )


def _at(moment: Moment | None) -> PeakAt | None:
    return PeakAt(moment.time_ns, moment.phase, moment.file, moment.line) if moment is not None else None


def _part(part: PartMemory) -> PartReport:
    peak = part.peak
    return PartReport(part.name, peak.bytes if peak is not None else None, part.growth_bytes, _at(peak))


def _trend(one: Trend) -> TrendReport:
    slope = one.slope
    return TrendReport(
        quantity=one.quantity,
        unit=one.unit,
        per_step=slope.per_step,
        ci=slope.ci,
        per_epoch=one.per_epoch,
        is_growing=one.is_growing,
        first=slope.first,
        last=slope.last,
        steps=slope.steps,
        samples=one.samples,
        names=one.names,
        how=trends.HOW[one.quantity],
    )


def _trends_not_measured(found: Trends) -> dict[str, str]:
    return {f"trends.{quantity}": why for quantity, why in found.not_measured.items()}


def _heap(found: Heap | None) -> HeapReport | None:
    return HeapReport(found.peak_bytes, found.grown_bytes, found.lines) if found is not None else None


def _growth(growth: Growth | None, at: GrownAt | None) -> GrowthReport | None:
    if growth is None:
        return None
    return GrowthReport(
        growth.bytes_per_step,
        growth.slope.ci,
        growth.is_growing,
        growth.slope.steps,
        growth.slope.begin_ns,
        growth.slope.end_ns,
        growth.kept_bytes,
        at,
        growth.is_below,
    )
