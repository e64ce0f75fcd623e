"""NumPy is loaded without threads of its own, and nothing of that is left in the environment."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

COUNT = "import os, dlprof.launch.lone_numpy as _; print(len(os.listdir('/proc/self/task')), os.getenv('OPENBLAS_NUM_THREADS'))"


def told(**more: str) -> list[str]:
    """Threads of a new process that loads it, and what the environment says of them then."""
    clean = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    done = subprocess.run(
        [sys.executable, "-c", COUNT], env={**clean, **more}, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def test_no_thread_is_started() -> None:
    """The process has its own alone; children would not inherit the setting."""
    assert told() == ["1", "None"]


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="OpenBLAS starts no more threads than there are cores")
def test_what_the_user_has_set_counts() -> None:
    """It is left in place."""
    assert told(OPENBLAS_NUM_THREADS="2") == ["2", "2"]
