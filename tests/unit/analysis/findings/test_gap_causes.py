"""Why devices had nothing to run: every gap has one cause."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from dlprof.analysis.breakdown import Breakdown
from dlprof.analysis.findings import gap_causes
from dlprof.analysis.findings.gap_causes import GapCauses
from dlprof.analysis.findings.traced_devices import TracedDevices
from dlprof.schema.tree_paths import Tree
from tests.unit.analysis.rows import event, in_memory, op
from tests.unit.runs import table

US = 1_000
Calls = tuple[tuple[int, int], ...]
"""Begin and duration of each (us)."""


def gap(start: int, host: int, blamed: str | None = None, launch: int = 0) -> dict[str, Any]:
    """A gap of GPU 0 that the host left (us)."""
    return {"device": 0, "start_ns": start * US, "dur_ns": (host + launch) * US, "host_ns": host * US,
            "launch_ns": launch * US, "wait_ns": 0, "kernel": "k", "blamed": blamed, "window": 0}  # fmt: skip


def causes(
    *gaps: dict[str, Any], kernels: int = 50, kernel_us: int = 10, waits: Calls = (), frees: Calls = ()
) -> GapCauses:
    """Those of a device whose trace lasts 10 ms; waits and calls of hipFree are (begin, duration) of the host (us)."""
    rows = [event(0, n * 20 * US, kernel_us * US, 0) for n in range(kernels - 1)]
    rows.append(event(0, 10_000 * US - kernel_us * US, kernel_us * US, 0))
    rows += [event(1, begin * US, dur * US) for begin, dur in waits]
    rows += [event(2, begin * US, dur * US) for begin, dur in frees]
    run = in_memory(
        kernel_ops=table(
            "kernel_ops", [op(0, "kernel", "k"), op(1, "wait", "cudaStreamSynchronize"), op(2, "runtime", "hipFree")]
        ),
        kernel_events=table("kernel_events", rows),
        gpu_gaps=table("gpu_gaps", list(gaps)),
    )
    tree = Breakdown({Tree.TRACE: 10_000 * US}, 10_000 * US, 0, Tree.TRACE, None, ())
    return gap_causes.of_devices(run, TracedDevices(run, tree))


def test_short_gaps_between_small_kernels_are_launches() -> None:
    """Twenty of 100 us, with 5 us of latency each, of 10 ms."""
    found = causes(*[gap(n * 150, 95, "aten::add", 5) for n in range(20)])

    assert (found.short_ns, found.short_gaps, found.rest_ns) == (2000 * US, 20, 0)


@pytest.mark.parametrize(("kernels", "kernel_us"), [(39, 10), (50, 60)])
def test_where_kernels_are_few_or_long_short_gaps_are_nothing_of_their_own(kernels: int, kernel_us: int) -> None:
    """What they waited for the host is in the rest."""
    found = causes(*[gap(n * 150, 95, "aten::add", 5) for n in range(20)], kernels=kernels, kernel_us=kernel_us)

    assert (found.short_ns, found.rest_ns) == (0, 1900 * US)


def test_the_part_of_gaps_that_calls_for_memory_cover_is_allocation() -> None:
    """A hipFree of 800 us, of which 600 are in a gap of 700; another in no gap counts not at all."""
    found = causes(gap(1000, 700, "hipFree"), gap(3000, 300, "aten::item"), frees=((800, 800), (6000, 500)))

    assert (found.allocation, found.rest_ns) == (Counter({"hipFree": 600 * US}), 400 * US)


def test_little_allocation_is_a_part_of_the_rest() -> None:
    """Less than 5 % of the devices' time."""
    found = causes(gap(0, 400, "hipFree"), frees=((0, 400),))

    assert (found.allocation, found.rest_ns) == (Counter(), 400 * US)


def test_a_gap_that_begins_while_the_host_waits_is_its_waits() -> None:
    """The wait ends inside the gap; one that ended before it, or reaches over it, is none."""
    found = causes(gap(1000, 600), gap(3000, 600), gap(5000, 600), waits=((900, 150), (2000, 900), (4900, 800)))

    assert (found.sync_ns, found.sync_gaps, found.rest_ns) == (600 * US, 1, 1200 * US)
