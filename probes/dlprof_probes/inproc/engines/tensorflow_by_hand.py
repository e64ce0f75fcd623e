"""Updates by hand in TensorFlow 2: gradients of a tape, or of a graph that only gives them, and assigned variables.

An optimiser that is applied makes an end of what was seen: what changes variables between two gradients before it may
be a perturbation.
"""

import sys
import weakref
from functools import partial
from threading import get_ident

from dlprof_probes.inproc.clock import now
from dlprof_probes.inproc.inferred.by_hand import HandUpdates, Weights
from dlprof_probes.inproc.patching import each_definer

_TAPES = "tensorflow.python.eager.backprop"
_VARIABLES = "tensorflow.python.ops.resource_variable_ops"
_ASSIGNS = ("assign", "assign_add", "assign_sub")
_TAPES_AT_ONCE = 8
"""Tapes in each other, or side by side, whose gradients were not taken yet."""


class Variables(Weights):
    """The variables that gradients were taken of.

    Args:
        variables: A list of them.
        counts: How often each variable was assigned, by its `id`: those that are in it are counted.
    """

    def __init__(self, variables, counts):
        super(Variables, self).__init__()
        self._held = [weakref.ref(one, partial(_gone, counts, id(one))) for one in variables]
        self._keys = [id(one) for one in variables]
        self._counts = counts
        for key in self._keys:
            counts.setdefault(key, 0)
        self._before = self._sum()

    @property
    def _trainable_variables(self):
        """As an optimiser of Keras has them."""
        return [one for one in (held() for held in self._held) if one is not None]

    def begins_with(self, variable):
        """Whether that is the first one."""
        return self._held[0]() is variable

    def have_changed(self):
        """Whether one was assigned since this was last asked."""
        before, self._before = self._before, self._sum()
        return self._before != before

    def _sum(self):
        return sum(self._counts.get(key, 0) for key in self._keys)


def _gone(counts, key, _reference):
    counts.pop(key, None)


class TensorFlowByHand(object):
    """Listens to tapes and to variables.

    Args:
        engine: The `Engine`.
        tensorflow: The module.
    """

    def __init__(self, engine, tensorflow):
        self._probe = engine.probe
        self._own = engine.probe.own_loops
        self._updates = HandUpdates(engine)
        self._tensorflow = tensorflow
        self._counts = {}
        self._tapes = {}

    def watch(self):
        """Listen from now on."""
        probe = self._probe
        tape = getattr(sys.modules.get(_TAPES), "GradientTape", None)
        variable = getattr(sys.modules.get(_VARIABLES), "ResourceVariable", None)  # it has copies of its base's methods
        if tape is None or variable is None:
            return
        begun, taken = probe.guard(self._begun, goes_on=True), probe.guard(self._taken, goes_on=True)
        probe.replace(tape, "__enter__", lambda f: probe.wrappers.after(f, begun), again=True)
        probe.replace(tape, "gradient", lambda f: probe.wrappers.timed_call(f, taken, now), again=True)
        for name in _ASSIGNS:
            for owner in each_definer([variable], name):
                probe.replace(owner, name, lambda f: probe.wrappers.after(f, self._assigned), again=True)

    def optimiser_applied(self):
        """An optimiser has changed weights."""
        self._updates.forget()

    def _assigned(self, _result, args):
        """Hot: each layer's statistics are assigned, too. It cannot fail."""
        self._probe.calls[0] += 1
        key, counts = id(args[0]), self._counts
        if key in counts:
            counts[key] += 1

    def _begun(self, _result, args):
        """A tape records from now on: here is the step, also where gradients are taken of each variable by itself."""
        if not self._updates.is_on or self._tensorflow.inside_function() or self._own.is_silent():
            return
        tapes = self._tapes.setdefault(get_ident(), [])
        tapes.append((id(args[0]), self._own.earlier(now())))
        del tapes[:-_TAPES_AT_ONCE]

    def _taken(self, args, keywords, begin):
        """`tape.gradient(target, sources)`: of several from one tape the first is the step's."""
        is_kept = getattr(args[0], "_persistent", False)
        if is_kept and not self._tensorflow.inside_function():
            self._own.gradient(args[1] if len(args) > 1 else keywords.get("target"), begin)
        for place, (key, call) in enumerate(self._tapes.get(get_ident(), ())):
            if key == id(args[0]):
                del self._tapes[get_ident()][place]
                sources = self._tensorflow.nest.flatten(args[2] if len(args) > 2 else keywords.get("sources"))
                if is_kept:  # those of others may follow
                    sources.extend(one for one in args[0].watched_variables() if one is not sources[0])
                self.gradients_of(sources, call)
                return

    def gradients_of(self, sources, call):
        """Gradients of variables have been taken, in a step that has been at `call` (`Watch.earlier`)."""
        variables = [one for one in sources if hasattr(one, "assign_sub")]
        if call is None or not variables or not self._updates.is_on:
            return
        call.end = now()
        key = call.where, id(variables[0])
        known = self._updates.weights(key)
        if known is None or not known.begins_with(variables[0]):
            self._updates.first_taken(key, Variables(variables, self._counts), call.begin, call)
        elif known.is_worth_a_look():
            self._updates.taken(known, known.have_changed(), call.begin, call)
