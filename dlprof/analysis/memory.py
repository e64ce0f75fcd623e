"""Memory of a run: how much, when, where, what holds it, and whether it grows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow.compute as pc

from dlprof.analysis import (
    engine_memory,
    heap,
    memory_account,
    memory_at_end,
    memory_growth,
    memory_series,
    slopes,
    trends,
)
from dlprof.analysis.engine_memory import EngineMemory
from dlprof.analysis.heap import Heap
from dlprof.analysis.memory_growth import Growth
from dlprof.analysis.memory_owners import Owner
from dlprof.analysis.memory_parts import Moment, PartMemory, Parts, StepsMemory
from dlprof.analysis.memory_series import MemorySeries
from dlprof.analysis.trends import Trends
from dlprof.schema.vocabulary import MemoryBasis, MemoryKind
from dlprof.store.run import Run

KERNEL_PEAK_AT_END = "kernel_peak_at_end"
"""Key of `not_measured` where the kernel's figure is not that of the end of the process."""
_HEAP_LOST = ("heap-failed", "heap-not-summed")
_LIMITS = ("limit_address_space_bytes", "limit_data_bytes", "limit_group_bytes")


@dataclass(frozen=True)
class Limits:
    """What holds the memory of the traced process (bytes); None: no limit, or it is not told.

    Attributes:
        address_space: Its own limit of what it may map (`ulimit -v`).
        data: Its own limit of heap and private mappings (`ulimit -d`).
        control_group: Limit of its control group, or of the tightest one around it: a container's.
        machine: Memory of the machine.
        address_space_peak: The most that the process mapped.
        control_group_peak: The most that the group used.
        available_least: The least that was available on the machine.
        killed: Processes of the group that the kernel killed for want of memory during the run.
    """

    address_space: int | None
    data: int | None
    control_group: int | None
    machine: int | None
    address_space_peak: int | None
    control_group_peak: int | None
    available_least: int | None
    killed: int | None


@dataclass(frozen=True)
class GrownAt:
    """Where the main thread stood in most of what memory grew by.

    Attributes:
        phase: The leaf phase; None: not known.
        file, line: The user's line; None: none was sampled.
        share: Of all that memory grew by.
    """

    phase: str | None
    file: str | None
    line: int | None
    share: float


@dataclass(frozen=True)
class DeviceMemory:
    """Memory of a GPU, as its driver tells: the most of the traced processes, None: not told; the most in all."""

    device: str
    peak_bytes: int | None
    used_peak_bytes: int | None
    total_bytes: int | None


@dataclass(frozen=True)
class Memory:
    """All of it.

    Attributes:
        peak: The largest sample of the tree's resident memory, but for those in which kernels were traced if there are
            others; None: not measured.
        traced_peak: The largest sample of all, where kernels were traced then; None: they were not.
        owned_peak: The moment that what holds it is told of: the largest sample of the training; None: not measured.
        processes: How many processes there were then.
        kernel_peak_bytes: The most that the traced process alone ever had, as the kernel keeps it: peaks between two
            samples are in it.
        kinds: Kinds of pages at the peak, `memory_series.KINDS`; None: not measured.
        pss_bytes: Most proportional memory of the tree: pages that several share are counted once.
        uss_bytes: Most memory that is of one process alone, all processes together.
        phases, epochs: By part.
        epochs_left_out: Epochs that are not among these.
        steps: Of the training: those with the largest peaks; None: not measured.
        over_time: Over the run.
        owners: What holds it, as far as shapes tell.
        engines: What the engines' own allocators counted.
        growth: With the steps of the training; None: not measured.
        grown_at: Where it grew.
        trends: What else becomes more with the steps.
        heap: Who allocated it; None: that was not recorded.
        not_measured: What is not there, and why.
    """

    peak: Moment | None
    traced_peak: Moment | None
    owned_peak: Moment | None
    processes: int | None
    kernel_peak_bytes: int | None
    kinds: Mapping[str, int | None]
    pss_bytes: int | None
    uss_bytes: int | None
    phases: tuple[PartMemory, ...]
    epochs: tuple[PartMemory, ...]
    epochs_left_out: int
    steps: StepsMemory | None
    over_time: tuple[Moment, ...]
    owners: tuple[Owner, ...]
    engines: tuple[EngineMemory, ...]
    growth: Growth | None
    grown_at: GrownAt | None
    trends: Trends
    heap: Heap | None
    devices: tuple[DeviceMemory, ...]
    limits: Limits
    not_measured: Mapping[str, str]


