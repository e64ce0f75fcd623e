"""Records of allocators out of the planes of an XSpace."""

from __future__ import annotations

import pytest

from dlprof.ingest.parse import xallocations
from dlprof.ingest.parse.xplane import SpaceBytes
from tests.unit.ingest.protobuf import field, number

US = 1_000_000
"""Picoseconds."""
TAKEN, GIVEN = "MemoryAllocation", "MemoryDeallocation"
Event = tuple[str, int, dict[str, "int | str"]]
"""Name, time (us), stats."""


def plane(**lines: list[Event]) -> SpaceBytes:
    """The plane of a host with these events on its threads, by their names."""
    events = [event for line in lines.values() for event in line]
    names = sorted({name for name, _, _ in events})
    texts = sorted(
        {name for _, _, stats in events for name in stats}
        | {value for _, _, stats in events for value in stats.values() if isinstance(value, str)}
    )
    made = field(2, b"/host:CPU")
    for lane, (thread, line) in enumerate(lines.items()):
        inside = b""
        for name, time, stats in line:
            event = number(1, names.index(name) + 1) + number(2, time * US)
            for stat, value in stats.items():
                held = number(7, texts.index(value) + 1) if isinstance(value, str) else number(3, value)
                event += field(4, number(1, texts.index(stat) + 1) + held)
            inside += field(4, event)
        made += field(3, number(1, lane) + field(2, thread.encode()) + inside)
    for tag, known in ((4, names), (5, texts)):
        for at, text in enumerate(known, 1):
            made += field(tag, number(1, at) + field(2, number(1, at) + field(2, text.encode())))
    return SpaceBytes(field(1, made))


def taken(time: int, address: int, size: int, op: str, whole: int = 0) -> Event:
    """Something was asked for; the plain allocator does not know how much is taken for it."""
    stats: dict[str, int | str] = {"addr": address, "requested_bytes": size, "tf_op": op, "allocator_name": "cpu"}
    return TAKEN, time, {**stats, "allocation_bytes": whole}


def test_records_of_all_threads_are_in_order_of_time() -> None:
    """With the operator that asked; what is given back tells its address alone."""
    given: Event = (GIVEN, 5, {"addr": 7, "allocator_name": "cpu"})
    data = plane(
        main=[taken(1, 7, 100, "dense/MatMul", 128), taken(9, 8, 50, "loss/Sum")], other=[given, ("Else", 6, {})]
    )

    found = xallocations.allocations(data, data.head().planes[0])

    assert found is not None
    assert found.time_ns.tolist() == [1000, 5000, 9000]
    assert found.is_given.tolist() == [False, True, False]
    assert found.address.tolist() == [7, 7, 8]
    assert (found.asked.tolist(), found.taken.tolist()) == ([100, 0, 50], [128, 0, 50])
    assert [found.texts.get(op) for op in found.op.tolist()] == ["dense/MatMul", None, "loss/Sum"]
    assert {found.texts[one] for one in found.allocator.tolist()} == {"cpu"}


def test_what_input_threads_ask_for_has_no_bytes() -> None:
    """A batch that is made ahead is no part of the step that runs meanwhile."""
    data = plane(tf_data_private_threadpool=[taken(1, 7, 100, "map")], main=[taken(2, 8, 50, "dense")])

    found = xallocations.allocations(data, data.head().planes[0])

    assert found is not None
    assert (found.asked.tolist(), found.taken.tolist()) == ([0, 50], [0, 50])


def test_a_trace_without_records_has_none() -> None:
    """Nor has one in which things were only given back."""
    others: list[list[Event]] = [[("Else", 1, {})], [(GIVEN, 1, {"addr": 7})]]
    for events in others:
        data = plane(main=events)
        assert xallocations.allocations(data, data.head().planes[0]) is None


def test_of_too_many_records_none_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of them would be wrong."""
    monkeypatch.setattr(xallocations, "MOST", 1)
    data = plane(main=[taken(1, 7, 100, "a"), taken(2, 8, 50, "b")])

    assert xallocations.allocations(data, data.head().planes[0]) is None
