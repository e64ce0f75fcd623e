"""Passes over loaders."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from dlprof_probes.inproc.probe import Probe

from tests.unit.inproc.conftest import Clock, Recorded

FACTS = {"kind": "DataLoader", "workers": 2}


class Items:
    """An iterator, or a loader."""


def walked(probe: Probe, now: Clock, loader: Items, items: Items) -> None:
    """A pass that takes 5 to begin, 30 and 2 for two items, and 7 to end."""
    begin = now.ns
    now.ns += 5
    probe.loaders.opened(loader, items, begin, FACTS)
    for wait in (30, 2):
        probe.loaders.asked(items)
        now.ns += wait
        probe.loaders.given(items)
        now.ns += 100
    probe.loaders.asked(items)
    now.ns += 7
    probe.loaders.over(items)


def test_a_pass_is_told_when_it_is_over(probe: Probe, out: Recorded, now: Clock) -> None:
    """With what its beginning, its items and its end took."""
    walked(probe, now, Items(), Items())

    (told,) = out.stream().passes
    times = told.opened_ns - told.begin_ns, told.first_wait_ns, told.waited_ns, told.last_wait_ns
    assert (told.items, told.workers, times) == (2, 2, (5, 30, 32, 7))


def test_passes_over_one_loader_have_its_number(probe: Probe, out: Recorded, now: Clock) -> None:
    """Also where they have one iterator, as with workers that last."""
    loader, items = Items(), Items()
    for _ in range(2):
        walked(probe, now, loader, items)
    walked(probe, now, Items(), Items())

    assert [told.loader for told in out.stream().passes] == [1, 1, 2]


def test_a_pass_that_is_left_ends_with_its_iterator(probe: Probe, out: Recorded, now: Clock) -> None:
    """By `break`: no call told its end."""
    loader, items = Items(), Items()
    probe.loaders.opened(loader, items, now.ns, FACTS)
    probe.loaders.asked(items)
    probe.loaders.given(items)
    del items

    (told,) = out.stream().passes
    assert (told.items, told.last_wait_ns) == (1, None)


def test_a_pass_that_nobody_asks_is_none(probe: Probe, out: Recorded, now: Clock) -> None:
    """Keras makes some."""
    loader, items = Items(), Items()
    probe.loaders.opened(loader, items, now.ns, FACTS)
    probe.loaders.finish()

    assert out.stream().passes == []


def test_items_may_come_out_of_another_iterator(probe: Probe, out: Recorded, now: Clock) -> None:
    """An enqueuer stands for the pass; its end is a call of its own."""
    enqueuer, items = Items(), Items()
    probe.loaders.opened(Items(), enqueuer, now.ns, FACTS)
    probe.loaders.given_by(enqueuer, items)
    probe.loaders.asked(items)
    now.ns += 4
    probe.loaders.given(items)
    begin = now.ns
    now.ns += 9
    probe.loaders.ended(enqueuer, begin)

    (told,) = out.stream().passes
    assert (told.items, told.waited_ns, told.last_wait_ns) == (1, 4, 9)


def test_what_is_too_much_is_counted(probe: Probe, out: Recorded, now: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """A script may iterate without end."""
    monkeypatch.setattr("dlprof_probes.inproc.loaders.MOST_PASSES", 1)
    for _ in range(3):
        walked(probe, now, Items(), Items())
    probe.loaders.finish()

    assert len(out.stream().passes) == 1
    assert [note.message for note in out.stream().notes if note.slug == "loaders-untold"] == [
        "2 passes over loaders are not recorded one by one: there were more than 1."
    ]


class Made:
    """A loader that is made by a constructor of the user's."""

    def __init__(self, probe: Probe, found: list[Any]) -> None:
        found.append(probe.loaders.place(self, sys._getframe()))


def test_the_line_that_makes_a_loader_is_outside_of_its_own_constructor(probe: Probe) -> None:
    """Whose it may be."""
    found: list[Any] = []
    Made(probe, found)

    constructor = Made.__init__.__code__
    assert found[0][1] not in range(constructor.co_firstlineno, constructor.co_firstlineno + 3)
