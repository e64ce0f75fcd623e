"""Calls of `predict` and `evaluate` for little, from one line, again and again: what they have in common is told once.

A call of `predict` for one row takes a third of a millisecond, and the hooks inside of it took a quarter of that. Where
a line calls the same model with an array of the same shape and the same settings as a hundred times before, each time
over at once, its span, its line, its steps and the facts that it shares with the others are recorded, and the hooks
inside of it are passed by. Every fiftieth is looked at in full, and behind ten of these every five hundredth.

To pass a hook by costs something, too, and a call of `predict` passes eleven of them. So they are taken off
(`lifted_hooks`) as long as no thread runs anything but such calls. The stand-in for the step function alone tells the
step then, which is why calls of several steps keep them.
"""

import weakref
from sys import _getframe
from threading import get_ident

from dlprof_probes.inproc.clock import now

AFTER = 100
"""Calls in a row that are alike, before any is passed by."""
IN_FULL = 50
"""One of so many is looked at in full."""
KNOWN_AFTER = 10
"""So many of these that were alike, too, and one of `IN_FULL_LATER` is."""
IN_FULL_LATER = 500
SHORT_NS = 5000000
"""A call that takes longer can bear its hooks."""
_MOST_PLACES = 256
_STEP_FUNCTIONS = {"predict": "predict_function", "evaluate": "test_function"}
"""Attributes of a model that hold what a method runs: another one, as after `compile`, is to be seen."""
_PLAIN = (bool, int, float, str, type(None))
"""What settings may be: nothing else of the program's is held."""
_TOLD = (
    "%d of %d calls of predict and evaluate were like those before them from the same line, and are told in short: "
    "their times and steps are measured, what else is told of them is what was true of the last one told in full"
)


class RoutineCalls(object):
    """Those of a process.

    Args:
        probe: `Probe`.

    Attributes:
        inside: Threads that are in a call which is passed by; hot wrappers read it.
        short, full: How many calls were told in short, and how many in full.
    """

    def __init__(self, probe):
        self.inside = set()
        self.short = self.full = 0
        self._probe = probe
        self._methods = []

    def of(self, name, kind):
        """What is called around each call of a method: a `_Method`.

        Args:
            name: `predict` or `evaluate`.
            kind: `wire.SpanKind` of its spans.
        """
        method = _Method(self, self._probe, name, kind)
        self._methods.append(method)
        return method

    def thread_ended(self, ident):
        """That thread ends: one that gets its number has made no call."""
        self.inside.discard(ident)
        for method in self._methods:
            method.thread_ended(ident)

    def forget(self):
        """No call runs: this is a forked child."""
        self.inside.clear()
        self._probe.loops.lifted.forget()
        for method in self._methods:
            method.forget()

    def finish(self):
        """Say how many were told in short."""
        if self.short:
            self._probe.recorder.note("routine-calls", _TOLD % (self.short, self.short + self.full), "info")


