"""When Python ran on threads that an engine made: a sampler sees that such a thread has come, and not when it is gone.

What calls Python from such a thread (tf.data's `py_function`, JAX's callbacks) is wrapped. Calls of a thread that are
less than `GAP_NS` apart are one stretch, which says for how long Python ran in it. Records stay few: each time that
`RECORDS_APART` of them were written, the gap doubles. Nothing is left out by that: a longer stretch holds all calls.
"""

import threading
from threading import get_ident

from dlprof_probes.inproc.clock import now

GAP_NS = 5 * 1000 * 1000
RECORDS_APART = 20000
_LONGEST = 200
"""How many gaps a stretch is long when it is written, so that a kill loses little: a second, at first."""
_MOST_RUNNING = 4096
"""Threads beyond that are not told."""
_BEGIN, _END, _INSIDE = 1, 2, 3

_known_threads = vars(threading)["_active"]
_Dummy = vars(threading)["_DummyThread"]
_number = vars(threading).get("get_native_id") or get_ident
"""The thread's number as the sampler has it: before Python 3.8 it does not know that of the system."""


class NativeCalls(object):
    """Calls of Python on threads that Python did not start.

    It keeps nothing in the threads, and nothing of those that are gone for longer than a stretch may be.

    Args:
        probe: `Probe`.
    """

    def __init__(self, probe):
        self._probe = probe
        self._running = {}  # number of a thread to when its outermost call began
        self._stretches = {}  # the same to [its number, begin, end, ns inside]
        self._gap_ns = GAP_NS
        self._written = 0
        self._swept = 0
        self._left_out = 0
        self._over = False

    def wrap(self, function):
        """A function that an engine calls, made to tell of its calls."""
        return self._probe.wrappers.native_call(function, self.begun, self.ended)

    def begun(self):
        """The calling thread comes into Python; returns what `ended` is to be told."""
        try:
            thread = _known_threads.get(get_ident())
            if self._over or (thread is not None and type(thread) is not _Dummy):
                return None  # of a thread of Python the sampler knows when it ends
            number, running = _number(), self._running
            if number in running:
                return None  # a call inside of another one
            if len(running) >= _MOST_RUNNING:
                self._left_out += 1
                return None
            begin = running[number] = now()
            return number, begin
        except Exception as error:
            self._probe.failed(self.begun, error)
            return None

    def ended(self, call):
        """The call is over."""
        if call is None:
            return
        try:
            end, (number, begin) = now(), call
            if self._running.pop(number, None) is None:
                return  # `finish` has told it
            kept = self._stretches.get(number)
            if kept is not None and begin - kept[_END] < self._gap_ns and end - kept[_BEGIN] < _LONGEST * self._gap_ns:
                kept[_END] = end
                kept[_INSIDE] += end - begin
            else:
                self._begin_stretch(number, begin, end)
        except Exception as error:
            self._probe.failed(self.ended, error)

    def _begin_stretch(self, number, begin, end):
        kept = self._stretches.pop(number, None)
        if kept is not None:
            self._write(kept)
        if self._over:
            return
        self._stretches[number] = [number, begin, end, end - begin]
        if end - self._swept > _LONGEST * self._gap_ns:
            self._swept = end
            self._sweep(end - _LONGEST * self._gap_ns)

    def _sweep(self, before):
        """Write what ended before that time: those threads may be gone."""
        for number, kept in list(self._stretches.items()):
            if kept[_END] < before and number not in self._running and self._stretches.pop(number, None) is not None:
                self._write(kept)

    def _write(self, kept):
        self._probe.recorder.stretch(*kept)
        self._written += 1
        if self._written % RECORDS_APART == 0:
            self._gap_ns *= 2

    def finish(self):
        """Write all, also of calls that go on."""
        self._over = True
        end = now()
        for number in list(self._stretches):
            kept = self._stretches.pop(number, None)
            if kept is not None:
                self._write(kept)
        for number in list(self._running):
            begin = self._running.pop(number, None)
            if begin is not None:
                self._write([number, begin, end, end - begin])
        if self._left_out:
            text = "%d calls of Python on an engine's own threads were left out: too many threads at a time."
            self._probe.recorder.note("native-calls-left-out", text % self._left_out, "info")

    def forget(self):
        """This is a forked child."""
        self._over = True
        self._running.clear()
        self._stretches.clear()
