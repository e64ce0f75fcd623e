"""How long a thread had no core."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from dlprof_probes.inproc.run_delay import RunDelay


@pytest.mark.skipif(not Path("/proc/self/schedstat").is_file(), reason="this kernel does not count it")
def test_the_kernels_count_is_read_again_and_again() -> None:
    """It never falls."""
    delay = RunDelay(threading.get_native_id())
    first, second = delay.ns(), delay.ns()
    delay.close()

    assert first is not None
    assert second is not None
    assert 0 <= first <= second
    assert delay.ns() is None


@pytest.mark.skipif(not Path("/proc/self/schedstat").is_file(), reason="this kernel does not count it")
def test_a_descriptor_that_the_program_has_taken_is_left_alone(tmp_path: Path) -> None:
    """It closed all that it did not know, and put a file of its own there."""
    delay = RunDelay(threading.get_native_id())
    number = delay._fd
    assert number is not None
    (tmp_path / "theirs").write_text("1 2 3")
    theirs = os.open(tmp_path / "theirs", os.O_RDONLY)
    os.dup2(theirs, number)

    assert delay.ns() is None
    delay.close()
    assert os.read(number, 5) == b"1 2 3"
    os.close(number)
    os.close(theirs)


def test_a_thread_that_is_not_known_has_none() -> None:
    """As of Python before 3.8, and on systems without the kernel's files."""
    assert RunDelay(None).ns() is None
    assert RunDelay(2**22 + 1).ns() is None
