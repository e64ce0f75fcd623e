"""Memory that a tracer has freed goes back to the system."""

from __future__ import annotations

import time
from threading import Event, get_ident
from types import SimpleNamespace
from typing import Any

import pytest
from dlprof_probes.inproc import own_threads
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


def grown(monkeypatch: pytest.MonkeyPatch, most: int, *sizes: int) -> freed_memory.Guard:
    """A guard of a process that had 600 MB, whose peak is `most`, and which is of these sizes when it is looked at."""
    told = iter(sizes)
    monkeypatch.setattr(freed_memory, "getrusage", lambda _who: SimpleNamespace(ru_maxrss=most << 10))
    monkeypatch.setattr(freed_memory, "resident", lambda: next(told) * MB)
    return freed_memory.Guard(600 * MB)


def test_a_step_that_takes_too_much_memory_gives_it_back_while_it_runs(
    trims: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """From 600 MB to 1.2 GB, then 700 MB; and again when it has 1.3 GB, but not at 1.1."""
    guard = grown(monkeypatch, 1300, 1200, 700, 1100, 1300, 700)

    for _ in range(3):
        guard.look()

    assert (len(trims), guard.asked) == (2, 2)


def test_no_file_is_opened_while_the_peak_is_as_it_was(trims: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 1 GB, 400 MB more than at the begin."""
    guard = grown(monkeypatch, 1000)

    guard.look()

    assert (trims, guard.asked) == ([], 0)


def test_a_guard_looks_until_its_window_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a thread that is gone when `stop` returns."""
    monkeypatch.setattr(freed_memory, "_EVERY_S", 0.001)
    guard, looked = freed_memory.Guard(600 * MB), Event()
    threads: list[int] = []

    def look() -> None:
        threads.append(get_ident())
        looked.set()

    monkeypatch.setattr(guard, "look", look)
    guard.start()
    assert looked.wait(10)
    guard.stop()
    count = len(threads)
    time.sleep(0.02)

    assert len(threads) == count
    assert get_ident() not in threads


def test_where_the_kernel_tells_nothing_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """No thread is started, and there is nothing to end."""
    started: list[Any] = []
    monkeypatch.setattr(own_threads, "start", started.append)
    guard = freed_memory.Guard(None)

    guard.start()
    guard.stop()

    assert started == []
