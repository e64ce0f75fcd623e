"""Memory comes near its limit, or needs far more for a moment than for all the rest of the run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dlprof.analysis import memory, memory_end, memory_owners, memory_series
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Query, Rank, Statement, Support
from dlprof.analysis.findings.title import Title
from dlprof.analysis.memory import Limits, Memory
from dlprof.analysis.memory_parts import Moment, Parts
from dlprof.schema.vocabulary import Ground, MemoryKind, Phase
from dlprof.units import size

TITLE = Title("Memory peaks near its limit or far above the rest", "a peak of memory")
_NEAR = 0.85
"""From this share of a limit on it is near."""
_LITTLE = 0.10
"""Of the machine's memory: so little is left where it comes near that."""
_USUAL = 0.9
"""For this share of the samples memory is usual; what is above is the peak."""
_SPIKE = 1.5
"""Times the usual, from which on a peak is far above it."""
_SPIKE_BYTES = 512 << 20
_LEAST_SAMPLES = 50
_LEAST_SAVED = 0.05
"""Of the peak: what saves less is not advised."""
_HALF = 0.5
_EVIDENCE = (
    Query(
        "memory by tenths of the run",
        "SELECT min(time_ns) AS time_ns, max(rss_bytes) AS rss_bytes, max(anonymous_bytes) AS anonymous_bytes FROM "
        "(SELECT *, ntile(10) OVER (ORDER BY time_ns) AS part FROM process_samples) GROUP BY part ORDER BY time_ns",
    ),
    Query(
        "what holds it",
        "SELECT kind, how, sum(bytes) AS bytes, sum(count) AS arrays FROM memory_owners GROUP BY ALL "
        "ORDER BY bytes DESC NULLS LAST",
    ),
)
_PREDICTING = (Phase.PREDICT, Phase.EVALUATE, Phase.FIT_VALIDATION)


@dataclass(frozen=True)
class _Lever:
    """What would bring the peak down, and by how much (bytes, about)."""

    text: str
    saved: int


@dataclass(frozen=True)
class _Spike:
    """A moment, and how much the process had then above what is usual (bytes)."""

    moment: Moment
    above: int


def look(case: Case) -> Iterator[Claim]:
    """The peak beside its limits, and beside the memory of the rest of the run."""
    if case.pair:
        raise Abstain("of two runs memory is not compared")
    found = memory.of_run(case.run)
    peak = found.peak
    if peak is None:
        raise Abstain(f"memory was not sampled: {found.not_measured['peak_bytes']}")
    if memory_end.of_run(case.run) is not None:
        return  # that has a finding of its own
    near, spike = _near(found.limits, peak), _spike(case, found)
    if near is not None:
        moment, told = peak, f"{near}{_held(found)}"
        levers = _of_owners(found, peak)
    elif spike is not None:
        moment, told = spike.moment, f": {size(spike.above)} more than {100 * _USUAL:.0f} % of the run needed"
        levers = [_of_a_moment(spike)]
    else:
        return
    place = f" at {moment.file}:{moment.line}" if moment.file else ""
    yield Claim(
        Statement(
            f"Memory was {size(moment.bytes)} at its largest, in {moment.phase or 'no known phase'}{place}{told}"
        ),
        {},
        _EVIDENCE,
        _next(levers),
        (moment.file, moment.line) if moment.file is not None and moment.line is not None else None,
        rank=Rank.WITHOUT_TIME,
        support=Support(Ground.STATED),
    )


def _near(limits: Limits, peak: Moment) -> str | None:
    """Which limit it came near; None: none."""
    # A control group also counts files that are cached, which it gives up; resident sizes count shared pages twice.
    used = min(peak.bytes, limits.control_group_peak or 0)
    if limits.control_group and used >= _NEAR * limits.control_group:
        return f"; {size(used)} of its control group were in use, of {size(limits.control_group)}"
    mapped = limits.address_space_peak
    if limits.address_space and mapped is not None and mapped >= _NEAR * limits.address_space:
        return f"; {size(mapped)} of its address space were in use, of {size(limits.address_space)}"
    whole, left = limits.machine, limits.available_least
    if whole and left is not None and left <= _LITTLE * whole and peak.bytes >= _HALF * whole:
        return f"; no more than {size(left)} of the machine's {size(whole)} were left"
    return None


def _spike(case: Case, found: Memory) -> _Spike | None:
    """The peak of the process's own memory, where it is far above what was enough for nearly all of the run.

    Without the samples in which kernels were traced: that takes memory itself. Memory that grows with the steps is at
    its largest at their end: that is no peak.
    """
    series = memory_series.of_run(case.run)
    plain = np.flatnonzero(~series.is_traced) if series is not None else ()
    if series is None or len(plain) < _LEAST_SAMPLES:
        return None
    usual, row = int(np.quantile(series.own_bytes[plain], _USUAL)), int(plain[series.own_bytes[plain].argmax()])
    if found.growth is not None and found.growth.is_growing and not found.growth.is_below:
        usual = max(usual, int(found.growth.slope.last))
    highest = int(series.own_bytes[row])
    if highest < max(_SPIKE * usual, usual + _SPIKE_BYTES):
        return None
    return _Spike(Parts(case.run, series).moment(row), highest - usual)


def _held(found: Memory) -> str:
    kinds = memory_owners.by_kind(found.owners)
    told = [f"{kind.value} {size(value)}" for kind, value in kinds.items() if value]
    return f"; held for {', '.join(told)}" if told else "; what held it is not known"


def _of_a_moment(spike: _Spike) -> _Lever:
    if spike.moment.phase in _PREDICTING:
        return _Lever(
            "predict and evaluate in smaller batches, and keep no more of what they give than you need", spike.above
        )
    return _Lever(
        "make what that line makes in parts, or in place, and let go of it (del) before the next", spike.above
    )


def _of_owners(found: Memory, peak: Moment) -> Sequence[_Lever]:
    """What would save most, by what memory is held for."""
    kinds: Mapping[MemoryKind, int] = {kind: value or 0 for kind, value in memory_owners.by_kind(found.owners).items()}
    of_a_batch = kinds.get(MemoryKind.ACTIVATIONS, 0) + kinds.get(MemoryKind.INPUT, 0)
    activations, slots = kinds.get(MemoryKind.ACTIVATIONS, 0), kinds.get(MemoryKind.OPTIMIZER, 0)
    levers = (
        _Lever("half the batch", of_a_batch // 2),
        _Lever("activations of 16 bits (mixed precision)", activations // 2),
        _Lever("activations computed anew in the backward pass (recompute, checkpoint)", activations // 2),
        _Lever("an optimiser with half the slots", slots // 2),
        _Lever(
            "data in parts instead of whole, and del of what is no longer needed", kinds.get(MemoryKind.OTHER, 0) // 2
        ),
    )
    worth = [one for one in levers if one.saved >= _LEAST_SAVED * peak.bytes]
    return sorted(worth, key=lambda one: -one.saved)


def _next(levers: Sequence[_Lever]) -> str:
    if not levers:
        return (
            "Look what was there (dlprof memory RUN --by time, --by layer): take smaller batches, load data in parts."
        )
    told = "; ".join(f"{one.text} (up to about {size(one.saved)} less)" for one in levers)
    return f"{told[:1].upper()}{told[1:]}. dlprof try RUN --set batch_size=N measures what a batch saves."
