"""What tells of a training loop in JAX: a compiled function that is given again what it gave the last time.

JAX calls `post_hook` after each call of a compiled function that it does not have to look up in Python; calls that it
has to are seen in `_run_python_pjit`. The functions of JAX itself (`jax.numpy`) are passed over, and so are calls while
another function is traced. Whether a function takes a gradient is seen while it is traced (`jax_gradients`).
"""

import os
import sys
import weakref
from threading import get_ident

from dlprof_probes.inproc.clock import now
from dlprof_probes.inproc.engines.jax_by_hand import JAXByHand
from dlprof_probes.inproc.engines.jax_gradients import Gradients, innermost

_STATES = 16
"""States of a function that are remembered: it may train as many models in turn."""
_LEAVES = 32
"""Arrays of a result that stand for it: the largest."""
_HELD = 4 * _LEAVES
_FIRST_CALLS = 3
"""Calls without a state that are remembered: the first of a training is known to be one only by the second."""
_FLOATS = ("float", "bfloat")


class Calls(object):
    """The calls of compiled functions, and the states that they hand on.

    Args:
        engine: The `Engine`.
        leaves: Function from anything to a list of the arrays in it.
        is_array: Function from an object to whether it is an array with a value.
        gradients: `Gradients`.
        by_hand: `JAXByHand`.
    """

    def __init__(self, engine, leaves, is_array, gradients, by_hand):
        self._engine = engine
        self._own = engine.probe.own_loops
        self._leaves = leaves
        self._is_array = is_array
        self._gradients = gradients
        self._by_hand = by_hand
        self._functions = {}

    def called(self, function, args, results, begin=0):
        """A compiled function has returned, from a call that began at `begin` (ns), if that is known."""
        if self._own.is_silent():  # as in every step of Keras: looking at all arrays of a model takes long
            return
        key = innermost(function)
        if key is None:
            return
        takes_gradient = self._gradients.in_function(key)
        told = self._leaves(results)
        if takes_gradient:
            self._gradients.count += 1
        if not told or not self._is_array(told[0]):
            return
        known = self._functions.get(key)
        if known is None:
            known = self._functions[key] = _Function(key[1], takes_gradient, self._own.is_in_training())
        given = self._leaves(args)
        state = known.state_of(given)
        is_update = takes_gradient or known.gradients != self._gradients.count
        known.gradients = self._gradients.count
        if state is None:
            self._by_hand.taken(known.differentiated(given, self._gradients.shapes_of(key)), begin)
            first = self._own.earlier(begin) if is_update and known.looks() else None
            state = known.begun([] if first is None else [first])
        elif is_update:
            state.is_trained = True
            self._by_hand.forget()
            self._own.repeated(self._engine, state)
        if not is_update:
            self._own.goes_on()
        chosen = known.standing_for(told)
        known.remember(state, chosen)
        if not takes_gradient and self._looks_at_weights(known, given, chosen) and known.is_later:
            self._own.asked()

    def _looks_at_weights(self, known, given, chosen):
        """Whether a function was given weights that are trained, and gave none.

        One that only looks at them may give them back as new arrays, as Flax's `nnx.jit` does; or it makes others, such
        as their average.
        """
        looks = False
        for other in self._functions.values():
            if other is not known and other.takes_gradient:
                state = other.state_of(given)
                if state is not None and state.is_trained:  # else it may be gradients, which an update was given
                    shapes = {array.shape for array in state.arrays() if array.shape}
                    looks = looks or not any(one.shape in shapes for one in chosen)
                    state.hold(chosen)
        return looks


class State(object):
    """What a function hands on from call to call, such as the weights.

    Attributes:
        name: Of the function.
        earlier: The call that gave it for the first time, for the log, or none.
        held: The arrays that stand for it: weak references by their `id`.
        is_trained: Whether it was handed on by a function that updates it.
    """

    def __init__(self, name, earlier=()):
        self.name = name
        self.earlier = earlier
        self.held = {}
        self.is_trained = False

    def hold(self, leaves):
        """These belong to it, too."""
        if len(self.held) > _HELD:
            self.held = dict((key, one) for key, one in self.held.items() if one() is not None)
        if len(self.held) <= _HELD:
            self.held.update((id(leaf), weakref.ref(leaf)) for leaf in leaves)

    def arrays(self):
        """Those that are still there."""
        return [one for one in (held() for held in self.held.values()) if one is not None]

    def has(self, leaf):
        """Whether an array is one of them; the `id` of one that is gone may be that of another."""
        held = self.held.get(id(leaf))
        return held is not None and held() is leaf


