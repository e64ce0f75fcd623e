"""For how long training stands still until the device has given a value. Nothing is waited for that is not anyway."""

from threading import get_ident

from dlprof_probes import wire

LEAST_NS = 50000
"""A value that is there is read faster than this (ns): that is no wait."""


class Waits(object):
    """The waits of loops, where the engine works on when a step has returned.

    What reads values is hooked by `hooks` and `engines` (`wrappers.waiting`); until an engine says that it works on,
    these only call on.

    Args:
        recorder: `Recorder`.
        loops: `Loops`.

    Attributes:
        on: One-element list: whether waits are looked at; read by hot paths.
        inside: Threads that are in a function that reads values now; those that it calls count with it.
    """

    def __init__(self, recorder, loops):
        self.on = loops.waits
        self.inside = set()
        self._recorder = recorder
        self._loops = loops

    def watch(self):
        """The engine works on when a step has returned: what reads values waits for it."""
        self.on[0] = True

    def over(self, start, end):
        """The calling thread has got a value which it asked for at `start` (ns)."""
        loop = self._loops.current.get(get_ident())
        if loop is None or end - start < LEAST_NS:
            return
        if loop.outer is not None:
            self._inside_fit(loop.outer, start, end)
        elif loop.begin:
            loop.device_wait += end - start
        else:
            self._wait(start, end)

    def flushed(self, start, end):
        """The calling thread has waited, from `start` to `end`, for its callbacks on other threads.

        That is a wait for the device for as long as these wait for values of training steps.
        """
        loop = self._loops.current.get(get_ident())
        if loop is None:
            return
        if loop.outer is not None:
            self._inside_fit(loop.outer, start, end)
        else:
            self._wait(start, min(end, loop.valued))

    def evaluated(self, loop, end):
        """A loop ends: if it ran inside a training, the device was first busy with that, whatever the host did.

        Its dispatch stands still then, too, because only so much may be on its way.
        """
        if loop.outer is not None:
            self._inside_fit(loop.outer, loop.opened, end)

    def _inside_fit(self, training, start, end):
        self._wait(start, min(end, training.valued))

    def _wait(self, start, end):
        if end - start >= LEAST_NS:
            self._recorder.complete(wire.SpanKind.WAIT, "values of the device", start, end)