def of_run(run: Run) -> Memory:
    """The memory of a run."""
    return run.once("memory", _of_run)


def _of_run(run: Run) -> Memory:
    series, engines = memory_series.of_run(run), engine_memory.of_run(run)
    owners = memory_account.of_run(run, engines)
    if series is None:
        return _without_samples(run, owners)
    parts = Parts(run, series)
    peak = parts.peak()
    owned_peak = parts.peak_of_training() or peak
    growth, why = _growth(run, series)
    epochs, left_out = parts.epochs()
    kinds = series.kinds_at(peak.time_ns)
    row = series.largest()
    kernel_peak, kernel_peak_ns = memory_at_end.kernel_peak(run, series)
    return Memory(
        peak=peak,
        traced_peak=parts.traced_peak(),
        owned_peak=owned_peak,
        processes=int(series.processes[row]),
        kernel_peak_bytes=kernel_peak,
        kinds=kinds,
        pss_bytes=series.pss_bytes,
        uss_bytes=series.uss_bytes,
        phases=tuple(parts.phases()),
        epochs=tuple(epochs),
        epochs_left_out=left_out,
        steps=parts.steps(),
        over_time=tuple(parts.over_time()),
        owners=_with_rest(owners, owned_peak.bytes),
        engines=engines,
        growth=growth,
        grown_at=_grown_at(parts, growth) if growth is not None and growth.is_growing and not growth.is_below else None,
        trends=trends.of_run(run),
        heap=heap.of_run(run),
        devices=_devices(run),
        limits=limits(run),
        not_measured=_reasons(run, parts, peak, owners, why, series) | _until(kernel_peak_ns),
    )


def _until(kernel_peak_ns: int | None) -> dict[str, str]:
    """That the kernel's figure is not that of the end, where it is not."""
    if kernel_peak_ns is None:
        return {}
    return {KERNEL_PEAK_AT_END: f"the process did not tell it as it ended: it is as of {kernel_peak_ns / 1e9:.2f} s"}


def _without_samples(run: Run, owners: tuple[Owner, ...]) -> Memory:
    why = _why_no_samples(run)
    told = {"peak_bytes": why, "phases": why, "growth": why}
    engines = engine_memory.of_run(run)
    if not owners:
        told["owners"] = _why_no_owners(run)
    if not engines:
        told["engines"] = engine_memory.WHY_NONE
    told.update(_why_no_heap(run))
    return Memory(
        None, None, None, None, None, dict.fromkeys(memory_series.KINDS), None, None, (), (), 0,
        None, (), owners, engines,
        None, None, trends.of_run(run), heap.of_run(run),
        _devices(run), limits(run), told,
    )  # fmt: skip


def _growth(run: Run, series: MemorySeries) -> tuple[Growth | None, str | None]:
    try:
        return memory_growth.of_run(run, series), None
    except slopes.NotMeasured as why:
        return None, str(why)


def _grown_at(parts: Parts, growth: Growth) -> GrownAt | None:
    found = parts.grown_at(growth.slope.begin_ns, growth.slope.end_ns)
    if found is None:
        return None
    phase, place, share = found
    file, line = place or (None, None)
    return GrownAt(phase, file, line, share)