class _Method(object):
    """A method of models, and the places in the program that call it."""

    def __init__(self, calls, probe, name, kind):
        self._calls = calls
        self._probe = probe
        self._name = name
        self._kind = kind
        self._function = _STEP_FUNCTIONS.get(name, name)
        self._places = {}

    def begin(self, args, kwargs):
        """Begin a call that is like those before; returns what `end` takes, or None: it is to be looked at in full."""
        if not self._places:
            return None
        frame, ident = _getframe(3), get_ident()
        place = self._places.get((id(frame.f_code), frame.f_lasti, ident))
        if place is None or not place.left or not place.takes(args, kwargs):
            return None
        probe, inside = self._probe, self._calls.inside
        if probe.recorder.stacks.get(ident) or probe.windows.active is not None or ident in inside:
            return None
        place.left -= 1
        lifted = probe.loops.lifted
        if lifted.are_off != place.is_one_step:
            if place.is_one_step:
                lifted.take_off(inside)
            else:
                lifted.put_back()
        begun = now()
        span = probe.recorder.begin_like(place.spans, begun)
        probe.loops.reopen(place.loop, span, begun)
        inside.add(ident)
        return place, span, begun

    def end(self, token, _args):
        """That call is over."""
        place, span, begun = token
        probe, ended = self._probe, now()
        self._calls.inside.discard(get_ident())
        self._calls.short += 1
        probe.loops.close_again(place.loop)
        probe.recorder.end_like(span, ended)
        if ended - begun > SHORT_NS:
            place.left = 0

    def seen(self, frame, args, kwargs, loop, facts):
        """A call was looked at in full.

        Args:
            frame: Where it was made.
            args: Its arguments: the model, and what was given to it.
            kwargs: The others.
            loop: Its loop.
            facts: Payloads of what was told of it; None: some of that is its own.
        """
        self._calls.full += 1
        key = id(frame.f_code), frame.f_lasti, get_ident()
        is_short = now() - loop.opened <= SHORT_NS
        if not facts or len(args) < 2 or not all(type(one) in _PLAIN for one in kwargs.values()):
            self._places.pop(key, None)
            return
        place = self._places.get(key)
        if place is None:
            if len(self._places) < _MOST_PLACES and self._probe.is_user_file(frame.f_code.co_filename):
                place = self._places[key] = _Place(frame, self._function)
                place.note(args, kwargs)
        else:
            place.again(args, kwargs, is_short)
        if place is not None:
            place.ran(loop)
            place.spans = self._probe.recorder.alike(self._kind, self._name, place.user_line, facts)

    def thread_ended(self, ident):
        """That thread makes no more calls."""
        for key in [key for key in list(self._places) if key[2] == ident]:
            self._places.pop(key, None)

    def forget(self):
        """This is a forked child."""
        self._places.clear()


class _Place(object):
    """A place in the program that makes such calls.

    Attributes:
        user_line: Its file and line.
        spans: What spans of calls have in common (`Recorder.alike`), as of the last call in full.
        loop: The loop of that call.
        is_one_step: That was one step, which the stand-in for the step function tells.
        alike: Calls in a row that were alike.
        left: Calls that may be told in short before one is looked at in full.
    """

    __slots__ = (
        "_arrays", "_attribute", "_code", "_function", "_model", "_settings", "alike", "is_one_step", "left",
        "loop", "spans", "user_line",
    )  # fmt: skip

    def __init__(self, frame, attribute):
        self._code = frame.f_code  # its number is what this place is found by, and is no other's while it is held
        self._attribute = attribute
        self.user_line = frame.f_code.co_filename, frame.f_lineno or 0

    def note(self, args, kwargs):
        """A call that is not like the one before."""
        self._model = weakref.ref(args[0])
        self._function = args[0].__dict__.get(self._attribute)
        self._arrays = [(a.__class__, getattr(a, "shape", None), getattr(a, "dtype", None)) for a in args[1:]]
        self._settings = dict(kwargs)
        self.alike = self.left = 0

    def ran(self, loop):
        """That was the loop of a call that was looked at in full. One that shows its progress has callbacks."""
        self.loop = loop
        is_told = loop.step_index == 1 and getattr(self._function, "_dlprof", False)
        self.is_one_step = is_told and self._settings.get("verbose") == 0

    def takes(self, args, kwargs):
        """Whether a call is like the last one: the same model and settings, arrays of the same types and shapes."""
        if len(args) != len(self._arrays) + 1 or self._model() is not args[0]:
            return False
        if args[0].__dict__.get(self._attribute) is not self._function:
            return False
        for array, (kind, shape, dtype) in zip(args[1:], self._arrays):
            if array.__class__ is not kind or dtype is None or array.dtype is not dtype or array.shape != shape:
                return False
        settings = self._settings
        if len(kwargs) != len(settings):
            return False
        for name in kwargs:  # noqa: SIM110  (hot: no generator)
            if name not in settings or kwargs[name] is not settings[name]:
                return False
        return True

    def again(self, args, kwargs, is_short):
        """Another call was looked at in full. One that took long, as on a busy machine, is followed by one in full."""
        if self.takes(args, kwargs):
            self.alike += 1
            if not is_short or self.alike < AFTER:
                self.left = 0
            else:
                self.left = (IN_FULL if self.alike < AFTER + KNOWN_AFTER else IN_FULL_LATER) - 1
        else:
            self.note(args, kwargs)
