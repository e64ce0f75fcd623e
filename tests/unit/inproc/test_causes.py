"""Why a graph is compiled again: which argument differs from all earlier ones."""

from __future__ import annotations

import gc
from typing import Any

import pytest
from dlprof_probes.inproc.causes import Causes


def function() -> None:
    """Stands for one of the user's."""


@pytest.mark.parametrize(
    ("before", "now", "what"),
    [
        ("float32[128,784]", "float32[64,784]", "shape"),
        ("float32(128, 784)", "float64(128, 784)", "dtype"),
        ("1", "2", "value"),
        ("<weakref at 0x7f10>", "<weakref at 0x7f20>", "identity"),
        (None, "int32()", "number of arguments"),
    ],
)
def test_what_differs_is_named(before: str | None, now: str, what: str) -> None:
    """As users of the engines call it."""
    causes = Causes()
    causes.note(function, "f", {} if before is None else {"x": before})

    facts = causes.note(function, "f", {"x": now})

    assert facts == {
        "function": "f",
        "again": True,
        "cause": [{"argument": "x", "what": what, "before": before, "now": now}],
    }


def test_the_first_compilation_has_no_cause() -> None:
    """Nor has that of another function with the same signature."""
    causes = Causes()
    causes.note(function, "f", {"x": "float32[2]"})

    assert causes.note(lambda: None, "f", {"x": "float32[2]"}) == {"function": "f", "again": False, "cause": []}


def test_the_nearest_earlier_signature_counts() -> None:
    """Not simply the last one: then more arguments would seem to differ than do."""
    causes = Causes()
    for shape, flag in (("float32[128]", "False"), ("float32[64]", "True")):
        causes.note("key", "f", {"x": shape, "training": flag})

    cause = causes.note("key", "f", {"x": "float32[128]", "training": "None"})["cause"]

    assert cause == [{"argument": "training", "what": "value", "before": "False", "now": "None"}]


def test_a_shape_that_comes_back_is_told_against_the_last_one() -> None:
    """An engine that keeps one compilation only does it again and again."""
    causes = Causes()
    for shape in ("(128, 16)", "(104, 16)"):
        causes.note("module", "m", {"data": shape})

    cause = causes.note("module", "m", {"data": "(128, 16)"})["cause"]

    assert cause == [{"argument": "data", "what": "shape", "before": "(104, 16)", "now": "(128, 16)"}]


def test_the_methods_of_two_objects_are_two_functions() -> None:
    """A layer's `call` is compiled for each layer."""

    class Layer:
        def call(self) -> None:
            """Nothing."""

    causes, first, second = Causes(), Layer(), Layer()
    causes.note(first.call, "call", {"x": "float32[2]"})

    assert causes.note(second.call, "call", {"x": "float32[3]"})["again"] is False
    assert causes.note(first.call, "call", {"x": "float32[3]"})["again"] is True


def test_what_cannot_be_hashed_is_known_by_its_identity() -> None:
    """Some engines name a function by a dictionary."""
    causes, key = Causes(), {"not": "hashable"}
    causes.note(key, "f", {"x": "1"})

    assert causes.note(key, "f", {"x": "2"})["again"] is True
    assert causes.note({"not": "hashable"}, "f", {"x": "2"})["again"] is False


def test_a_function_that_is_gone_is_forgotten() -> None:
    """A script that makes thousands of them keeps its memory."""
    causes = Causes()

    def compiled() -> Any:
        def inner() -> None:
            """Compiled once."""

        return inner

    for _ in range(10):
        causes.note(compiled(), "inner", {"x": "1"})
    gc.collect()

    assert len(causes._of_functions) == 0


def test_the_last_32_signatures_are_kept() -> None:
    """The 33rd is told against those, not against the first."""
    causes = Causes()
    for number in range(33):
        causes.note("key", "f", {"x": "float32[%d]" % number})

    cause = causes.note("key", "f", {"x": "float32[0]"})["cause"]

    assert cause == [{"argument": "x", "what": "shape", "before": "float32[32]", "now": "float32[0]"}]


def test_long_values_are_cut() -> None:
    """An array may be written out in full."""
    causes = Causes()
    causes.note("key", "f", {"x": "a" * 1000})

    assert causes.note("key", "f", {"x": "b" * 1000})["cause"][0]["now"] == "b" * 200


def test_at_most_eight_differences_are_told() -> None:
    """In the order of their names."""
    causes = Causes()
    causes.note("key", "f", {"argument %d" % number: "1" for number in range(9)})

    cause = causes.note("key", "f", {"argument %d" % number: "2" for number in range(9)})["cause"]

    assert [one["argument"] for one in cause] == ["argument %d" % number for number in range(8)]
