"""What the main thread waited for while the process started and ended: that is no matter of what it imported."""

from __future__ import annotations

from dlprof.analysis import scheduling
from dlprof.analysis.doubts import STARTS
from dlprof.store.run import Run
from dlprof.units import duration

_SHARE, _LEAST_NS = 0.1, 500_000_000
"""Less of the wall time, or less than this, is not told: counters are sampled once a second."""


def waited(run: Run) -> str:
    """A sentence with a space before it; empty: it did not wait for long, or nothing tells."""
    known = [one for one in (scheduling.main_thread(run, place) for place in STARTS) if one is not None]
    least = max(_SHARE * (run.wall_ns or 0), _LEAST_NS)
    parts = (
        (sum(one.wait_ns for one in known), "waited {} for a core that others had"),
        (sum(one.stood_ns for one in known), "stood still for {} (a disk, another process, a lock)"),
    )
    told = [text.format(duration(ns)) for ns, text in parts if ns >= least]
    whole = sum(one.run_ns + one.wait_ns + one.stood_ns for one in known)
    return f" Of {duration(whole)} of start, imports and end the main thread {' and '.join(told)}." if told else ""
