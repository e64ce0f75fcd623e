"""What records say, out of the JSON in which they come."""

from __future__ import annotations

from dlprof.live.records import LoopLength, ProcessFacts


def test_steps_are_counted_from_samples_where_keras_gives_none() -> None:
    """The last batch of an epoch may be smaller."""
    assert LoopLength.from_json({"samples": 1000, "batch_size": 300}) == LoopLength(steps=4)
    assert LoopLength.from_json({"steps": 7, "samples": 1000, "batch_size": 300, "x": 1}) == LoopLength(steps=7)


def test_what_keras_does_not_say_is_not_known() -> None:
    """A generator has neither samples nor steps."""
    assert LoopLength.from_json({"epochs": 3, "samples": None, "batch_size": 300}) == LoopLength(epochs=3)


def test_facts_of_the_process_come_in_several_records() -> None:
    """What a record does not have is not known from it."""
    assert ProcessFacts.from_json({"main_thread": 7, "boot_ns": 5, "pid": 1}) == ProcessFacts(7, 5, None)
    assert ProcessFacts.from_json({"keras_backend": "torch"}) == ProcessFacts(None, None, "torch")
