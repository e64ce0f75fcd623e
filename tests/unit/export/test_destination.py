"""Where an export goes: whole or not there, and nothing of the user's is lost."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dlprof.errors import CannotCreateError
from dlprof.export import destination
from dlprof.store.run import Run
from tests.unit.runs import make


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """A run without anything."""
    return make(tmp_path / "run")


def test_a_file_gets_its_name_when_it_is_whole(run: Run, tmp_path: Path) -> None:
    """With the rights that new files have."""
    mask = os.umask(0o027)
    try:
        with destination.new_file(tmp_path / "out", run, force=False) as out:
            out.write(b"half ")
            assert not (tmp_path / "out").exists()
            out.write(b"whole")
    finally:
        os.umask(mask)

    assert (tmp_path / "out").read_bytes() == b"half whole"
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o640


def test_a_file_that_could_not_be_written_is_not_there(run: Run, tmp_path: Path) -> None:
    """Nor a half one under another name."""
    with pytest.raises(ZeroDivisionError), destination.new_file(tmp_path / "out", run, force=False) as out:
        out.write(b"half")
        raise ZeroDivisionError

    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_file_is_replaced_with_force_only(run: Run, tmp_path: Path) -> None:
    """It may be the user's."""
    (tmp_path / "out").write_text("mine")

    with pytest.raises(CannotCreateError, match="exists"), destination.new_file(tmp_path / "out", run, force=False):
        pass
    assert (tmp_path / "out").read_text() == "mine"
    with destination.new_file(tmp_path / "out", run, force=True) as out:
        out.write(b"new")

    assert (tmp_path / "out").read_text() == "new"


def test_a_device_is_no_place_for_a_file(run: Run) -> None:
    """Not even with force: it would be replaced."""
    with (
        pytest.raises(CannotCreateError, match="no plain file"),
        destination.new_file(Path("/dev/null"), run, force=True),
    ):
        pass


def test_a_folder_that_holds_something_is_written_to_with_force_only(run: Run, tmp_path: Path) -> None:
    """What is in it stays."""
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "notes").write_text("mine")

    with pytest.raises(CannotCreateError, match="is not empty"), destination.new_folder(folder, run, force=False):
        pass
    with destination.new_folder(folder, run, force=True) as made:
        assert made == folder

    assert (folder / "notes").read_text() == "mine"


def test_an_empty_or_new_folder_is_taken(run: Run, tmp_path: Path) -> None:
    """Also within others that are not there."""
    (tmp_path / "empty").mkdir()

    for path in (tmp_path / "empty", tmp_path / "new" / "folder"):
        with destination.new_folder(path, run, force=False) as made:
            assert made.is_dir()


def test_a_file_and_a_folder_do_not_replace_each_other(run: Run, tmp_path: Path) -> None:
    """Not even with force."""
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()

    with (
        pytest.raises(CannotCreateError, match="is a file"),
        destination.new_folder(tmp_path / "file", run, force=True),
    ):
        pass
    with (
        pytest.raises(CannotCreateError, match="is a folder"),
        destination.new_file(tmp_path / "folder", run, force=True),
    ):
        pass


def test_the_run_folder_is_no_place_for_an_export(run: Run) -> None:
    """Nor what is in it: its own tables lie there."""
    inside = run.folder.path / "tables" / ".." / "out"

    with (
        pytest.raises(CannotCreateError, match="lies in the run folder"),
        destination.new_file(inside, run, force=True),
    ):
        pass
    with (
        pytest.raises(CannotCreateError, match="lies in the run folder"),
        destination.new_folder(run.folder.path, run, force=True),
    ):
        pass


@pytest.mark.parametrize("is_there", [True, False])
def test_a_folder_that_could_not_be_written_is_as_it_was(run: Run, tmp_path: Path, *, is_there: bool) -> None:
    """Empty, or not there: half an export is none."""
    folder = tmp_path / "out"
    if is_there:
        folder.mkdir()

    with pytest.raises(ZeroDivisionError), destination.new_folder(folder, run, force=False) as made:
        (made / "inner").mkdir()
        (made / "half").write_text("half")
        raise ZeroDivisionError

    assert [path.name for path in tmp_path.rglob("*") if path.is_relative_to(folder)] == (["out"] if is_there else [])


def test_what_a_folder_held_stays_after_an_error(run: Run, tmp_path: Path) -> None:
    """It is the user's."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "notes").write_text("mine")

    with pytest.raises(ZeroDivisionError), destination.new_folder(tmp_path / "out", run, force=True):
        raise ZeroDivisionError

    assert (tmp_path / "out" / "notes").read_text() == "mine"
