"""Who holds a folder's lock, and who waits."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.errors import CannotCreateError
from dlprof.store import lock


def test_a_second_one_is_refused_with_a_sentence(tmp_path: Path) -> None:
    """It says what the other does, and nothing is written."""
    with (
        lock.held(tmp_path, "runs a benchmark in"),
        pytest.raises(CannotCreateError) as error,
        lock.held(tmp_path, "runs a benchmark in", wait_s=0),
    ):
        pass

    assert error.value.message == f"Another dlprof runs a benchmark in {tmp_path}."
    assert list(tmp_path.iterdir()) == []


def test_it_is_free_again_after_a_failure(tmp_path: Path) -> None:
    """The holder need not end well."""
    with pytest.raises(ZeroDivisionError), lock.held(tmp_path, "x"):
        raise ZeroDivisionError
    with lock.held(tmp_path, "x", wait_s=0):
        pass


def test_a_folder_that_is_gone_is_told(tmp_path: Path) -> None:
    """It has no lock."""
    told = "gone cannot be opened: no such file or directory"
    with pytest.raises(CannotCreateError, match=told), lock.held(tmp_path / "gone", "x"):
        pass
