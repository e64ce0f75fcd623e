"""Why devices had nothing to run, gap by gap: each nanosecond of the host's part of a gap has one cause."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis.columns import Integers, Truths, integers
from dlprof.analysis.findings.traced_devices import Gaps, TracedDevices
from dlprof.analysis.stretches import Stretches
from dlprof.schema.vocabulary import EventKind
from dlprof.store.run import Run

SHORT_NS = 200_000
"""Longer gaps are no matter of launching one kernel after the other."""
SHORT_SHARE, ALLOCATION_SHARE, SYNC_SHARE = 0.15, 0.05, 0.05
"""Shares of the devices' time from which on a cause is told apart from the rest."""
KERNELS, MEDIAN_NS = 40, 50_000
"""Kernels are small where there are that many at least, and half of them take no longer than this."""
ALLOCATION = "(cuda|hip|cu)(Malloc|Free|Mem(Alloc|Free|Create|Release|Map|Unmap))"
"""Calls that ask a driver for memory of the device, or give it back."""
_ALLOCATES = re.compile(ALLOCATION)


@dataclass
class GapCauses:
    """The time in which devices waited for the host, by cause; what is below its share is in the rest (ns).

    Attributes:
        allocation: Call that allocates or frees memory of the device, to idle time meanwhile.
        sync_ns: Idle time after the host had waited until the device had done all.
        sync_gaps: How often.
        short_ns: Idle time in short gaps, where kernels are small: before launches, and their latency.
        short_host_ns: Of short gaps the time before launches.
        short_gaps: How often.
        kernels: Kernels that ran.
        median_ns: Half of them took no longer.
        rest_ns: Idle time that waited for the host for other reasons.
    """

    allocation: Counter[str] = field(default_factory=Counter)
    sync_ns: int = 0
    sync_gaps: int = 0
    short_ns: int = 0
    short_host_ns: int = 0
    short_gaps: int = 0
    kernels: int = 0
    median_ns: float = 0.0
    rest_ns: int = 0


def of_devices(run: Run, devices: TracedDevices) -> GapCauses:
    """The causes of all gaps of some devices."""
    found, span = GapCauses(), devices.span_ns
    events = _Events(run)
    durations = events.of_kind(EventKind.KERNEL)[1]
    found.kernels, found.median_ns = len(durations), float(np.median(durations)) if len(durations) else 0.0
    gaps = list(devices.gaps.values())
    found.allocation = _allocation(events, gaps)
    allocating = events.covered(_ALLOCATES)
    if sum(found.allocation.values()) < ALLOCATION_SHARE * span:
        found.allocation, allocating = Counter(), events.covered(None)
    waits = events.of_kind(EventKind.WAIT)
    for some in gaps:
        _add(found, some, waits, some.host - _inside(allocating, some))
    if found.sync_ns < SYNC_SHARE * span:
        found.rest_ns, found.sync_ns, found.sync_gaps = found.rest_ns + found.sync_ns, 0, 0
    small = found.kernels >= KERNELS and found.median_ns <= MEDIAN_NS
    if not small or found.short_ns < SHORT_SHARE * span:
        found.rest_ns, found.short_ns, found.short_gaps = found.rest_ns + found.short_host_ns, 0, 0
    return found


def _allocation(events: _Events, gaps: Sequence[Gaps]) -> Counter[str]:
    """Calls for memory of the device, and how long devices waited for the host meanwhile (ns)."""
    found: Counter[str] = Counter()
    for name in events.names(_ALLOCATES):
        ns = sum(int(_inside(events.covered(name), some).sum()) for some in gaps)
        if ns:
            found[name] = ns
    return found


def _add(found: GapCauses, gaps: Gaps, waits: tuple[Integers, Integers], host: Integers) -> None:
    """Add the gaps of one device; `host` is what is left of the host's part of each."""
    synced = _after_wait(gaps, waits)
    short = (gaps.dur <= SHORT_NS) & ~synced
    found.sync_ns += int(host[synced].sum())
    found.sync_gaps += int(synced.sum())
    found.short_host_ns += int(host[short].sum())
    found.short_ns += int((host + gaps.launch)[short].sum())
    found.short_gaps += int((host[short] > 0).sum())
    found.rest_ns += int(host[~(synced | short)].sum())


def _inside(stretches: Stretches, gaps: Gaps) -> Integers:
    """How much of the host's part of each gap some stretches cover (ns)."""
    return _before(stretches, gaps.start + gaps.host) - _before(stretches, gaps.start)


def _before(stretches: Stretches, moment: Integers) -> Integers:
    """How much of the stretches is before each moment (ns)."""
    if not len(stretches.begin):
        return np.zeros(len(moment), np.int64)
    done = np.concatenate(([0], np.cumsum(stretches.end - stretches.begin)))
    last = np.searchsorted(stretches.begin, moment, "right") - 1
    at = np.maximum(last, 0)
    cut = np.minimum(moment, stretches.end[at]) - stretches.begin[at]
    return np.where(last >= 0, done[at] + cut, 0)


def _after_wait(gaps: Gaps, waits: tuple[Integers, Integers]) -> Truths:
    """Whether the host was waiting when a gap began, and went on in it: the wait ended when the device had done all."""
    start, dur = waits
    if not len(start):
        return np.zeros(len(gaps.start), bool)
    end = start + dur
    last = np.searchsorted(start, gaps.start, "right") - 1
    at = np.maximum(last, 0)
    inside: Truths = (last >= 0) & (end[at] >= gaps.start) & (end[at] < gaps.start + gaps.host)
    return inside


class _Events:
    """Executions, chosen by what they are."""

    def __init__(self, run: Run) -> None:
        self._ops = run.rows("kernel_ops")
        self._table = run.table("kernel_events", ("op_id", "start_ns", "dur_ns"))

    def names(self, pattern: re.Pattern[str]) -> list[str]:
        """Names of calls that a pattern matches."""
        return sorted({op["name"] for op in self._calls() if pattern.match(op["name"])})

    def of_kind(self, kind: EventKind) -> tuple[Integers, Integers]:
        """Start and duration of all of a kind, in order of start (ns)."""
        return self._chosen([op["op_id"] for op in self._ops if op["kind"] == kind.word])

    def covered(self, what: re.Pattern[str] | str | None) -> Stretches:
        """When calls of a name, or whose names a pattern matches, went on; None: no calls."""
        ops = self._calls() if what is not None else ()
        named = [op for op in ops if (op["name"] == what if isinstance(what, str) else what and what.match(op["name"]))]
        start, dur = self._chosen([op["op_id"] for op in named])
        return Stretches.covered(start, start + dur)

    def _calls(self) -> list[dict[str, Any]]:
        return [op for op in self._ops if op["kind"] == EventKind.RUNTIME.word]

    def _chosen(self, numbers: Sequence[int]) -> tuple[Integers, Integers]:
        events = self._table.filter(pc.is_in(self._table["op_id"], value_set=pa.array(numbers, pa.int32())))
        start, dur = integers(events["start_ns"]), integers(events["dur_ns"])
        order = np.argsort(start, kind="stable")
        return start[order], dur[order]
