"""One-hot arrays in batches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from dlprof_probes.inproc.one_hot import OneHot

COLUMNS = 128


def hot(*words: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    """A row for each word."""
    return np.eye(COLUMNS, dtype="float32")[list(words)]


def seen(*batches: Any) -> list[int]:
    """Columns of what is one-hot in these batches."""
    one_hot = OneHot()
    for batch in batches:
        one_hot.see(batch)
    found: list[int] = one_hot.facts()
    return found


def test_rows_with_a_single_one_are_one_hot() -> None:
    """In a batch of inputs and labels."""
    assert seen((hot(3, 5, 7, 3), np.array([0, 1, 0, 1]))) == [COLUMNS]


def test_sentences_are_rows_of_words() -> None:
    """Ends that are filled up with zeros are padding."""
    batch = np.stack([hot(3, 5, 7), np.concatenate([hot(1, 2), np.zeros((1, COLUMNS), "float32")])])

    assert seen({"words": batch}) == [COLUMNS]


@pytest.mark.parametrize(
    "array",
    [
        hot(3, 5) * 2,
        hot(3, 5) + hot(4, 6),
        np.zeros((4, COLUMNS), "float32"),
        hot(3, 5)[:, :16],
        hot(3, 5).astype("int64"),
        hot(3, 5)[:, ::2],
        "words",
    ],
)
def test_others_are_not(array: Any) -> None:
    """Other numbers, several of them, none, few columns, whole numbers, views."""
    assert seen(array) == []


def test_one_batch_that_is_none_is_enough() -> None:
    """It only looked like one before."""
    assert seen(hot(3, 5), hot(3, 5) * 0.5) == []


def test_a_few_batches_will_do() -> None:
    """No more are wanted."""
    one_hot = OneHot()
    for _ in range(4):
        one_hot.see(hot(1, 2))

    assert one_hot.left == 0
