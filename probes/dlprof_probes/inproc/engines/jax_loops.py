"""What tells of a training loop in JAX: a compiled function that is given again what it gave the last time.

JAX calls `post_hook` after each call of a compiled function that it does not have to look up in Python; calls that it
has to are seen in `_run_python_pjit`. The functions of JAX itself (`jax.numpy`) are passed over, and so are calls while
another function is traced.
"""

import os
import sys
import weakref

from dlprof_probes.inproc.clock import now

_KEPT = 16
"""Results of a function that are remembered, as many as it may train models in turn."""
_DEEPEST = 6
_FIRST_CALLS = 3
"""Calls without a state that are remembered: the first of a training is known to be one only by the second."""


class Calls(object):
    """The calls of compiled functions, and the states that they hand on.

    Args:
        engine: The `Engine`.
        is_array: Function from an object to whether it is an array with a value.
    """

    def __init__(self, engine, is_array):
        self._engine = engine
        self._own = engine.probe.own_loops
        self._is_array = is_array
        self._functions = {}

    def called(self, function, args, results, begin=0):
        """A compiled function has returned, from a call that began at `begin` (ns), if that is known."""
        function = getattr(function, "__wrapped__", function)
        code = getattr(function, "__code__", None)
        if code is None or str(getattr(function, "__module__", "")).split(".")[0] in ("jax", "jaxlib"):
            return
        known = self._functions.get(id(code))
        if known is None:
            known = self._functions[id(code)] = _Function(code)
        given = [leaf for leaf in (self._leaf(one) for one in args) if leaf is not None]
        state = known.state_of(given)
        told = results if type(results) in (tuple, list) else (results,)
        leaves = [leaf for leaf in (self._leaf(one) for one in told) if leaf is not None]
        if not leaves:
            return
        if state is None:
            state = known.begun(self._own.earlier(begin) if known.looks() else None)
        else:
            self._own.repeated(self._engine, state)
        known.remember(state, leaves)

    def _leaf(self, value):
        """The first array in a result or an argument: it stands for the whole."""
        for _ in range(_DEEPEST):
            if self._is_array(value):
                return value
            if isinstance(value, dict):
                value = next(iter(value.values()), None)
            elif isinstance(value, (tuple, list)):
                value = next((one for one in value if one is not None and one != ()), None) if value else None
            else:
                held = getattr(value, "__dict__", None)
                inner = (one for one in held.values() if isinstance(one, dict) or self._is_array(one)) if held else ()
                value = next(iter(inner), None)
        return None


class State(object):
    """What a function hands on from call to call, such as the weights.

    Attributes:
        name: Of the function.
        first: The call that gave it for the first time, for the log, or None.
    """

    def __init__(self, name, first):
        self.name = name
        self.first = first


class _Function(object):
    """A compiled function: the states that its last calls gave, by the arrays that stand for them."""

    def __init__(self, code):
        self._code = code
        self._given = []
        self._stateless = 0

    def looks(self):
        """Whether a call without a state is worth a look at where it came from."""
        self._stateless += 1
        return self._stateless <= _FIRST_CALLS

    def state_of(self, leaves):
        """The state that one of these arrays belongs to; None: it was not given by this function."""
        for held, state in self._given:
            leaf = held()
            if leaf is not None and any(one is leaf for one in leaves):
                self._stateless = 0  # it trains: the next one without a state may be the first of another model
                return state
        return None

    def begun(self, first):
        """A state that is new."""
        return State(self._code.co_name, first)

    def remember(self, state, leaves):
        """A call gave these."""
        fresh = [(weakref.ref(leaf), state) for leaf in leaves]
        self._given = (fresh + [one for one in self._given if one[0]() is not None])[:_KEPT]


def watch(engine, jax):
    """Listen to calls of compiled functions, and to optax."""
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
    calls = Calls(engine, lambda value: isinstance(value, array))
    called = probe.guard(calls.called, goes_on=True)

    def post_hook(function, args, _keywords, results):
        called(function, args, results)

    state.set_global(post_hook)
    probe.patches.on_undo(lambda: state.set_global(None))
    missed = probe.guard(lambda result, args, begin: calls.called(args[2], args[3], result[0], begin), goes_on=True)
    probe.replace(pjit, "_run_python_pjit", lambda f: probe.wrappers.timed(f, missed, now))


def watch_optax(engine, module):
    """Listen to `optax.apply_updates` outside of compiled functions."""
    probe = engine.probe
    tracer = sys.modules["jax"].core.Tracer
    is_array = lambda value: hasattr(value, "dtype")  # noqa: E731
    first = Calls(engine, is_array)._leaf
    applied = State("optax.apply_updates", None)

    def updated(result, _args):
        if not isinstance(first(result), tracer):
            probe.own_loops.repeated(engine, applied)

    hook = probe.guard(updated, goes_on=True)
    probe.replace(module, "apply_updates", lambda f: probe.wrappers.after(f, hook))