class _Function(object):
    """A compiled function: the states that its last calls gave.

    Attributes:
        takes_gradient: Whether it takes a gradient.
        gradients: How many had been taken when it was last called.
        is_later: Whether it was not called before the training that it was called in: else it may make what that
            learns from, as where an agent acts.
    """

    def __init__(self, name, takes_gradient, is_later=False):
        self._name = name
        self._states = []
        self._stateless = 0
        self._place = 0  # of the argument that was one of a state the last time
        self._chosen = (None, ())
        self.takes_gradient = takes_gradient
        self.is_later = is_later
        self.gradients = -1

    def looks(self):
        """Whether a call without a state is worth a look at where it came from."""
        self._stateless += 1
        return self._stateless <= _FIRST_CALLS

    def state_of(self, leaves):
        """The state that one of these arrays belongs to; None: it was not given by this function."""
        place = self._place
        if place < len(leaves) and self._states and self._states[0].has(leaves[place]):
            return self._states[0]
        for state in self._states:
            place = next((number for number, leaf in enumerate(leaves) if state.has(leaf)), None)
            if place is not None:
                self._place = place
                return state
        return None

    def differentiated(self, leaves, shapes):
        """Those of the arrays that it is given whose gradients it takes, which have these shapes; or none."""
        count = len(shapes)
        for start in range(len(leaves) - count + 1 if count else 0):
            if [getattr(leaf, "shape", None) for leaf in leaves[start : start + count]] == shapes:
                return leaves[start : start + count]
        return []

    def begun(self, earlier):
        """A state that is new."""
        return State(self._name, earlier)

    def standing_for(self, leaves):
        """The largest arrays of floats of a result."""
        count, places = self._chosen
        if count != len(leaves):
            sizes = [(-leaf.size, n) for n, leaf in enumerate(leaves) if str(leaf.dtype).startswith(_FLOATS)]
            self._chosen = count, places = len(leaves), tuple(n for _, n in sorted(sizes)[:_LEAVES])
        return [leaves[place] for place in places]

    def remember(self, state, leaves):
        """A call gave these; without any array of floats it hands on no weights."""
        self._stateless = 0 if state in self._states else self._stateless
        state.held = {}
        state.hold(leaves)
        if leaves:
            self._states = ([state] + [one for one in self._states if one is not state])[:_STATES]


class _KeptHook(object):
    """The state of JAX's hook; ours stays where JAX takes its own away, as behind `with jax.debug_nans(...)`."""

    def __init__(self, state, hook):
        self._state = state
        self._hook = hook

    def set_global(self, hook):
        """JAX sets its hook for all threads, or None."""
        self._state.set_global(hook or self._hook)

    def set_local(self, hook):
        """JAX sets its hook for this thread, or None."""
        self._state.set_local(hook or self._hook)

    def __getattr__(self, name):
        return getattr(self._state, name)


def watch(engine, jax):
    """Listen to calls of compiled functions, and to gradients."""
    probe = engine.probe
    array = getattr(sys.modules.get("jax._src.array"), "ArrayImpl", None)
    api, pjit = sys.modules.get("jax._src.api"), sys.modules.get("jax._src.pjit")
    state = getattr(api, "_post_hook_state", None)
    if array is None or not hasattr(state, "set_global") or not hasattr(pjit, "_run_python_pjit"):
        probe.missing.append("jax's hook after calls of compiled functions")
        return
    if jax.config.jax_debug_nans or jax.config.jax_debug_infs:
        return  # the hook is taken
    probe.own_loops.sites.skip(os.path.dirname(jax.__file__) + os.sep)
    is_array = lambda value: isinstance(value, array)  # noqa: E731
    gradients = Gradients(probe, sys.modules.get("jax._src.interpreters.ad"), pjit)
    engine.by_hand = JAXByHand(engine, is_array)
    gradients.taken_of = engine.by_hand.taken
    calls = Calls(engine, jax.tree_util.tree_leaves, is_array, gradients, engine.by_hand)
    called = probe.guard(calls.called, goes_on=True)
    _set(probe, api, state, _hook(called, probe.routine.inside))

    def seen(result, args, begin):
        if gradients.is_tracing():
            gradients.used(args[2])
        else:
            calls.called(args[2], (args[3], args[4:5]), result[0], begin)

    missed = probe.guard(seen, goes_on=True)
    probe.replace(pjit, "_run_python_pjit", lambda f: probe.wrappers.timed(f, missed, now))


def _hook(called, inside):
    """What JAX calls after each call of a compiled function; nothing is asked in a call that is told in short."""

    def hook(function, args, keywords, results):
        if not inside or get_ident() not in inside:
            called(function, (args, keywords), results)

    return hook


def _set(probe, api, state, hook):
    """Set the hook, and keep it set."""
    state.set_global(hook)
    api._post_hook_state = _KeptHook(state, hook)

    def undo():
        api._post_hook_state = state
        state.set_global(None)
        state.set_local(None)

    probe.patches.on_undo(undo)


def watch_optax(engine, module):
    """Listen to `optax.apply_updates` outside of compiled functions."""
    probe = engine.probe
    jax = sys.modules["jax"]
    applied = State("optax.apply_updates")

    def updated(result, _args):
        leaves = jax.tree_util.tree_leaves(result)
        if leaves and not isinstance(leaves[0], jax.core.Tracer):
            if engine.by_hand is not None:
                engine.by_hand.forget()
            if not applied.held:
                applied.hold(leaves[:_LEAVES])
            probe.own_loops.repeated(engine, applied)

    hook = probe.guard(updated, goes_on=True)
    probe.replace(module, "apply_updates", lambda f: probe.wrappers.after(f, hook))
