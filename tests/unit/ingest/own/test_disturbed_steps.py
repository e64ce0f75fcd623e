"""Steps of a kernel window that say nothing of the others."""

from __future__ import annotations

import numpy as np
import pytest

from dlprof.ingest.own.disturbed_steps import undisturbed

MS = 1_000_000


@pytest.mark.parametrize(
    ("traced_ms", "plain_ms", "kept"),
    [
        ([275, 4449], 299, (0, 1)),  # the tracer needed memory in the second
        ([2114, 329, 310], 230, (1, 3)),
        ([300, 310, 5000, 290, 305, 300], 230, (3, 6)),  # the longer row of the two
    ],
)
def test_the_longest_row_of_steps_without_a_disturbed_one_is_kept(
    traced_ms: list[int], plain_ms: int, kept: tuple[int, int]
) -> None:
    """One that takes three times a plain one, three times the shortest traced one, and half a second more."""
    found = undisturbed(np.array(traced_ms) * MS, plain_ms * MS)

    assert found is not None
    assert (found.first, found.last) == kept
    assert (found.left_out, found.longest_ns) == (len(traced_ms) - (kept[1] - kept[0]), max(traced_ms) * MS)


@pytest.mark.parametrize(
    ("traced_ms", "plain_ms"),
    [
        ([275, 320], 299),
        ([3000, 3100], 299),  # all of them: so dear is the tracer
        ([4000], 299),  # nothing would be left
        ([275, 4449], None),  # nobody knows what a plain one takes
        ([2, 400], 2),  # too short to say so
    ],
)
def test_steps_that_are_alike_are_all_kept(traced_ms: list[int], plain_ms: int | None) -> None:
    """So are those that cannot be judged."""
    assert undisturbed(np.array(traced_ms) * MS, None if plain_ms is None else plain_ms * MS) is None
