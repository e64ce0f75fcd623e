"""Code of ours that the interpreter calls by itself, in the middle of the program's.

Trace functions, pending calls, callbacks of the garbage collector: a compiler that takes the program's functions as
they are called takes these, too.
"""

import types

from dlprof_probes.inproc import (
    census,
    duty,
    gc_probe,
    interrupts,
    line_cost,
    lines,
    pending_calls,
    syncs,
    tally,
    thinning,
)

_MODULES = (census, duty, gc_probe, interrupts, line_cost, lines, pending_calls, syncs, tally, thinning)


def codes(*more):
    """Code objects of all functions in these modules, and in more of them, and of the functions in them."""
    found = []
    for module in _MODULES + more:
        for value in vars(module).values():
            if getattr(value, "__module__", None) == module.__name__:
                members = vars(value).values() if isinstance(value, type) else [value]
                for member in members:
                    _add(found, getattr(getattr(member, "fget", member), "__code__", None))
    return found


def codes_in(function):
    """Code objects of a function, and of the functions in it."""
    found = []
    _add(found, function.__code__)
    return found


def _add(found, code):
    if isinstance(code, types.CodeType):
        found.append(code)
        for const in code.co_consts:
            _add(found, const)
