"""Which functions of JAX take a gradient: seen while they are traced, for compiled they are opaque.

A function that is given back what it gave may train, or count, or draw random numbers, or simulate. It trains where it
takes a gradient itself, or where one was taken since it was called last.
"""

from threading import get_ident

from dlprof_probes.inproc.clock import now

_TAKERS = ("linearize", "vjp")
"""What `jax.grad`, `jax.vjp` and their kin call: the one today, the other in older versions."""


class Gradients(object):
    """Gradients that are taken.

    Args:
        probe: `Probe`.
        rules: `jax._src.interpreters.ad`.
        pjit: `jax._src.pjit`.

    Attributes:
        count: How many were taken so far, at least: those of compiled functions once for each call.
        taken_of: Function that is told of arrays whose gradients are taken at once, and when that began (ns), or None.
    """

    def __init__(self, probe, rules, pjit):
        self.count = 0
        self.taken_of = None
        self._tracing = {}
        self._with = {}
        self._traced = {}
        names = [name for name in _TAKERS if hasattr(rules, name)]
        self._is_told = bool(names) and hasattr(pjit, "_trace_for_jit")
        if self._is_told:
            taken = probe.guard(lambda _result, args, begin: self._taken(_primals(args), begin), goes_on=True)
            for name in names:
                probe.replace(rules, name, lambda f: probe.wrappers.timed(f, taken, now))
            probe.around(pjit, "_trace_for_jit", self._begin, self._end, again=True)

    def in_function(self, key):
        """Whether a function takes one; where that cannot be told, each does."""
        return not self._is_told or key in self._with

    def shapes_of(self, key):
        """Shapes of the arrays of which a function takes gradients, those of the most; empty: not known."""
        return self._with.get(key, [])

    def is_tracing(self):
        """Whether this thread traces a function now."""
        return self._tracing.get(get_ident(), 0) > 0

    def used(self, function):
        """A compiled function is called by one that is traced."""
        key = innermost(function)
        if key in self._with:
            self.count += 1
            self._traced[self.count] = self._with[key]

    def _taken(self, primals, begin):
        self.count += 1
        if self.is_tracing():
            self._traced[self.count] = [getattr(one, "shape", None) for one in primals]
        elif self.taken_of is not None:
            self.taken_of(primals, begin)

    def _begin(self, _args):
        ident = get_ident()
        self._tracing[ident] = self._tracing.get(ident, 0) + 1
        return self.count

    def _end(self, before, args):
        self._tracing[get_ident()] -= 1
        if before is not None and self.count > before:
            inside = [shapes for number, shapes in self._traced.items() if number > before]
            self._with[innermost(args[0])] = max(inside, key=len) if inside else []
        if not self.is_tracing():
            self._traced.clear()


def _primals(args):
    """What gradients are taken of: `vjp(function, primals)`, or `linearize(function, *primals)`."""
    primals = args[1:]
    return list(primals[0]) if len(primals) == 1 and not hasattr(primals[0], "shape") else list(primals)


def innermost(function):
    """What tells a function of Python from others: its code, and its name, for wrappers share theirs.

    None for those of JAX itself, and where there is no code.
    """
    name = getattr(function, "__name__", "?")
    for _ in range(8):
        inner = getattr(function, "__wrapped__", None)
        if inner is None:
            break
        function = inner
    code = getattr(function, "__code__", None)
    if code is None or str(getattr(function, "__module__", "")).split(".")[0] in ("jax", "jaxlib"):
        return None
    return code, name
