"""How many samples steps had."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from dlprof_probes import wire

from dlprof.ingest.own.span_log import SpanLog
from dlprof.ingest.own.step_log import RECORD, Rows
from dlprof.ingest.own.step_samples import LoopFacts, count, seen


def rows(*steps: tuple[int, int, int]) -> Rows:
    """Rows by loop, epoch and count."""
    return np.array(
        [(wire.Record.STEP, wire.STEP.size, 7, loop, epoch, 0, many, *[0] * 8) for loop, epoch, many in steps], RECORD
    )


def facts(**detail: Any) -> LoopFacts:
    """Of loop 2, of which Keras said this."""
    spans = SpanLog()
    spans.begin(2, "fit", "fit", 7, 0)
    spans.add_facts(2, detail)
    known = LoopFacts(spans)
    known.learn([2, 3])
    return known


def test_each_step_has_the_samples_of_a_batch() -> None:
    """A row of several steps has those of all."""
    assert facts(batch_size=32).samples(rows((2, 0, 1), (2, 0, 4))).to_pylist() == [32, 128]


def test_samples_that_keras_did_not_tell_are_not_known() -> None:
    """Neither of a loop without a span, nor where the batch size is no number."""
    assert facts(batch_size=32).samples(rows((3, 0, 1))).to_pylist() == [None]
    assert facts().samples(rows((2, 0, 1))).to_pylist() == [None]
    assert facts(batch_size="many").samples(rows((2, 0, 1))).to_pylist() == [None]


def test_the_last_batch_of_an_epoch_may_be_smaller() -> None:
    """70 samples in batches of 32: the third has 6, in each epoch."""
    known = facts(batch_size=32, samples=70)
    steps = [(2, epoch, 1) for epoch in (0, 1) for _ in range(3)]
    assert known.samples(rows(*steps)).to_pylist() == [32, 32, 6, 32, 32, 6]


def test_a_row_that_holds_the_last_batch_has_it_with_the_others() -> None:
    """Two rows of two steps of an epoch of 4 batches, the last of 5 samples."""
    known = facts(batch_size=32, batches=4, partial_batch_size=5)
    assert known.samples(rows((2, 0, 2), (2, 0, 2))).to_pylist() == [64, 37]


def test_the_place_in_an_epoch_is_kept_between_pieces() -> None:
    """The third step comes in another piece."""
    known = facts(batch_size=32, samples=70)
    assert known.samples(rows((2, 0, 1), (2, 0, 1))).to_pylist() == [32, 32]
    assert known.samples(rows((2, 0, 1))).to_pylist() == [6]


@pytest.mark.parametrize("size", [float("inf"), float("nan")])
def test_a_batch_without_a_size_is_an_error(size: float) -> None:
    """The stream is damaged."""
    with pytest.raises(ValueError, match="no size"):
        facts(batch_size=size).samples(rows((2, 0, 1)))


def test_a_batch_that_is_too_large_is_an_error() -> None:
    """Its samples would not fit their column."""
    with pytest.raises(OverflowError):
        facts(batch_size=1e300).samples(rows((2, 0, 1)))


def test_steps_before_a_row_are_those_of_its_own_epoch() -> None:
    """Of rows that are mixed, and of the pieces before."""
    before: dict[tuple[int, int], int] = {(2, 0): 5}
    assert seen(rows((2, 0, 1), (3, -1, 2), (2, 0, 3), (3, -1, 1), (2, 1, 1)), before).tolist() == [5, 0, 6, 2, 0]
    assert before == {(2, 0): 9, (3, -1): 3, (2, 1): 1}


def test_only_steps_of_epochs_are_counted() -> None:
    """Evaluations have none."""
    steps_of: dict[tuple[int, int], int] = {(2, 0): 1}
    count(rows((2, 0, 3), (2, 1, 1), (3, -1, 7)), steps_of)
    assert steps_of == {(2, 0): 4, (2, 1): 1}
