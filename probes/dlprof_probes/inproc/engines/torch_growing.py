"""Models of torch that are called with all of a sequence for each new piece, while gradients are off.

`Module.__call__` is replaced from where a program switches gradients off to the next update of weights: a training
calls it for each part of a model. Each change of it costs some 30 us, as all classes of modules are told; so where that
showed nothing a few times, gradients that are switched off at that line are passed over. Once a graph was compiled it
is left alone: the compiler would put our function into its graphs.
"""

import sys
from sys import _getframe

from dlprof_probes.inproc.growing_inputs import Asked
from dlprof_probes.inproc.patching import dress

_FRUITLESS = 4
_LOOKED_AT_AGAIN = 256
"""Of so many times that gradients are switched off at a line that showed nothing, one is looked at."""
_LINES = 256
_FRAMES = 8
_MODULES = 2000
_NAME = "__call__"
_KEPT_BY = (
    ("torch.fx._symbolic_trace", "_orig_module_call"),
    ("torch._dynamo.variables.nn_module", "unpatched_nn_module_call"),
)
"""Where torch keeps the method as it finds it when it loads a part of itself: it may find ours."""


class CallsWithoutGradients(object):
    """Has calls of modules looked at while a program does not train.

    Args:
        probe: `Probe`.
        torch: The module.
    """

    def __init__(self, probe, torch):
        self._growing = probe.growing
        self._is_user_file = probe.is_user_file
        self._module = torch.nn.Module
        self._original = self._ours = None
        self._fruitless = {}
        self._line = None
        self._grown = 0
        self._is_over = False
        self._asked = Asked(lambda: not torch.is_grad_enabled(), is_time_first, mark_of)
        probe.patches.on_undo(self.over)

    @property
    def is_on(self):
        """Whether calls are looked at now."""
        return self._ours is not None

    def gradients_off(self):
        """The program switches them off."""
        if self._ours is not None or self._is_over:
            return
        line = self._place(_getframe(1))
        if line is None or not self._is_worth(line):
            return
        self._line, self._grown = line, self._growing.grown
        self._original = vars(self._module).get(_NAME)
        if self._original is not None:
            self._ours = dress(self._growing.wrapped(self._original, self._asked), self._original)
            setattr(self._module, _NAME, self._ours)

    def updated(self):
        """Weights were changed: it trains."""
        if self._ours is None:
            return
        self._take_away()
        fruitless = self._fruitless.get(self._line, 0)
        self._fruitless[self._line] = 0 if self._growing.grown != self._grown else fruitless + 1

    def over(self):
        """From here on nothing is replaced any more."""
        self._is_over = True
        if self._ours is not None:
            self._take_away()

    def _take_away(self):
        if vars(self._module).get(_NAME) is self._ours:  # else another one has put its own around it
            setattr(self._module, _NAME, self._original)
        for module, name in _KEPT_BY:
            if getattr(sys.modules.get(module), name, None) is self._ours:
                setattr(sys.modules[module], name, self._original)
        self._ours = None

    def _place(self, frame):
        """What tells the line of the program that switches them off; None: it was none."""
        for _ in range(_FRAMES):
            if frame is None:
                break
            if self._is_user_file(frame.f_code.co_filename):
                return frame.f_code, frame.f_lineno
            frame = frame.f_back
        return None

    def _is_worth(self, line):
        fruitless = self._fruitless.get(line, 0)
        if fruitless < _FRUITLESS:
            if len(self._fruitless) >= _LINES:
                self._fruitless.clear()
            return True
        self._fruitless[line] = fruitless + 1
        return fruitless % _LOOKED_AT_AGAIN == 0


def is_time_first(model):
    """Whether a recurrent layer or an attention in it says that the first axis is time."""
    for number, part in enumerate(model.modules()):
        if getattr(part, "batch_first", None) is False:
            return True
        if number >= _MODULES:
            break
    return False


def mark_of(tensor):
    """Where the tensor lies that this one is a part of, and how often it was written to; None: it is no part."""
    base = getattr(tensor, "_base", None)
    if base is None or tensor.is_inference():
        return None
    return base.data_ptr(), tuple(base.shape), base._version
