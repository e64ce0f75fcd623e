"""Memory that a tracer has freed goes back to the system."""

from __future__ import annotations

from typing import Any

import pytest
from dlprof_probes.inproc.kernels import freed_memory

MB = 1 << 20


@pytest.fixture
def trims(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Each time that the allocator is asked for memory."""
    asked: list[str] = []
    monkeypatch.setattr(freed_memory, "_trim", lambda: asked.append("trim"))
    return asked


@pytest.mark.parametrize(
    ("before", "after", "expected"), [(600, 2800, 1), (600, 700, 0), (None, 700, 0), (600, None, 0)]
)
def test_the_allocator_is_asked_where_the_process_has_grown_much(
    trims: list[str], monkeypatch: pytest.MonkeyPatch, before: int | None, after: int | None, expected: int
) -> None:
    """By 256 MiB and more; where the kernel does not tell, nothing is done."""
    sizes: Any = after and after * MB
    monkeypatch.setattr(freed_memory, "resident", lambda: sizes)

    freed_memory.give_back(before and before * MB)

    assert len(trims) == expected


def test_what_is_freed_in_the_middle_of_the_heap_goes_back() -> None:
    """Blocks of 64 KiB, of which each second one is kept."""
    blocks: list[Any] = [bytearray(64 << 10) for _ in range(8192)]
    grown = freed_memory.resident()
    blocks[::2] = [None] * len(blocks[::2])

    freed_memory._trim()

    after = freed_memory.resident()
    assert grown is not None
    assert after is not None
    assert grown - after > 128 * MB
