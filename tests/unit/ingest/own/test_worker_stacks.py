"""Stacks of processes that `multiprocessing` started."""

from __future__ import annotations

import pytest

from dlprof.ingest.own.worker_stacks import worker_part
from dlprof.ingest.parse.sampled_stacks import Frame

MAIN = Frame("<module>", "train.py", 9)
WORK = Frame("load", "train.py", 3)


@pytest.mark.parametrize(
    ("function", "file"),
    [
        ("BaseProcess._bootstrap", "multiprocessing/process.py"),
        ("_bootstrap", "/usr/lib/python3.8/multiprocessing/process.py"),
        ("_bootstrap", "billiard/process.py"),
    ],
)
def test_frames_of_the_parent_are_no_time_of_the_worker(function: str, file: str) -> None:
    """A forked process has them on its stack all its life."""
    assert worker_part([MAIN, Frame(function, file, 300), WORK]) == (WORK,)


def test_a_worker_of_a_worker_has_the_inner_part() -> None:
    """It has forked once more."""
    begins = Frame("_bootstrap", "multiprocessing/process.py", 300)

    assert worker_part([begins, MAIN, begins, WORK]) == (WORK,)


def test_another_process_is_no_worker() -> None:
    """Nor is one whose own function has such a name."""
    assert worker_part([MAIN, Frame("_bootstrap", "train.py", 3), WORK]) is None
