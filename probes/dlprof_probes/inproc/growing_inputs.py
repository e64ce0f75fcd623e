"""Models that are called again and again outside of training, each time with the input before and a piece more.

So a text is written by a model that keeps nothing of what it computed of the earlier pieces. Only shapes are looked at,
of the outermost call of a model: no value of an array, and nothing waits for a device. A sequence is a row of calls
whose input gets longer by the same few places, along one axis that is not that of the batch; the times between their
begins are summed so that a line can be fitted to them: that also holds where an engine returns before it has computed.
"""

from sys import _getframe
from threading import get_ident

from dlprof_probes import wire
from dlprof_probes.inproc.clock import now

_ENGINES = frozenset(("numpy", "torch", "tensorflow", "jaxlib", "jax", "mxnet"))
_LEAST_CALLS = 16
"""Fewer may be lengths that follow each other by chance."""
_LONGEST_PIECE = 8
"""Places that a call has more than the one before: lengths that a study goes through are farther apart."""
_LOOKED_AT = (_LEAST_CALLS // 2, 2 * _LEAST_CALLS, 8 * _LEAST_CALLS)
"""Calls of a sequence at which its line is looked for."""
_MODELS = 64
_PLACES = 64
_SEQUENCES = 64
"""Of one line that are told, each with when it was."""
_ARGUMENTS = 6
_TYPES = 1024


class Asked(object):
    """What tells of calls of models of one engine.

    Attributes:
        is_asking: Function that says whether what is called now is not trained.
        is_time_first: Function of a model: whether the first axis of its input is time.
        mark_of: Function of an array: what tells that it is a part of another one, which nobody has written to; None:
            it is none, or that is not known.
    """

    __slots__ = ("is_asking", "is_time_first", "mark_of")

    def __init__(self, is_asking, is_time_first=lambda _model: False, mark_of=lambda _array: None):
        self.is_asking = is_asking
        self.is_time_first = is_time_first
        self.mark_of = mark_of


_PREDICTS = Asked(lambda: True)
_OF_PREDICT = id(_PREDICTS)


class _Sequence(object):
    """The calls of one model on one thread, since its input last did something else than to grow.

    Attributes:
        name: Of the class of the model.
        shapes: Of the arrays of the last call.
        updates: Updates of weights up to it.
        growth: Which array grows, along which axis, and by how much; None: there was one call.
        calls, first, length: How many, and the first and last length.
        begin, last: Begin of the first and of the last call (ns).
        sums: Of the times between calls, but for that behind the first one: how many, lengths, their squares, times
            (ns), lengths by times, squares of times.
        shortest: The shortest of them (ns).
        place: File and line; None: not looked for yet.
        is_other: It is no such sequence after all.
    """

    __slots__ = (
        "begin",
        "calls",
        "first",
        "growth",
        "is_other",
        "last",
        "length",
        "mark",
        "name",
        "place",
        "shapes",
        "shortest",
        "sums",
        "updates",
    )

    def __init__(self, name, shapes, time, updates):
        self.name = name
        self.begins(shapes, time, updates)

    def begins(self, shapes, time, updates):
        """A call that is the first of a sequence, if it is one of any."""
        self.shapes = shapes
        self.updates = updates
        self.begin = self.last = time
        self.growth = self.place = self.mark = None
        self.calls = 1
        self.is_other = False

    def grows(self, shapes, growth, time):
        """The next call, with a piece more."""
        if self.growth is None:
            self.growth = growth[:3]
            self.first = growth[3] - growth[2]
            self.sums = [0, 0.0, 0.0, 0.0, 0.0, 0.0]
            self.shortest = 0
        if self.calls > 1:  # what the first call makes ready is no matter of lengths
            self._add(growth[3] - growth[2], time - self.last)
        self.shapes = shapes
        self.last = time
        self.length = growth[3]
        self.calls += 1

    def _add(self, length, lasted):
        sums = self.sums
        sums[0] += 1
        sums[1] += length
        sums[2] += length * length
        sums[3] += lasted
        sums[4] += float(length) * lasted
        sums[5] += float(lasted) * lasted
        if not self.shortest or lasted < self.shortest:
            self.shortest = lasted


class GrowingInputs(object):
    """The sequences of one process.

    Args:
        probe: `Probe`.

    Attributes:
        inside: Threads that are in a call of a model; the wrappers read it.
        grown: How many calls had a piece more than the one before.
    """

    def __init__(self, probe):
        self._probe = probe
        self.inside = set()
        self.grown = 0
        self._sequences = {}
        self._types = {}
        self._told = {}
        self._left_out = 0

    def watch(self, owner, name, asked):
        """Look at calls of the method `owner.name` of models; gives whether it is there.

        Args:
            owner: A class.
            name: Name of the method.
            asked: `Asked`.
        """
        return self._probe.replace(owner, name, lambda original: self.wrapped(original, asked), again=True)

    def wrapped(self, original, asked):
        """A method of models whose outermost calls are looked at."""

        def called(args, keywords):
            return self._called(asked, args, keywords)

        hook = self._probe.guard(called, goes_on=True)
        return self._probe.wrappers.outermost(original, self.inside, hook)

    def predicted(self, args, keywords):
        """A model's own `predict` is called, which may be for a row each: what it computes is never trained. Hot."""
        if len(args) == 2:
            known = self._sequences.get((get_ident(), id(args[0]), _OF_PREDICT))
            if known is not None and known.calls == 1:
                array, shapes = args[1], known.shapes
                if len(shapes) == 1 and self._types.get(type(array)) and array.shape == shapes[0]:
                    known.begin = known.last = now()  # as long before: nothing grows
                    known.updates = self._probe.own_loops.updated
                    return
        self._called(_PREDICTS, args, keywords)

    def _called(self, asked, args, keywords):
        """A model is called. Hot. Gives a function that takes what it gives, where that is asked for; else None."""
        time = now()
        if len(args) + len(keywords) < 2:
            return None
        shapes = self._shapes(args[1:], keywords)
        key = get_ident(), id(args[0]), id(asked)
        known = self._sequences.get(key)
        updates = self._probe.own_loops.updated
        if known is None:
            if len(self._sequences) >= _MODELS:
                self._over_with_all()
            self._sequences[key] = _Sequence(type(args[0]).__name__, shapes, time, updates)
            return None
        growth = None
        if shapes != known.shapes and updates == known.updates:
            growth = growth_of(known.shapes, shapes)
        if growth is None or (known.growth is not None and known.growth != growth[:3]) or not asked.is_asking():
            if known.calls > 1:
                self._over(known)
            known.begins(shapes, time, updates)
            return None
        return self._goes_on(asked, known, (args, keywords), shapes, growth, time)

    def _goes_on(self, asked, known, arguments, shapes, growth, time):
        """The call has a piece more than the one before."""
        args, keywords = arguments
        known.grows(shapes, growth, time)
        self.grown += 1
        calls = known.calls
        if calls in _LOOKED_AT and not known.is_other:
            place = self._probe.recorder.user_line(_getframe(3))
            if known.place is None and growth[1] == 0 and not asked.is_time_first(args[0]):
                known.is_other = True
            known.is_other = known.is_other or known.place not in (None, place)
            known.place = place
        # All of it may have been there from the beginning: parts of an array that is read from left to right.
        if calls - 1 in _LOOKED_AT and known.mark is not None:
            known.is_other = known.is_other or known.mark == self._mark(asked, args, keywords, growth)
        if calls in _LOOKED_AT:
            known.mark = self._mark(asked, args, keywords, growth)
            if not is_leading(shapes, growth):
                return lambda result: self._gave(known, growth, result)
        return None

    def _gave(self, known, growth, result):
        """Where the first input stays, a sequence only grows if the output does: else it is a mask, or was kept."""
        output = next((shape for shape in self._shapes((result,), {}) if shape), None)
        if output is None or growth[3] not in output[1:] + (output[:1] if growth[1] == 0 else ()):
            known.is_other = True

    def _mark(self, asked, args, keywords, growth):
        arrays = self._arrays(args[1:], keywords)
        return asked.mark_of(arrays[growth[0]]) if growth[0] < len(arrays) else None

    # -- arrays ------------------------------------------------------------------------------------------

    def _shapes(self, args, keywords):
        shape_of = self._shape_of
        if len(args) == 1 and not keywords:  # hot
            array = args[0]
            if type(array) in self._types:
                shape = shape_of(array)
                return (shape,) if shape is not None else self._shapes_in(array)
        return tuple([shape_of(one) for one in self._arrays(args, keywords)])

    def _shapes_in(self, value):
        return tuple([self._shape_of(one) for one in self._arrays((value,), {})])

    def _arrays(self, args, keywords):
        """The arrays of a call, as they are and in lists, tuples and dictionaries."""
        found = []
        for value in list(args[:_ARGUMENTS]) + list(keywords.values())[:_ARGUMENTS]:
            if self._is_array(type(value)):
                found.append(value)
            elif isinstance(value, (list, tuple)):
                found.extend(one for one in value[:_ARGUMENTS] if self._is_array(type(one)))
            elif isinstance(value, dict):
                found.extend(one for one in list(value.values())[:_ARGUMENTS] if self._is_array(type(one)))
        return found

    def _is_array(self, kind):
        known = self._types.get(kind)
        if known is None:
            if len(self._types) >= _TYPES:
                self._types.clear()
            module = getattr(kind, "__module__", None)
            is_of_engine = isinstance(module, str) and module.split(".")[0] in _ENGINES
            known = self._types[kind] = is_of_engine and hasattr(kind, "shape")
        return known

    def _shape_of(self, array):
        """Its shape, as a tuple; None: it is no array, or it does not say."""
        if not self._types.get(type(array)):
            return None
        told = getattr(array, "_shape_tuple", None)  # of TensorFlow's, which makes an object of each shape
        shape = told() if told is not None else array.shape
        return tuple(shape) if shape is not None else None

    # -- what is told ------------------------------------------------------------------------------------

    def _over(self, known):
        """A sequence is over: tell it, if it was one."""
        if known.is_other or known.place is None or known.calls < _LEAST_CALLS or not known.place[0]:
            return
        told = self._told.get(known.place, 0)
        if told >= _SEQUENCES or (not told and len(self._told) >= _PLACES):
            self._left_out += 1
            return
        self._told[known.place] = told + 1
        recorder = self._probe.recorder
        span = recorder.begin_at(wire.SpanKind.GROWING_INPUT, known.name, known.begin, known.place)
        sums = dict(zip(("turns", "lengths", "squares", "ns", "lengths_ns", "ns_squares"), known.sums))
        facts = {"calls": known.calls, "first": known.first, "last": known.length, "step": known.growth[2]}
        recorder.detail(span, {"growing": dict(facts, axis=known.growth[1], shortest_ns=known.shortest, **sums)})
        recorder.end(span, known.last)

    def _over_with_all(self):
        sequences, self._sequences = self._sequences, {}
        for known in sequences.values():
            if known.calls > 1:
                self._over(known)

    def finish(self):
        """Tell what still goes on, and what could not be told."""
        self._over_with_all()
        left_out, self._left_out = self._left_out, 0
        if left_out:
            text = "%d sequences that grew call by call are not told: too many at one line, or too many lines."
            self._probe.recorder.note("growing-inputs-left-out", text % left_out, "info")

    def forget(self):
        """This is a forked child."""
        self._sequences.clear()


def growth_of(before, after):
    """Which array of a call has grown, along which axis, by how much, and how long it is; None: it is no such growth.

    The first one counts of several that grow alike. Those of one axis are none: where in a sequence it is. An array
    that grows along several axes is a mask of all pairs.

    Args:
        before: Shapes of the arrays of a call.
        after: Those of the next one.
    """
    if len(before) != len(after):
        return None
    found, step = None, None
    for number, (old, new) in enumerate(zip(before, after)):
        if old == new:
            continue
        if old is None or new is None or len(old) != len(new):
            return None
        axes = [axis for axis in range(len(old)) if old[axis] != new[axis]]
        for axis in axes:
            if old[axis] is None or new[axis] is None:
                return None
            if step is None:
                step = new[axis] - old[axis]
            if new[axis] - old[axis] != step or not 0 < step <= _LONGEST_PIECE:
                return None
        if len(axes) == 1 and len(old) > 1 and found is None:
            found = number, axes[0], step, new[axes[0]]
    return found


def is_leading(shapes, growth):
    """Whether the array that grows is the first one with several axes."""
    return growth[0] == next((number for number, shape in enumerate(shapes) if shape and len(shape) > 1), None)
