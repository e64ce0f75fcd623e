"""AutoGraph reads the source of the methods that dlprof stands in for."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

from dlprof_probes.inproc import patching, session
from dlprof_probes.inproc.engines import tensorflow_autograph as autograph

WRAPPERS = session.load_wrappers()


class Layer:
    """With a method that is hooked."""

    def __call__(self, x: int) -> int:
        """Twice of it."""
        return 2 * x


def wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    """As a hook of dlprof's stands around it."""
    made: Callable[..., Any] = patching.dress(WRAPPERS.after(function, lambda *_: None), function)
    return made


def test_wrappers_of_ours_are_taken_off_one_after_the_other() -> None:
    """Two of them, around the method of a class and around a bound one."""
    original = Layer.__call__
    twice = wrapped(wrapped(original))
    layer = Layer()

    assert autograph.bare(twice, vars(WRAPPERS)) is original
    assert autograph.bare(twice.__get__(layer), vars(WRAPPERS)) == original.__get__(layer)


def test_what_others_put_around_a_wrapper_stays() -> None:
    """It has the marks of what it is around, and the source is its own."""
    inner = wrapped(Layer.__call__)

    @functools.wraps(inner)
    def others(self: Layer, x: int) -> int:
        return int(inner(self, x)) + 1

    assert autograph.bare(others, vars(WRAPPERS)) is others
    assert autograph.bare(Layer, vars(WRAPPERS)) is Layer


def test_what_is_converted_is_the_method_itself() -> None:
    """The rest of the arguments stays."""
    api = ModuleType("api")
    api._convert_actual = lambda entity, context: (entity, context)  # type: ignore[attr-defined]
    patches = patching.Patches()
    probe: Any = SimpleNamespace(
        wrappers=WRAPPERS, replace=patches.replace, guard=lambda hook, goes_on: hook if goes_on else None
    )
    autograph.see_through(probe, api)

    assert api._convert_actual(wrapped(Layer.__call__), "context") == (Layer.__call__, "context")


def test_a_tensorflow_without_it_is_left_alone() -> None:
    """Another version has other names."""
    probe: Any = SimpleNamespace()

    autograph.see_through(probe, None)
    autograph.see_through(probe, ModuleType("api"))
