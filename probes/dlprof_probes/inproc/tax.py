"""What hooks and records cost in this very process: timed at its end, for the ledger; a few hundred microseconds.

What is timed are the wrappers that stood around the user's code, around a function that does nothing, and the recorder,
with records that go nowhere. The first rounds, with cold caches, count as they would in a training step.
"""

import time
from collections import deque
from sys import _getframe

from dlprof_probes import wire
from dlprof_probes.inproc.clock import now
from dlprof_probes.inproc.loops import Loop

_ROUNDS = 40


def measure(probe):
    """Nanoseconds of a step, of a span, of a hook that records nothing; how often these were called; time of writing.

    Args:
        probe: The `Probe`, whose work is over.
    """
    calls = probe.calls[0]
    real = probe.recorder
    scratch = _silent(real)
    return {
        "step_ns": _step_ns(probe, scratch),
        "span_ns": _timed(lambda: _span(scratch)),
        "call_ns": _call_ns(probe),
        "calls": calls,
        "write_ns": real.write_ns,
    }


def _silent(recorder):
    """A recorder like that one, whose records are never written."""
    silent = type(recorder).__new__(type(recorder))
    silent.__dict__.update(recorder.__dict__)
    silent._queue = deque()
    silent._strings = dict(recorder._strings)
    silent.stacks = {}
    silent._threads = dict(recorder._threads)
    silent.flush = _nothing
    return silent


def _span(recorder):
    recorder.end(recorder.begin(wire.SpanKind.DLPROF, "calibration", _getframe()))


def _step_ns(probe, recorder):
    current = {}
    loop = Loop(recorder, [0], 0)
    loop.start_epoch(0)
    current[loop._thread] = loop
    wrappers, lines = probe.wrappers, probe.lines
    begin = wrappers.batch_begin(_nothing, current, now, lines)
    call = wrappers.StepFunction(_nothing, current, now)
    end = wrappers.batch_end(_nothing, current, now, lines)

    def step():
        begin(None, loop.step_index, None)
        call(None)
        end(None, loop.step_index, None)

    def bare():
        _nothing(None, 0, None)
        _nothing(None)
        _nothing(None, 0, None)

    return max(0, _timed(step) - _timed(bare))


def _call_ns(probe):
    """Of one guarded hook; a wrapper around a function has two, and its own call."""
    hooked = probe.wrappers.spanned(_nothing, probe.guard_enter(_nothing), probe.guard(_nothing))
    return max(0, _timed(hooked) - _timed(_nothing)) // 2


def _nothing(*_args):
    return None


_clock_gettime, _OF_THREAD = time.clock_gettime, time.CLOCK_THREAD_CPUTIME_ID


def _cpu_ns_36():
    return int(_clock_gettime(_OF_THREAD) * 1e9)


_cpu_ns = getattr(time, "thread_time_ns", _cpu_ns_36)
"""CPU time of the calling thread: on a busy machine the clock would count others' work, too."""


def _timed(function):
    """Mean CPU time of a call (ns)."""
    start = _cpu_ns()
    for _ in range(_ROUNDS):
        function()
    return (_cpu_ns() - start) // _ROUNDS
