"""What the probes cost the run: the figures of the overhead ledger, with how each was got."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import structs

from dlprof.analysis import step_times
from dlprof.analysis.columns import in_windows, steps_of, under_tracer
from dlprof.schema.manifest import Probe, Thinned

STEP_COST_NS = 1_600
"""What recording one step costs (ns), where the process did not find out; by `python -m tests.benchmarks record`."""
LINE_SPANS = ("start line profiling", "save line times")
"""Spans of dlprof's own work in the process that are in the cost of the probe of lines."""
TRACING_BEGINS, TRACING_ENDS = "start kernel tracing", "stop kernel tracing"
"""Spans of the in-process probe around a kernel window."""
COUNTING_OBJECTS = "count objects"
"""Spans in which objects were counted by type, in the process."""
OF_OTHER_PROBES = frozenset({TRACING_BEGINS, TRACING_ENDS, *LINE_SPANS})
"""Spans of dlprof's own work in the process that are in the cost of the probes of kernels and lines."""
BESIDE = ("cores", "stacks", "live")
"""Probes beside the process: they take time from the run only where all cores are busy."""


def as_row(probe: Probe) -> dict[str, Any]:
    """A probe as a row of the table `probes`."""
    told = probe.thinned
    thinned = {
        "thinned": told.what if told else None,
        "thinned_from_value": told.before if told else None,
        "thinned_to_value": told.to if told else None,
        "thinned_why": told.why if told else None,
    }
    return {**structs.asdict(probe), **thinned}


def thinned_of(row: Mapping[str, Any]) -> Thinned | None:
    """What a row of the table `probes` says of thinning; None: nothing was thinned."""
    if row.get("thinned") is None:
        return None
    return Thinned(
        what=row["thinned"], before=row["thinned_from_value"], to=row["thinned_to_value"], why=row["thinned_why"] or ""
    )


@dataclass(frozen=True)
class Cost:
    """What a probe cost.

    Attributes:
        ns: The cost (ns); None: it is part of another probe's.
        source: How it was got, for people.
    """

    ns: int | None
    source: str


@dataclass(frozen=True)
class Prices:
    """What hooks and records cost in the traced process, as it found out at its end (ns each).

    Attributes:
        step_ns: The hooks around a step, and its record.
        span_ns: Begin and end of a span.
        call_ns: A hook, whatever it does.
        calls: How often hooks were called.
        write_ns: What writing the stream took in all, with the counter of Python's blocks that is read behind it.
    """

    step_ns: int
    span_ns: int
    call_ns: int
    calls: int
    write_ns: int


def of_phases(own_ns: int, counting_ns: int, steps: int, spans: int, prices: Prices | None) -> Cost:
    """Cost of the in-process probe.

    Args:
        own_ns: Its own work at start and end, as measured (ns).
        counting_ns: Counting objects by type, as measured (ns).
        steps: Steps that it recorded.
        spans: Spans that it recorded.
        prices: What each cost; None: the process could not say.
    """
    own = f"{own_ns / 1e6:.0f} ms measured at start and end"
    if counting_ns:
        own += f", {counting_ns / 1e6:.0f} ms measured counting objects"
    if prices is None:
        source = f"{own}, {steps} steps at {STEP_COST_NS / 1e3:.1f} µs (as on another machine)"
        return Cost(own_ns + counting_ns + steps * STEP_COST_NS, source)
    hooks = steps * prices.step_ns + spans * prices.span_ns + prices.calls * prices.call_ns
    source = (
        f"{own}; {steps} steps at {prices.step_ns / 1e3:.1f} µs, {spans} spans at {prices.span_ns / 1e3:.1f} µs, "
        f"{prices.calls} hooks at {prices.call_ns / 1e3:.2f} µs, each timed in the process at its end; "
        f"writing, and counting Python's blocks, {prices.write_ns / 1e6:.1f} ms"
    )
    return Cost(own_ns + counting_ns + hooks + prices.write_ns, source)


def of_cores(cpu_ns: int | None, memory_ns: int | None) -> Cost:
    """Cost of the sampler, by its CPU time (ns), and how much of it went to memory and descriptors; None: not told."""
    memory = f", {memory_ns / 1e6:.0f} ms of it for memory and open descriptors" if memory_ns is not None else ""
    return Cost(cpu_ns, f"measured: CPU time of the sampler (cores and GPU together{memory})")


def of_gpu() -> Cost:
    """Cost of the series of GPUs: the sampler takes them beside those of the cores."""
    return Cost(None, "in the sampler's, see cores")


def busy_share(cores: pa.Table | None, own_ns: int = 0) -> float | None:
    """Chance that no core was free for a probe beside the process, over the sampled time; None: cores were not sampled.

    Of each interval it is the product of how busy each core was: what is beside the process came, by chance, upon cores
    that were all at work. The sidecar thins its probes by the same figure (`dlprof_probes.sidecar.rate`).

    Args:
        cores: The table `cores`.
        own_ns: CPU time that these probes took themselves (ns): evenly, and on the core that had most room.
    """
    if cores is None or not cores.num_rows:
        return None
    known = cores.filter(pc.is_finite(cores["busy_pct"]))
    loads = known.select(["time_ns", "interval_ns"]).append_column("load", pc.divide(known["busy_pct"], 100.0))
    times = loads.group_by("time_ns").aggregate([("load", "product"), ("load", "min"), ("interval_ns", "max")])
    whole = pc.sum(times["interval_ns_max"]).as_py()
    if not whole:
        return None
    least = times["load_min"].to_numpy()
    others = times["load_product"].to_numpy() / np.where(least > 0, least, 1.0)
    chances = np.clip(least - own_ns / whole, 0.0, 1.0) * np.clip(others, 0.0, 1.0)
    return float((chances * times["interval_ns_max"].to_numpy()).sum() / whole)


def taxed(probe: Probe, busy: float | None) -> Probe:
    """A probe with what the run had to wait for it.

    Args:
        probe: The probe.
        busy: Chance that all cores were busy (`busy_share`); None: not known.
    """
    if probe.cost_ns is None or probe.tax_ns is not None:
        return probe
    if probe.name not in BESIDE:
        return structs.replace(probe, tax_ns=probe.cost_ns)
    if busy is None:
        return probe
    waited = f"the run waited for {100 * busy:.1f} % of it, by how busy all cores were at a time"
    source = f"{probe.cost_source}; {waited if busy else 'a core was free at any time'}"
    return structs.replace(probe, tax_ns=int(probe.cost_ns * busy), cost_source=source)


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
    disturbed = _disturbed(run, row)
    if disturbed.num_rows:
        longer = int(pc.sum(disturbed["dur_ns"]).as_py()) - times.plain_ns * int(pc.sum(disturbed["count"]).as_py())
        return Cost(
            extra + max(0, longer),
            f"{traced} at {times.slowdown:.2f} x a plain one, {disturbed.num_rows} that took {longer / 1e9:.2f} s more",
        )
    return Cost(extra, f"{traced} at {times.slowdown:.2f} x a plain one")


def _disturbed(run: Mapping[str, pa.Table], row: Mapping[str, Any]) -> pa.Table:
    """Steps that a window leaves out, though they began while its tracer was on."""
    steps, window = steps_of(run["steps"], row["loop"]), pa.Table.from_pylist([row])
    return steps.filter(pa.array(under_tracer(steps, window) & ~in_windows(steps, window)))
