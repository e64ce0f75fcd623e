"""Large matrices that are mostly zeros."""

from __future__ import annotations

import sys
from types import FrameType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from dlprof_probes.inproc import zeros

SIDE = 1024


def sparse(zeros_share: float = 0.999) -> np.ndarray[Any, np.dtype[np.float32]]:
    """A matrix with that share of zeros."""
    draw = np.random.default_rng(3)
    return np.where(draw.random((SIDE, SIDE)) < zeros_share, 0, 1).astype("float32")


def at_hand(**names: Any) -> list[dict[str, Any]]:
    """What is found in a frame with these names."""

    def frame_of() -> FrameType:
        return sys._getframe()

    frame = frame_of()
    frame_like: Any = SimpleNamespace(f_code=frame.f_code, f_locals=names, f_globals={})
    found: list[dict[str, Any]] = zeros.at_hand([frame_like])
    return found


def test_a_matrix_that_is_mostly_zeros_is_told_with_their_share() -> None:
    """Some thousand numbers of it are looked at."""
    (found,) = at_hand(adjacency=sparse())

    assert (found["name"], found["shape"]) == ("adjacency", [SIDE, SIDE])
    assert found["zeros"] == pytest.approx(0.999, abs=0.002)


def test_a_diagonal_counts_for_no_more_than_it_is() -> None:
    """One of a thousand numbers: a look at rows and columns in step would see hardly anything else."""
    (found,) = at_hand(scale=np.eye(SIDE, dtype="float32"))

    assert found["zeros"] > 0.99


def test_what_objects_hold_is_looked_at_too() -> None:
    """And buffers of modules."""
    model = SimpleNamespace(adjacency=sparse(), _buffers={"mask": sparse()})

    assert [one["name"] for one in at_hand(model=model)] == ["model.adjacency", "model.mask"]


@pytest.mark.parametrize(
    "array",
    [
        np.ones((SIDE, SIDE), "float32"),
        sparse(0.9),  # images may be so
        np.zeros((64, 64), "float32"),
        np.zeros((SIDE, SIDE), "int64"),
        np.zeros((SIDE, SIDE, 2), "float32"),
        "no array",
        SimpleNamespace(shape=(SIDE, SIDE), dtype="float32"),  # of no engine
    ],
)
def test_other_things_are_none(array: Any) -> None:
    """Small, whole numbers, of other shapes, or with more in them."""
    assert at_hand(x=array) == []


def test_a_matrix_with_two_names_is_told_once() -> None:
    """By the first of them."""
    one = sparse()

    assert [found["name"] for found in at_hand(a=one, b=one)] == ["a"]
