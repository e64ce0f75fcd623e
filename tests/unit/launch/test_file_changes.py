"""Waiting until somebody writes to a file."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from dlprof.launch import file_changes
from dlprof.launch.file_changes import FileChanges


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """An empty file."""
    made = tmp_path / "marks"
    made.touch()
    return made


@pytest.fixture
def changes(path: Path) -> Iterator[FileChanges]:
    """What waits for it to change."""
    made = FileChanges(path)
    yield made
    made.close()


def returned(changes: FileChanges, within_s: float) -> bool:
    """Whether `wait` returns in so many seconds."""
    thread = threading.Thread(target=changes.wait, daemon=True)
    thread.start()
    thread.join(within_s)
    if over := not thread.is_alive():
        return over
    changes.wake()
    thread.join()
    return over


def test_it_returns_when_the_file_is_written_to(changes: FileChanges, path: Path) -> None:
    """Each time."""
    for text in ("begin fit\n", "end fit\n"):
        with path.open("a") as out:
            out.write(text)
        assert returned(changes, 10)


def test_it_waits_as_long_as_nothing_happens(changes: FileChanges) -> None:
    """Instead of looking all the time."""
    assert not returned(changes, 0.2)


def test_who_waits_can_be_woken(changes: FileChanges) -> None:
    """Also before it waits."""
    changes.wake()
    assert returned(changes, 10)


@pytest.mark.parametrize("missing", ["no such call", "none to be had", "no watch to be had"])
def test_where_the_kernel_does_not_tell_it_looks_now_and_then(
    path: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    """Another system, or the user's limit; no descriptor is left behind."""
    before = set(os.listdir("/proc/self/fd"))
    libc = type("libc", (), {})
    if missing != "no such call":
        answer = -1 if missing == "none to be had" else os.open(path, os.O_RDONLY)
        libc = type("libc", (), {"inotify_init1": lambda _flags: answer, "inotify_add_watch": lambda *_: -1})
    monkeypatch.setattr(file_changes, "_LIBC", libc)
    changes = FileChanges(path)
    found = returned(changes, 10)
    changes.close()

    assert found
    assert set(os.listdir("/proc/self/fd")) == before
