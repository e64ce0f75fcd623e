"""Memory and work of two sides in words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dlprof.analysis.memory_pairs import MemoryItem, MemoryPair, MemorySide
from dlprof.analysis.work_pairs import WorkItem, WorkPair
from dlprof.report import pair_words
from dlprof.schema.vocabulary import Direction, MemoryBasis, WorkCause

GB = 1_000_000_000
SIDE = MemorySide(2 * GB, 2 * GB, 2 * GB, 0, None, None, None, None, None, None, {})
ACTIVATIONS = MemoryItem("activations", 3 * GB // 2, GB // 2, MemoryBasis.ESTIMATE, MemoryBasis.ESTIMATE)
PARAMETERS = MemoryItem("parameters", GB // 4, GB // 4, MemoryBasis.EXACT, MemoryBasis.EXACT)
WORK = WorkPair(4e9, 4e9, 3e9, 3e9, 12e6, 4e6, WorkCause.LOWER_RATE, (), None)


def pair(a: int | None, b: int | None) -> MemoryPair:
    """Two peaks (bytes)."""
    sides = [
        replace(SIDE, peak_bytes=peak, not_measured={} if peak else {"peak_bytes": "it was off"}) for peak in (a, b)
    ]
    return MemoryPair(sides[0], sides[1], (), (ACTIVATIONS, PARAMETERS), (), ())


@pytest.mark.parametrize(
    ("a", "b", "sentence"),
    [
        (
            2 * GB,
            GB,
            (
                "A needed 2.00 GB at its largest, B 1.00 GB: A 2.00 x as much, most of it in activations "
                "(1.00 GB more, by estimate)."
            ),
        ),
        (GB, 2 * GB, "A needed 1.00 GB at its largest, B 2.00 GB: B 2.00 x as much."),
        (GB, GB, "A needed 1.00 GB at its largest, B 1.00 GB: alike."),
        (None, GB, "The peaks cannot be compared, because one was not measured (A: it was off)."),
    ],
)
def test_peaks_are_told_with_the_kind_that_differs_most(a: int | None, b: int | None, sentence: str) -> None:
    """Only one that differs in the direction of the whole."""
    assert pair_words.memory(pair(a, b)) == sentence


def test_estimates_are_marked() -> None:
    """What is not there is not."""
    assert pair_words.bytes_of(GB, MemoryBasis.ESTIMATE) == "~1.00 GB"
    assert pair_words.bytes_of(GB, MemoryBasis.EXACT) == "1.00 GB"
    assert pair_words.bytes_of(None, MemoryBasis.ESTIMATE) == "-"
    assert pair_words.signed(ACTIVATIONS) == "+1.00 GB"


@pytest.mark.parametrize(
    ("changes", "end"),
    [
        ({}, ("ask the same 3 GFLOP of both in a training step, done at 250 GFLOP/s in A, 750 GFLOP/s in B "
              "(12.0 ms and 4.00 ms a step): A takes longer at the same work, at 0.33 of B's rate.")),
        ({"a_flops": 9e9, "cause": WorkCause.MORE_WORK}, "A takes longer because it does more work."),
        ({"a_flops": 6e9, "cause": WorkCause.BOTH}, "A does more work, and at 0.67 of B's rate."),
        ({"a_ns": 4.1e6, "cause": WorkCause.ALIKE}, "no difference of a fifth."),
        ({"why_not": "B: none"}, "Rates cannot be compared (B: none)."),
    ],
)  # fmt: skip
def test_a_gap_is_more_work_or_the_same_done_worse(changes: dict[str, Any], end: str) -> None:
    """Of the layers that both sides tell of."""
    assert pair_words.work(replace(WORK, **changes)).endswith(end)


@pytest.mark.parametrize(
    ("cause", "b_ms", "told"),
    [
        (WorkCause.LOWER_RATE, 4, "same work, A at a lower rate"),
        (WorkCause.LOWER_RATE, 30, "same work, B at a lower rate"),
        (WorkCause.MORE_WORK, 30, "more work in B"),
        (WorkCause.BOTH, 4, "more work in A, at a lower rate"),
        (WorkCause.ALIKE, 12, "alike"),
        (None, 12, "-"),
    ],
)
def test_a_layer_says_which_side_is_the_slower_one(cause: WorkCause | None, b_ms: float, told: str) -> None:
    """Of 12 ms in A."""
    flops = (2e8, 2e8, 1e6, 1e6)
    item = WorkItem(
        "dense", "Dense", Direction.FORWARD, *flops, 12e6, b_ms * 1e6, 1e9, 1e9, None, None, None, None, cause
    )

    assert pair_words.cause(item) == told


@pytest.mark.parametrize(
    ("a", "b", "note"),
    [
        (GB, 3 * GB, "B while kernels were traced, which takes memory itself"),
        (3 * GB, 3 * GB, "A and B while kernels were traced, which takes memory itself"),
        (GB, 2 * GB, ""),
        (None, 4 * GB, ""),
    ],
)
def test_a_phase_above_the_peak_of_its_side_is_explained(a: int | None, b: int | None, note: str) -> None:
    """The peak is 2 GB, but 3 GB where kernels were traced; of more than that nothing is known."""
    side = replace(SIDE, traced_peak_bytes=3 * GB)

    assert pair_words.traced(MemoryPair(side, side, (), (), (), ()), MemoryItem("dlprof", a, b)) == note


def test_without_a_traced_peak_nothing_is_put_down_to_tracing() -> None:
    """It may be another run's middle."""
    assert pair_words.traced(MemoryPair(SIDE, SIDE, (), (), (), ()), MemoryItem("fit.steps", 3 * GB, GB)) == ""
