"""The clocks of a Perfetto trace."""

from __future__ import annotations

from dlprof.ingest.parse.perfetto_clocks import Clocks
from tests.unit.ingest.protobuf import field, number


def _snapshot(*clocks: tuple[int, int]) -> bytes:
    return b"".join(field(1, number(1, key) + number(2, time)) for key, time in clocks)


def test_times_of_clocks_of_the_system_are_brought_to_the_primary_one() -> None:
    """By what they showed at one moment; the wall clock gives the zero."""
    clocks, data = Clocks(), _snapshot((6, 500), (3, 200), (1, 10_500))
    clocks.snapshot(data, (0, len(data)), 1)

    assert clocks.time_ns(250, 3, 1) == 550
    assert clocks.time_ns(250, 0, 1) == 250
    assert clocks.zero_ns == 10_000


def test_without_a_snapshot_a_time_stays_as_it_is() -> None:
    """And nothing is known of the wall clock."""
    assert Clocks().time_ns(7, 3, 1) == 7
    assert Clocks().zero_ns is None
