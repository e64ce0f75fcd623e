"""Which functions of JAX take a gradient: seen while they are traced, for compiled they are opaque.

A function that is given back what it gave may train, or count, or draw random numbers, or simulate. It trains where it
takes a gradient itself, or where one was taken since it was called last.
"""

from threading import get_ident

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
    """

    def __init__(self, probe, rules, pjit):
        self.count = 0
        self._tracing = {}
        self._with = set()
        names = [name for name in _TAKERS if hasattr(rules, name)]
        self._is_told = bool(names) and hasattr(pjit, "_trace_for_jit")
        if self._is_told:
            taken = probe.guard(lambda _result, _args: self._taken(), goes_on=True)
            for name in names:
                probe.replace(rules, name, lambda f: probe.wrappers.after(f, taken))
            probe.around(pjit, "_trace_for_jit", self._begin, self._end, again=True)

    def in_function(self, key):
        """Whether a function takes one; where that cannot be told, each does."""
        return not self._is_told or key in self._with

    def is_tracing(self):
        """Whether this thread traces a function now."""
        return self._tracing.get(get_ident(), 0) > 0

    def used(self, function):
        """A compiled function is called by one that is traced."""
        if innermost(function) in self._with:
            self._taken()

    def _taken(self):
        self.count += 1

    def _begin(self, _args):
        ident = get_ident()
        self._tracing[ident] = self._tracing.get(ident, 0) + 1
        return self.count

    def _end(self, before, args):
        self._tracing[get_ident()] -= 1
        if before is not None and self.count > before:
            self._with.add(innermost(args[0]))


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
