"""Which functions of a file use which."""

from __future__ import annotations

import ast

from dlprof.analysis import source_calls

TREE = ast.parse("""
def outer(x):
    def inner(x):
        return helper(x)
    return scan(inner, x)

def helper(x):
    return x

def other(x):
    return self.outer(x)
""")


def test_functions_within_functions_are_known() -> None:
    """By their names."""
    assert sorted(source_calls.functions(TREE)) == ["helper", "inner", "other", "outer"]


def test_what_is_passed_on_is_used_as_what_is_called() -> None:
    """`inner` is given to `scan`, `outer` is a method."""
    known = source_calls.functions(TREE)

    assert source_calls.reached(["outer"], known) == {"outer", "inner", "helper"}
    assert source_calls.reached(["other"], known) == {"other", "outer", "inner", "helper"}
    assert source_calls.reached(["scan"], known) == set()


def test_the_name_of_what_is_called_is_its_last_part() -> None:
    """Of what has no name it is empty."""
    calls = [node for node in ast.walk(ast.parse("jax.lax.cond(x); f(x); g()(x)")) if isinstance(node, ast.Call)]

    assert sorted(source_calls.called(call) for call in calls) == ["", "cond", "f", "g"]
