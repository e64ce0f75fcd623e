"""Numbers of events of XSpace files, decoded many at once."""

from __future__ import annotations

import numpy as np
import pytest

from dlprof.ingest.parse import xlines
from tests.unit.ingest.protobuf import varint

NUMBERS = [0, 1, 127, 128, 300, 2**14 - 1, 2**14, 2**28 + 5, 2**35, 2**49 + 3, 2**56 - 1, 2**56, 2**62, -1, -(2**40)]


def encoded(numbers: list[int]) -> tuple[xlines.Bytes, np.ndarray[tuple[int], np.dtype[np.int64]], list[int]]:
    """Numbers one behind the other: the bytes, where each begins, and where each ends."""
    parts = [varint(number % 2**64) for number in numbers]
    ends = np.cumsum([len(part) for part in parts])
    begins = np.concatenate(([0], ends[:-1])).astype(np.int64)
    return np.frombuffer(b"".join(parts), np.uint8).copy(), begins, ends.tolist()


@pytest.mark.parametrize("numbers", [NUMBERS, NUMBERS[::-1], [5] * 50 + NUMBERS, [2**60] * 9, [7], [2**63 - 1]])
def test_numbers_of_all_lengths_are_what_was_written(numbers: list[int]) -> None:
    """Also the last ones, behind which there are no eight bytes."""
    data, begins, ends = encoded(numbers)

    values, behind = xlines.varints(data, begins)

    assert (values.tolist(), behind.tolist()) == (numbers, ends)


def test_a_number_that_does_not_end_is_refused() -> None:
    """Ten bytes are the most that one may have."""
    with pytest.raises(xlines.IrregularError):
        xlines.varints(np.full(40, 0xFF, np.uint8), np.zeros(3, np.int64))
