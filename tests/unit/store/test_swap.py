"""A folder takes another's place whole, or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dlprof.store import swap


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One with a file `old`."""
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "old").touch()
    return tmp_path / "tables"


def names(folder: Path) -> list[str]:
    """All files in a folder and beside it."""
    return sorted(path.relative_to(folder.parent).as_posix() for path in folder.parent.rglob("*") if path.is_file())


@pytest.mark.parametrize("can_exchange", [True, False])
def test_the_new_folder_takes_the_place_of_the_old_one(
    folder: Path, can_exchange: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where names cannot be exchanged in one go."""
    if not can_exchange:
        monkeypatch.setattr(swap, "_exchanged", lambda *_: False)
    with swap.swapped(folder) as part:
        (part / "new").touch()

    assert names(folder) == ["tables/new"]
    assert not swap.interrupted(folder)


def test_a_folder_that_is_not_there_is_made(tmp_path: Path) -> None:
    """Nothing has to be replaced."""
    with swap.swapped(tmp_path / "tables") as part:
        (part / "new").touch()

    assert names(tmp_path / "tables") == ["tables/new"]


def test_a_failure_leaves_the_old_folder(folder: Path) -> None:
    """And nothing beside it."""

    def fail() -> None:
        with swap.swapped(folder) as part:
            (part / "new").touch()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert names(folder) == ["tables/old"]
    assert not swap.interrupted(folder)


def test_a_swap_that_was_killed_between_two_names_is_mended(folder: Path) -> None:
    """The old folder has its name again; the new one may not have been whole."""
    folder.rename(folder.with_name("tables.old"))
    folder.with_name("tables.part").mkdir()
    assert swap.interrupted(folder)

    swap.recover(folder)

    assert names(folder) == ["tables/old"]
    assert not swap.interrupted(folder)


def test_a_pipe_in_the_way_is_not_opened(folder: Path) -> None:
    """Nobody writes into it."""
    os.mkfifo(folder.with_name("tables.part"))

    swap.recover(folder)

    assert not swap.interrupted(folder)


def test_a_link_is_not_followed(folder: Path, tmp_path: Path) -> None:
    """What a link leads to is not emptied, only the link is taken away."""
    elsewhere = tmp_path / "elsewhere"
    folder.rename(elsewhere)
    folder.symlink_to(elsewhere)

    with swap.swapped(folder) as part:
        (part / "new").touch()

    assert names(folder) == ["elsewhere/old", "tables/new"]
