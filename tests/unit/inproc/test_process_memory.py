"""What the process itself holds: read where it is asked for, and never at the program's cost."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from dlprof_probes.inproc import process_memory
from dlprof_probes.sidecar import memory, proc

from tests.unit.inproc.conftest import Clock


@pytest.fixture
def statm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the kernel says: 500 pages of 4 kB are resident, 200 of these are of files or shared."""
    file = tmp_path / "statm"
    file.write_text("9000 500 200 5 0 700 0\n")
    monkeypatch.setattr(process_memory, "FILE", str(file))
    monkeypatch.setattr(process_memory, "_PAGE_BYTES", 4096)
    return file


def test_pages_are_told_in_bytes_with_their_time_and_source(statm: Path, now: Clock) -> None:
    """The time from the begin of the call on."""
    now.ns = 1030

    assert process_memory.at(1000) == {
        "after_ns": 30,
        "rss_bytes": 2_048_000,
        "anonymous_bytes": 1_228_800,
        "source": str(statm),
    }


def test_it_is_what_the_sampler_reads_of_the_process() -> None:
    """The same pages, the same kinds: within 16 MB, as kernels count in parts by core."""
    told = process_memory.at(0)
    beside = proc.stat(os.getpid())
    kinds = memory.split(proc.read("/proc/self/status"))

    assert told is not None
    assert beside is not None
    assert kinds.anonymous is not None
    assert told["source"] == "/proc/self/statm"
    assert abs(told["rss_bytes"] - beside.row[2] * resource.getpagesize()) < 16 << 20
    assert abs(told["anonymous_bytes"] - kinds.anonymous) < 16 << 20


def test_what_was_made_right_before_is_in_it() -> None:
    """64 MB, of which each page was written."""
    before = process_memory.at(0)
    made = b"x" * 64_000_000
    after = process_memory.at(0)

    assert len(made) == 64_000_000
    assert before is not None
    assert after is not None
    assert after["anonymous_bytes"] - before["anonymous_bytes"] > 48_000_000


@pytest.mark.parametrize("text", ["", "9000", "none of it\n", "0 0 0 0 0 0 0\n"])
def test_words_that_say_nothing_are_null(statm: Path, text: str) -> None:
    """The kernel has zeros of a process whose main thread has ended."""
    statm.write_text(text)

    assert process_memory.at(0) is None


def test_without_proc_it_is_null(statm: Path) -> None:
    """In another root, or on a system that has none."""
    statm.unlink()

    assert process_memory.at(0) is None


def test_without_a_free_descriptor_it_is_null() -> None:
    """In a process of its own, which has none left."""
    code = (
        "import os, resource; from dlprof_probes.inproc import process_memory\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))\n"
        "print(process_memory.at(0))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert found.stdout == "None\n"


def test_a_descriptor_that_another_thread_closes_makes_it_null(statm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was ours for a moment only."""

    def closed(file: int, room: int) -> bytes:
        os.close(file)
        return os.read(file, room)

    monkeypatch.setattr(process_memory, "read", closed)

    assert process_memory.at(0) is None


def test_no_descriptor_is_left_open(statm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even where it could not be read."""
    opened: list[int] = []

    def failing(file: int, _room: int) -> bytes:
        opened.append(file)
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(process_memory, "read", failing)

    assert process_memory.at(0) is None
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(opened[0])


def test_what_a_handler_of_the_program_raises_meanwhile_is_the_program_s(
    statm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A time limit that the script has set itself, for example; `TimeoutError` is an `OSError`."""

    def over(_number: int, _frame: object) -> None:
        raise TimeoutError("of the program")

    def interrupted(_file: int, _room: int) -> bytes:
        signal.raise_signal(signal.SIGUSR1)
        return b""

    monkeypatch.setattr(process_memory, "read", interrupted)
    before = signal.signal(signal.SIGUSR1, over)
    try:
        with pytest.raises(TimeoutError, match="of the program"):
            process_memory.at(0)
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_the_peak_of_the_process_is_the_kernels() -> None:
    """As `getrusage` has it, but for children and for what it was before `exec`; within what cores hold back."""
    told = process_memory.peak_bytes()

    assert told is not None
    assert (process_memory.at(0) or {})["rss_bytes"] - (16 << 20) < told
    assert told < resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 + (16 << 20)


def test_where_the_kernel_keeps_no_peak_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not 0."""
    (tmp_path / "status").write_text("Name: python\n")
    monkeypatch.setattr(process_memory, "_STATUS", str(tmp_path / "status"))

    assert process_memory.peak_bytes() is None
