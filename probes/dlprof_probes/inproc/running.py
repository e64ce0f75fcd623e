"""Trainings that run already when the probe comes: told as if they began now."""

import sys
from inspect import unwrap
from sys import _getframe

from dlprof_probes.inproc.hooks import keras_common

_TOOLS = range(6)
"""Numbers that `sys.monitoring` gives to tools."""


class Running(object):
    """Calls of fit, evaluate and predict of Keras that the main thread is in.

    Args:
        probe: `Probe`, whose hooks are in place.
    """

    def __init__(self, probe):
        self._probe = probe
        self._open = []
        self._tool = None

    def join(self, frame):
        """Begin the spans and loops of the calls that `frame` is inside of, the outermost first."""
        found = []
        while frame is not None:
            model = _model_of(frame)
            if model is not None:
                found.append((frame, model))
            frame = frame.f_back
        for frame, model in reversed(found):
            name = frame.f_code.co_name
            enter, leave = self._probe.loop_hooks[name]
            token = enter((model,))
            if token is not None:
                self._open.append((frame, leave, token))
                keras_common.stand_in(self._probe, model)
                self._at_epoch(frame, name)
        if self._open:
            self._watch()

    def _at_epoch(self, frame, name):
        """In which epoch a training is; what came before in it, and when the step that runs began, is not known."""
        loop, epoch = self._probe.current_loop(), frame.f_locals.get("epoch")
        loop.joined = True
        if name == "fit" and isinstance(epoch, int):
            loop.start_epoch(epoch)
            loop.previous_end = 0

    def _watch(self):
        """Be told when one of them is over."""
        monitoring = getattr(sys, "monitoring", None)  # from Python 3.12 on
        free = (number for number in _TOOLS if monitoring is not None and monitoring.get_tool(number) is None)
        self._tool = next(free, None)
        if self._tool is None:
            text = "Nothing can watch for it here: when a training that ran already ended is not known."
            self._probe.recorder.note("joined-loop", text)
            return
        events = monitoring.events
        monitoring.use_tool_id(self._tool, "dlprof")
        over = self._probe.guard(self._over, goes_on=True)
        monitoring.register_callback(self._tool, events.PY_RETURN, lambda *_args: over(_getframe(1)))
        monitoring.register_callback(self._tool, events.PY_UNWIND, lambda *_args: over(_getframe(1)))
        for frame, _, _ in self._open:
            monitoring.set_local_events(self._tool, frame.f_code, events.PY_RETURN)
        monitoring.set_events(self._tool, events.PY_UNWIND)

    def _over(self, frame):
        while any(one is frame for one, _, _ in self._open):
            _, leave, token = self._open.pop()
            leave(token, ())
        if not self._open:
            self._unwatch()

    def _unwatch(self):
        if self._tool is not None:
            tool, self._tool = self._tool, None
            sys.monitoring.set_events(tool, 0)
            sys.monitoring.free_tool_id(tool)

    def leave(self):
        """End what is still open, and be told no more; returns what went wrong with that."""
        problems = []
        while self._open:
            _, leave, token = self._open.pop()
            try:
                leave(token, ())
            except Exception as error:
                problems.append("%s: %s" % (type(error).__name__, error))
        self._unwatch()
        return problems


def _model_of(frame):
    """The model whose fit, evaluate or predict a frame is; None: it is none of these."""
    name = frame.f_code.co_name
    if name not in dict(keras_common.LOOPS):
        return None
    model = frame.f_locals.get("self")
    hooked = getattr(type(model), name, None)
    if not getattr(hooked, "_dlprof", False):
        return None
    return model if getattr(unwrap(hooked), "__code__", None) is frame.f_code else None
