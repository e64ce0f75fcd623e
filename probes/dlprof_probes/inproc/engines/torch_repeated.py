"""Parts of models that are called again with the very tensor that they were called with before, and the same weights.

They compute the same once more: keys of an attention for each word of a decoder, a trunk that two heads share. Only
looked at in kernel windows, where the parts of models are named; a model as a whole has no name there.
"""

import weakref
from sys import _getframe

from dlprof_probes import wire
from dlprof_probes.inproc.clock import now

_MOST = 100
"""Parts that are told of a run."""
_TENSOR = "Tensor"
"""No class of the program's own: what is asked of one of these, it may see."""
_MORE = 0x04 | 0x08
"""Of a function's code: it takes `*args` or `**kwargs`."""


class RepeatedCalls(object):
    """Those of a window. Nothing in it keeps a tensor.

    Args:
        recorder: `Recorder`.
        names: Names of the parts, by their `id`.
    """

    def __init__(self, recorder, names):
        self._recorder = recorder
        self._names = names
        self._parts = {}
        self._inside = 0

    def before(self, module, inputs):
        """A part is called; whether it has computed that before. Cannot fail."""
        if self._inside:
            return self._enter(True)
        try:
            return self._enter(id(module) in self._names and self._is_again(module, inputs))
        except Exception:  # a module or a tensor of the program's own kind
            return False

    def after(self, is_again):
        """The call is over; `is_again`: what `before` said of it."""
        if is_again:
            self._inside -= 1

    def tell(self):
        """Record the parts that were called so."""
        again = [(self._names[number], part) for number, part in self._parts.items() if part.same]
        for name, part in again[:_MOST]:
            time_ns = now()
            span = self._recorder.begin_at(wire.SpanKind.REPEATED_PRODUCT, name, time_ns, part.place)
            self._recorder.detail(span, {"repeated": {"calls": part.calls, "same": part.same}})
            self._recorder.end(span, time_ns)

    def _enter(self, is_again):
        if is_again:
            self._inside += 1
        return is_again

    def _is_again(self, module, inputs):
        weight = next(iter(module.parameters()), None)
        if weight is None or len(inputs) != 1 or type(inputs[0]).__name__ != _TENSOR:
            return False
        state = inputs[0]._version, weight._version, module.training
        part = self._parts.get(id(module))
        if part is None:
            is_plain = _takes_one(module) and not any(map(_draws, module.modules()))
            part = self._parts[id(module)] = _Part(is_plain)
        is_again = part.tensor is not None and part.tensor() is inputs[0] and part.state == state
        part.calls += 1
        part.tensor, part.state = weakref.ref(inputs[0]), state
        if not is_again or not part.is_plain:
            return False
        part.same += 1
        part.place = part.place or self._recorder.user_line(_getframe(3))
        return True


class _Part(object):
    """A part of a model.

    Attributes:
        is_plain: It gives the same for the same.
        calls, same: How often it was called, and of that, as before.
        place: The user's line that called it again (file, line).
        tensor, state: What it was called with before, weakly, and what must not have changed since.
    """

    __slots__ = ("calls", "is_plain", "place", "same", "state", "tensor")

    def __init__(self, is_plain):
        self.is_plain = is_plain
        self.calls = self.same = 0
        self.place = self.tensor = self.state = None


def _takes_one(module):
    """Whether a part is given one tensor and nothing else: what is given by name, no hook is told."""
    code = type(module).forward.__code__
    return code.co_argcount == 2 and not code.co_kwonlyargcount and not code.co_flags & _MORE


def _draws(module):
    """Whether a part draws random numbers now."""
    return module.training and "Dropout" in type(module).__name__ and getattr(module, "p", 1) > 0