def _with_rest(owners: tuple[Owner, ...], peak: int) -> tuple[Owner, ...]:
    """The owners, and of one model on the host what is left of the training's peak, at which all of them were there."""
    known = [owner.bytes for owner in owners if owner.bytes is not None]
    rest = peak - sum(known)
    if not owners or len({owner.model for owner in owners}) > 1 or rest < 0 or not _on_host(owners):
        return owners
    other = Owner(None, None, MemoryKind.OTHER, None, rest, MemoryBasis.ESTIMATE, 0, None)
    return (*owners, other)


def _on_host(owners: tuple[Owner, ...]) -> bool:
    devices = {owner.device.lower() for owner in owners if owner.device}
    return all("cpu" in device for device in devices)


def limits(run: Run) -> Limits:
    """What holds the memory of the traced process, and how near it came."""
    columns = (*_LIMITS, "group_used_bytes", "group_killed_count", "memory_available_bytes")
    table = run.table("machine", columns)
    least = {name: pc.min(table[name]).as_py() for name in columns}
    mapped = run.filtered(
        "process_samples",
        ("pid", "address_space_bytes"),
        lambda piece: pc.equal(piece["pid"], run.manifest.process.pid),
    )
    killed = pc.max(table["group_killed_count"]).as_py()
    return Limits(
        address_space=least["limit_address_space_bytes"],
        data=least["limit_data_bytes"],
        control_group=least["limit_group_bytes"],
        machine=run.manifest.machine.memory_bytes,
        address_space_peak=pc.max(mapped["address_space_bytes"]).as_py(),
        control_group_peak=pc.max(table["group_used_bytes"]).as_py(),
        available_least=least["memory_available_bytes"],
        killed=None if killed is None else killed - least["group_killed_count"],
    )


def _devices(run: Run) -> tuple[DeviceMemory, ...]:
    table = run.table("gpu", ("gpu", "process_memory_bytes", "memory_used_bytes", "memory_total_bytes"))
    columns = ("process_memory_bytes", "memory_used_bytes", "memory_total_bytes")
    found = []
    for number in sorted(set(table["gpu"].to_pylist())):
        own = table.filter(pc.equal(table["gpu"], number))
        found.append(DeviceMemory(f"gpu:{number}", *(pc.max(own[name]).as_py() for name in columns)))
    return tuple(found)


def _reasons(
    run: Run, parts: Parts, peak: Moment, owners: tuple[Owner, ...], why_no_growth: str | None, series: MemorySeries
) -> dict[str, str]:
    """What is not there, and why."""
    reasons = {}
    if peak.phase is None:
        reasons["peak_at.phase"] = "the run has no phases then"
    if peak.file is None:
        empty = parts.places.is_empty
        reasons["peak_at.file"] = "no stack was sampled" if empty else "no line of the script's own was seen then"
    if not len(series.kinds_ns):
        reasons["kinds"] = "the run is of a dlprof that did not look at them, or was too short"
    if series.pss_bytes is None:
        reasons["pss_bytes"] = "it is read every ten seconds, and the run ended before, or the kernel does not tell it"
    if why_no_growth is not None:
        reasons["growth"] = why_no_growth
    if not owners:
        reasons["owners"] = _why_no_owners(run)
    if not engine_memory.of_run(run):
        reasons["engines"] = engine_memory.WHY_NONE
    return {**reasons, **_why_no_heap(run)}


def _why_no_samples(run: Run) -> str:
    told = next((row["reason"] for row in run.rows("probes") if row["name"] == "cores"), None)
    return run.missing("process_samples") or told or "no sample of processes was taken"


def _why_no_heap(run: Run) -> dict[str, str]:
    if run.count("heap"):
        return {}
    health = (row["message"] for row in run.rows("health") if row["slug"] in _HEAP_LOST)
    return {"heap": run.missing("heap") or next(health, "allocations were not recorded: dlprof trace --heap does that")}


def _why_no_owners(run: Run) -> str:
    return run.missing("memory_owners") or (
        "no training by a model of Keras, or by an optimiser of PyTorch or Keras in a loop of its own, was seen"
    )
