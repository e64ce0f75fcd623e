"""Why devices had nothing to run, gap by gap: each nanosecond of the host's part of a gap has one cause."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis.columns import Integers, Truths, integers
from dlprof.analysis.findings.traced_devices import Gaps, TracedDevices
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
    found = GapCauses()
    durations = _durations(run, EventKind.KERNEL)[1]
    found.kernels, found.median_ns = len(durations), float(np.median(durations)) if len(durations) else 0.0
    waits = _durations(run, EventKind.WAIT)
    gaps = list(devices.gaps.values())
    for some in gaps:
        _add(found, some, waits)
    span = devices.span_ns
    if sum(found.allocation.values()) < ALLOCATION_SHARE * span:
        found.rest_ns += sum(found.allocation.values())
        found.allocation.clear()
    if found.sync_ns < SYNC_SHARE * span:
        found.rest_ns, found.sync_ns, found.sync_gaps = found.rest_ns + found.sync_ns, 0, 0
    small = found.kernels >= KERNELS and found.median_ns <= MEDIAN_NS
    if not small or found.short_ns < SHORT_SHARE * span:
        found.rest_ns, found.short_ns, found.short_gaps = found.rest_ns + found.short_host_ns, 0, 0
    return found


def _add(found: GapCauses, gaps: Gaps, waits: tuple[Integers, Integers]) -> None:
    """Add the gaps of one device."""
    allocates = np.asarray([bool(name and _ALLOCATES.match(name)) for name in gaps.blamed], bool)
    for place in np.flatnonzero(allocates & (gaps.host > 0)).tolist():
        found.allocation[str(gaps.blamed[place])] += int(gaps.host[place])
    synced = _after_wait(gaps, waits) & ~allocates
    short = (gaps.dur <= SHORT_NS) & ~allocates & ~synced
    found.sync_ns += int(gaps.host[synced].sum())
    found.sync_gaps += int(synced.sum())
    found.short_ns += int((gaps.host + gaps.launch)[short].sum())
    found.short_host_ns += int(gaps.host[short].sum())
    found.short_gaps += int((gaps.host[short] > 0).sum())
    found.rest_ns += int(gaps.host[~(allocates | synced | short)].sum())


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


def _durations(run: Run, kind: EventKind) -> tuple[Integers, Integers]:
    """Start and duration of all events of a kind, in order of start (ns)."""
    numbers = [op["op_id"] for op in run.rows("kernel_ops") if op["kind"] == kind.word]
    events = run.table("kernel_events", ("op_id", "start_ns", "dur_ns"))
    events = events.filter(pc.is_in(events["op_id"], value_set=pa.array(numbers, events["op_id"].type)))
    start, dur = integers(events["start_ns"]), integers(events["dur_ns"])
    order = np.argsort(start, kind="stable")
    return start[order], dur[order]
