"""Which functions of a file use which."""

from __future__ import annotations

import ast

from dlprof.analysis import source_calls
from dlprof.analysis.source_calls import Functions

KNOWN = Functions(
    ast.parse("""
def outer(x):
    def inner(x):
        return helper(x)
    return scan(inner, x)

def helper(x):
    return x

def other(x):
    return self.outer(x) + env.helper(x)

print(other(1))
""")
)


def test_functions_within_functions_are_known() -> None:
    """By their names."""
    assert sorted(KNOWN.by_name) == ["helper", "inner", "other", "outer"]


def test_what_is_passed_on_is_used_as_what_is_called() -> None:
    """`inner` is given to `scan`, `outer` is a method; the `helper` of something else is another one."""
    assert KNOWN.uses["other"] == {"outer"}
    assert KNOWN.reached(["outer"]) == {"outer", "inner", "helper"}
    assert KNOWN.reached(["scan"]) == set()


def test_what_the_file_itself_uses_is_told_apart() -> None:
    """Outside of functions."""
    assert KNOWN.used_outside == {"other"}


def test_the_name_of_what_is_called_is_its_last_part() -> None:
    """Of what has no name it is empty."""
    calls = [node for node in ast.walk(ast.parse("jax.lax.cond(x); f(x); g()(x)")) if isinstance(node, ast.Call)]

    assert sorted(source_calls.called(call) for call in calls) == ["", "cond", "f", "g"]
