"""What the probes cost the run: the figures of the overhead ledger, with how each was got."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from msgspec import structs

from dlprof.analysis import step_times
from dlprof.schema.manifest import Probe, Thinned

STEP_COST_NS = 1_600
"""What recording one step costs in the traced process (ns), by `python -m tests.benchmarks record`."""


def as_row(probe: Probe) -> dict[str, Any]:
    """A probe as a row of the table `probes`."""
    told = probe.thinned
    thinned = {
        "thinned": told.what if told else None,
        "thinned_from": told.before if told else None,
        "thinned_to": told.to if told else None,
        "thinned_why": told.why if told else None,
    }
    return {**structs.asdict(probe), **thinned}


def thinned_of(row: Mapping[str, Any]) -> Thinned | None:
    """What a row of the table `probes` says of thinning; None: nothing was thinned."""
    if row.get("thinned") is None:
        return None
    return Thinned(what=row["thinned"], before=row["thinned_from"], to=row["thinned_to"], why=row["thinned_why"] or "")


@dataclass(frozen=True)
class Cost:
    """What a probe cost.

    Attributes:
        ns: The cost (ns); None: it is part of another probe's.
        source: How it was got, for people.
    """

    ns: int | None
    source: str


def of_phases(own_ns: Iterable[int], steps: int) -> Cost:
    """Cost of the in-process probe.

    Args:
        own_ns: Durations of its own work at start and end, as measured (ns).
        steps: Steps that it recorded.
    """
    own = sum(own_ns)
    return Cost(
        own + steps * STEP_COST_NS,
        f"{own / 1e6:.0f} ms measured at start and end, {steps} steps at {STEP_COST_NS / 1e3:.1f} µs",
    )


def of_cores(cpu_ns: int | None) -> Cost:
    """Cost of the sampler, by its CPU time (ns)."""
    return Cost(cpu_ns, "measured: CPU time of the sampler (cores and GPU together)")


def of_gpu() -> Cost:
    """Cost of the series of GPUs: the sampler takes them beside those of the cores."""
    return Cost(None, "in the sampler's, see cores")


def of_kernels(run: Mapping[str, pa.Table], switching_ns: int | None, *, asynchronous: bool) -> Cost | None:
    """Cost of the kernel windows, against the plain steps around them; None: no window was one of a loop.

    Args:
        run: Tables `steps`, `epochs`, `phase_intervals` and `kernel_windows`.
        switching_ns: What switching the tracer on and off took, as measured (ns); None: not known.
        asynchronous: The step function returns before the device has finished.
    """
    windows = [
        _of_window(run, row, asynchronous=asynchronous)
        for row in run["kernel_windows"].to_pylist()
        if row["loop"] is not None
    ]
    if not windows:
        return None
    extra = [window.ns for window in windows if window.ns is not None]
    total = (switching_ns or 0) + sum(extra) if extra else switching_ns
    return Cost(total, "; ".join(["measured: switching on and off", *(window.source for window in windows)]))


def _of_window(run: Mapping[str, pa.Table], row: Mapping[str, Any], *, asynchronous: bool) -> Cost:
    traced = f"{row['steps']} traced {row['loop']} steps"
    times = step_times.compare(run, row["window"], asynchronous=asynchronous)
    if times.plain_ns is None or times.slowdown is None:
        return Cost(None, f"{traced}, with no plain ones to compare")
    extra = max(0, (times.window_ns - times.plain_ns) * row["steps"])
    return Cost(extra, f"{traced} at {times.slowdown:.2f} x a plain one")
