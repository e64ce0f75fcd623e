"""What is called when a loader is made and iterated."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from dlprof_probes.inproc.loader_hooks import LoaderHooks

Said = list[tuple[str, ...]]


def listening(said: Said, *, is_told: bool) -> LoaderHooks:
    """Hooks whose loops and loaders write down what they are called with."""

    def note(*words: str) -> Callable[..., None]:
        return lambda *values: said.append((*words, *map(str, values)))

    own = SimpleNamespace(
        opened=note("loop", "opened"),
        given=note("loop", "given"),
        asking=lambda tests: note("loop", "asked", f"tests={tests()}"),
        ending=lambda tests: note("loop", "over", f"tests={tests()}"),
    )
    told = SimpleNamespace(**{name: note("pass", name) for name in ("opened", "asked", "given", "over")})
    probe = SimpleNamespace(own_loops=own, loaders=told, guard=lambda hook, goes_on: hook)
    rows: Callable[[Any], dict[str, int]] = lambda _loader: {"batch_size": 8}  # noqa: E731
    return LoaderHooks(probe, lambda _loader: {"workers": 2}, rows, lambda: True, lambda _loader: is_told)


def test_the_time_of_an_item_is_that_between_the_hooks_of_the_pass() -> None:
    """The loop hears first that an item is asked for, and last that it was given: its own work is no wait."""
    said: Said = []
    opened, asked, given, over = listening(said, is_told=True).iterating

    opened("loader", "iterator", 7)
    asked("iterator")
    given("iterator", "item")
    over("iterator")

    assert said == [
        ("loop", "opened", "iterator", "7", "{'batch_size': 8}"),
        ("pass", "opened", "loader", "iterator", "7", "{'workers': 2}"),
        ("loop", "asked", "tests=True", "iterator"),
        ("pass", "asked", "iterator"),
        ("pass", "given", "iterator"),
        ("loop", "given", "iterator", "item"),
        ("pass", "over", "iterator"),
        ("loop", "over", "tests=True", "iterator"),
    ]


def test_passes_that_are_known_otherwise_are_not_told_twice() -> None:
    """As those of loaders that Keras makes; the loop is told all the same."""
    said: Said = []

    listening(said, is_told=False).iterating[0]("loader", "iterator", 7)

    assert [words[:2] for words in said] == [("loop", "opened")]
