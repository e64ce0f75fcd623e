"""The run's clock inside the traced process: `time.perf_counter_ns`, also where it is missing (3.6)."""

import sys
import time

_perf_counter, _time = time.perf_counter, time.time  # the program may replace those of the module


def _perf_counter_ns_36():
    return int(_perf_counter() * 1e9)


now = getattr(time, "perf_counter_ns", _perf_counter_ns_36)
"""Nanoseconds on CLOCK_MONOTONIC."""


def use(clock):
    """Have the whole probe read another clock from here on; for tests.

    Whoever asks for the time has `now` as a name of its own module, because in a step every call counts; so it is
    replaced in each of them. What was hooked before keeps the clock that it had then.

    Args:
        clock: Function without arguments that gives nanoseconds.

    Returns:
        The clock before, to be used again afterwards.
    """
    before = now
    for name, module in list(sys.modules.items()):
        if name.startswith("dlprof_probes.inproc.") and vars(module).get("now") is before:
            module.now = clock
    return before


def anchor(tries=20):
    """A pair of readings of the run's clock and of the wall clock, taken as close together as possible.

    Returns:
        dict: `perf_ns`, `wall_ns` (Unix time), and `width_ns`, the time between the two readings of
        the run's clock around the wall clock's: twice the greatest error of the pair.
    """
    best = None
    for _ in range(tries):
        before = now()
        wall = _time()
        after = now()
        if best is None or after - before < best["width_ns"]:
            best = {"perf_ns": (before + after) // 2, "wall_ns": int(wall * 1e9), "width_ns": after - before}
    return best
