"""Progress of a loop of steps."""

from __future__ import annotations

from dlprof.live.loop import LoopProgress
from dlprof.live.records import LoopLength, Span, Step
from dlprof.schema.vocabulary import Loop
from tests.unit.live.live_runs import MAIN, MS, started, step


def test_median_rate_and_place_of_a_loop() -> None:
    """The first step, which compiles, is not one of them; waiting for the batch is part of a step."""
    live = started()
    live.begin(Span(2, "fit", "fit", MAIN), 10 * MS)
    live.expect(2, LoopLength(epochs=3, steps=4))
    live.step(step(1000, 9000, first=True))
    for number, took in enumerate((8, 18, 8), 1):
        live.step(step(10_000 + 100 * number, 10_000 + 100 * number + took, number=number, input=2))

    loop = live.loop
    assert loop is not None
    assert loop.position() == ["epoch 1/3", "step 4/4"]
    assert loop.median_ns == 10 * MS
    assert loop.per_s == 75.0
    assert list(loop.recent_ns) == [10 * MS, 20 * MS, 10 * MS]


def test_the_batches_of_the_validation_are_no_steps_of_fit() -> None:
    """Keras makes its data set inside fit."""
    live = started()
    live.begin(Span(2, "fit", "fit", MAIN), 10 * MS)
    for length in (LoopLength(batches=231), LoopLength(epochs=12, steps=231), LoopLength(batches=26)):
        live.expect(2, length)
    live.step(step(20, 30))

    assert live.loop is not None
    assert live.loop.position() == ["epoch 1/12", "step 1/231"]


def test_a_record_of_several_steps_counts_their_mean() -> None:
    """Very long runs put steps together."""
    live = started()
    live.begin(Span(2, "fit", "fit", MAIN), 10 * MS)
    live.step(Step(MAIN, 2, 0, 8, 4, 100 * MS, 140 * MS, 0, 0, 0, 0, False))

    assert live.loop is not None
    assert live.loop.position() == ["epoch 1", "step 12"]
    assert live.loop.median_ns == 10 * MS


def test_where_steps_return_early_their_values_tell_the_time() -> None:
    """Dispatched in 1 ms each; values are known every 20 ms, in bunches, and not behind a pause."""
    live = started()
    live.begin(Span(2, "fit", "fit", MAIN), 10 * MS)
    for number in range(6):
        live.step(step(100 + number, 101 + number, number=number)._replace(runs_on=True))
    for number, at in enumerate((120, 120, 160, 180)):
        live.valued(2, 0, number, at * MS)
    live.begin(Span(3, "dlprof", "kernel window", MAIN), 190 * MS)
    live.valued(2, 0, 4, 900 * MS)

    assert live.loop is not None
    assert (live.loop.median_ns, live.loop.average) == (20 * MS, "mean")


def test_another_training_begins_without_the_steps_of_the_one_before() -> None:
    """It may be of another model; an evaluation's steps are held against those of the last one."""
    train, test = LoopProgress(Loop.TRAIN), LoopProgress(Loop.TEST)
    for loop in (train, test):
        loop.expect(LoopLength(epochs=3, steps=4))
        loop.add(step(20, 30, number=2))

    train.begin(new_training=True)
    test.begin(new_training=False)

    assert (train.median_ns, train.per_s, train.position()) == (None, None, [])
    assert (test.median_ns, test.per_s, test.position()) == (10 * MS, 100.0, [])
