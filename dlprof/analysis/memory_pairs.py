"""Memory of two sides beside each other: peaks, phases, and what holds it by kind and layer."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dlprof.analysis import layer_pairs, memory, memory_owners
from dlprof.analysis.compare import Side
from dlprof.analysis.memory import Memory
from dlprof.analysis.memory_owners import Owner
from dlprof.schema.vocabulary import MemoryBasis, MemoryKind

_LayerKind = tuple[str, MemoryKind]


@dataclass(frozen=True)
class MemorySide:
    """Memory of the runs of a side (bytes); None: not measured.

    Attributes:
        peak_bytes: The largest sample of the tree's resident memory; of several runs the middle one.
        least_peak_bytes, most_peak_bytes: Between which the peaks of the runs lie.
        time_ns: When the peak was, in the run that it is of (ns).
        phase: Leaf phase of the main thread then.
        file, line: The user's line at which it stood then.
        growth_bytes_per_step: By how much memory grew with each step of the first run that tells.
        growth_ci: 95 % interval of that.
        is_growing: Whether that is beyond doubt; None: not known.
        not_measured: What is None, and why.
        traced_peak_bytes: The largest sample while kernels were traced, which takes memory itself and is not in the
            peak; the most of all runs. None: none was larger than the peak.
    """

    peak_bytes: int | None
    least_peak_bytes: int | None
    most_peak_bytes: int | None
    time_ns: int | None
    phase: str | None
    file: str | None
    line: int | None
    growth_bytes_per_step: float | None
    growth_ci: tuple[float, float] | None
    is_growing: bool | None
    not_measured: Mapping[str, str]
    traced_peak_bytes: int | None = None

    def is_traced(self, bytes_: int | None) -> bool:
        """Whether so much was there only while kernels were traced."""
        if bytes_ is None or self.peak_bytes is None or self.traced_peak_bytes is None:
            return False
        return self.peak_bytes < bytes_ <= self.traced_peak_bytes


@dataclass(frozen=True)
class MemoryItem:
    """A part of both sides (bytes); None: not there, or not known.

    Attributes:
        name: Of a phase, a kind or a device.
        a_bytes, b_bytes: Of each side.
        a_how, b_how: Whether arrays were looked at, or this is an estimate from shapes; None: it was sampled, or is not
            there.
    """

    name: str
    a_bytes: int | None
    b_bytes: int | None
    a_how: MemoryBasis | None = None
    b_how: MemoryBasis | None = None

    @property
    def delta_bytes(self) -> int | None:
        """A minus B; None: one is not known."""
        return None if self.a_bytes is None or self.b_bytes is None else self.a_bytes - self.b_bytes


@dataclass(frozen=True)
class LayerItem:
    """What one layer of both sides holds of one kind (bytes); None: not there, or not known."""

    layer: str
    kind: MemoryKind
    a_bytes: int | None
    b_bytes: int | None
    a_how: MemoryBasis | None
    b_how: MemoryBasis | None


@dataclass(frozen=True)
class MemoryPair:
    """Memory of two sides.

    Attributes:
        a, b: The sides.
        phases: Peak of each phase; of several runs the middle one.
        kinds: What holds it, of the first run of each side that tells.
        layers: The same by layer, joined by name, or by their place in models that are the same layer by layer; those
            that differ most come first.
        devices: Peak of each GPU.
    """

    a: MemorySide
    b: MemorySide
    phases: tuple[MemoryItem, ...]
    kinds: tuple[MemoryItem, ...]
    layers: tuple[LayerItem, ...]
    devices: tuple[MemoryItem, ...]

    @property
    def is_known(self) -> bool:
        """Whether a side tells anything at all."""
        return any(side.peak_bytes is not None for side in (self.a, self.b)) or bool(self.kinds)


def join(a: Side, b: Side) -> MemoryPair:
    """The memory of both sides."""
    of_a, of_b = ([memory.of_run(run) for run in side.runs] for side in (a, b))
    owners = _owners(of_a), _owners(of_b)
    renamed = layer_pairs.names(a.runs[0], b.runs[0])
    return MemoryPair(
        a=_side(of_a),
        b=_side(of_b),
        phases=_sampled(_phases(of_a), _phases(of_b)),
        kinds=_kinds(*owners),
        layers=_layers(_by_layer(owners[0], {}), _by_layer(owners[1], renamed)),
        devices=_sampled(_devices(of_a), _devices(of_b)),
    )


def _side(runs: Sequence[Memory]) -> MemorySide:
    peaks = sorted((one.peak for one in runs if one.peak is not None), key=lambda peak: peak.bytes)
    middle = peaks[(len(peaks) - 1) // 2] if peaks else None
    traced = [one.traced_peak.bytes for one in runs if one.traced_peak is not None]
    growth = next((one.growth for one in runs if one.growth is not None), None)
    return MemorySide(
        peak_bytes=middle.bytes if middle else None,
        least_peak_bytes=peaks[0].bytes if peaks else None,
        most_peak_bytes=peaks[-1].bytes if peaks else None,
        time_ns=middle.time_ns if middle else None,
        phase=middle.phase if middle else None,
        file=middle.file if middle else None,
        line=middle.line if middle else None,
        growth_bytes_per_step=growth.bytes_per_step if growth else None,
        growth_ci=growth.slope.ci if growth else None,
        is_growing=growth.is_growing if growth else None,
        not_measured=_reasons(runs, has_peak=bool(peaks), has_growth=growth is not None),
        traced_peak_bytes=max(traced, default=None),
    )


def _reasons(runs: Sequence[Memory], *, has_peak: bool, has_growth: bool) -> dict[str, str]:
    """What no run of a side tells, and why the first does not."""
    first = runs[0].not_measured
    lacks = {"peak_bytes": not has_peak, "growth": not has_growth, "owners": not any(one.owners for one in runs)}
    return {name: first[name] for name, is_lacking in lacks.items() if is_lacking and name in first}


def _owners(runs: Sequence[Memory]) -> tuple[Owner, ...]:
    return next((one.owners for one in runs if one.owners), ())


def _phases(runs: Sequence[Memory]) -> dict[str, int]:
    """Peak of each phase, in the order of the first run."""
    peaks: dict[str, list[int]] = {}
    for part in (part for one in runs for part in one.phases):
        if part.peak is not None:
            peaks.setdefault(part.name, []).append(part.peak.bytes)
    return {name: statistics.median_low(values) for name, values in peaks.items()}


def _devices(runs: Sequence[Memory]) -> dict[str, int]:
    """Peak of each device, of the traced processes where the driver tells that, else of all programs."""
    peaks: dict[str, list[int]] = {}
    for device in (device for one in runs for device in one.devices):
        known = device.used_peak_bytes if device.peak_bytes is None else device.peak_bytes
        if known is not None:
            peaks.setdefault(device.device, []).append(known)
    return {name: statistics.median_low(values) for name, values in peaks.items()}


def _sampled(a: Mapping[str, int], b: Mapping[str, int]) -> tuple[MemoryItem, ...]:
    return tuple(MemoryItem(name, a.get(name), b.get(name)) for name in {**a, **b})


def _kinds(a: Sequence[Owner], b: Sequence[Owner]) -> tuple[MemoryItem, ...]:
    sums = memory_owners.by_kind(a), memory_owners.by_kind(b)
    kinds = [kind for kind in MemoryKind if kind in sums[0] or kind in sums[1]]
    return tuple(
        MemoryItem(
            kind.value,
            sums[0].get(kind),
            sums[1].get(kind),
            memory_owners.how(owner for owner in a if owner.kind == kind),
            memory_owners.how(owner for owner in b if owner.kind == kind),
        )
        for kind in kinds
    )


def _by_layer(owners: Iterable[Owner], renamed: Mapping[str, str]) -> dict[_LayerKind, list[Owner]]:
    """Owners by layer and kind, both directions together; those of no layer are left out."""
    found: dict[_LayerKind, list[Owner]] = {}
    for owner in owners:
        if owner.layer is not None:
            found.setdefault((renamed.get(owner.layer, owner.layer), owner.kind), []).append(owner)
    return found


def _layers(a: Mapping[_LayerKind, list[Owner]], b: Mapping[_LayerKind, list[Owner]]) -> tuple[LayerItem, ...]:
    items = []
    for layer, kind in {**a, **b}:
        of_a, of_b = a.get((layer, kind), []), b.get((layer, kind), [])
        sums = memory_owners.by_kind(of_a).get(kind), memory_owners.by_kind(of_b).get(kind)
        items.append(LayerItem(layer, kind, *sums, memory_owners.how(of_a), memory_owners.how(of_b)))
    return tuple(sorted(items, key=_difference, reverse=True))


def _difference(item: LayerItem) -> tuple[int, int]:
    a, b = item.a_bytes or 0, item.b_bytes or 0
    return abs(a - b), max(a, b)
