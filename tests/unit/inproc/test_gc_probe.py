"""Garbage collections: long ones singly, short ones as sums."""

from __future__ import annotations

import gc

import pytest
from dlprof_probes.inproc.gc_probe import GcProbe, held_back

from tests.unit.inproc.conftest import Clock, Recorded


def collect(watch: GcProbe, now: Clock, generation: int, spent_ns: int) -> None:
    """A collection as Python tells of it."""
    watch._collected("start", {"generation": generation})
    now.ns += spent_ns
    watch._collected("stop", {"generation": generation, "collected": 7})


def test_collections_are_counted_and_summed_by_generation(out: Recorded, now: Clock) -> None:
    """Only one of more than 0.2 ms is a record of its own."""
    watch = GcProbe(out)
    collect(watch, now, 0, 100_000)
    collect(watch, now, 0, 50_000)
    collect(watch, now, 2, 300_000)

    watch.finish()

    assert out.stream().meta["gc"] == {"count": [2, 0, 1], "total_ns": [150_000, 0, 300_000]}
    assert out.stream().collections == [(151_000, 300_000, 2, 7)]


def test_a_collection_that_began_before_the_probe_came_is_none(out: Recorded, now: Clock) -> None:
    """How long it took is not known."""
    watch = GcProbe(out)
    watch._collected("stop", {"generation": 2, "collected": 7})
    collect(watch, now, 0, 50_000)
    watch.finish()

    assert out.stream().meta["gc"] == {"count": [1, 0, 0], "total_ns": [50_000, 0, 0]}
    assert out.stream().collections == []


def test_python_tells_of_collections_until_it_is_removed(out: Recorded) -> None:
    """Removing twice does no harm."""
    watch = GcProbe(out)
    before = list(gc.callbacks)

    watch.install()
    gc.collect()
    watch.remove()
    watch.remove()

    assert watch.count[2] == 1
    assert gc.callbacks == before


@pytest.mark.parametrize("is_on", [True, False])
def test_what_is_held_back_comes_again_only_if_it_was_on(is_on: bool) -> None:
    """A program may have switched collections off itself."""
    was_on = gc.isenabled()
    try:
        (gc.enable if is_on else gc.disable)()
        with held_back():
            assert not gc.isenabled()
        assert gc.isenabled() is is_on
    finally:
        (gc.enable if was_on else gc.disable)()
