"""Answers of interpreters that are kept between runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.launch import known_interpreters


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder of this test's own."""
    monkeypatch.setenv("DLPROF_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
def program(tmp_path: Path) -> str:
    """An interpreter whose answer is kept, with the folder of its packages."""
    (tmp_path / "python").touch()
    (tmp_path / "packages").mkdir()
    known_interpreters.keep(str(tmp_path / "python"), "what?", "{}", [str(tmp_path / "packages")])
    return str(tmp_path / "python")


def test_the_same_question_has_the_same_answer(program: str) -> None:
    """Without starting anything."""
    assert known_interpreters.recall(program, "what?") == "{}"


def test_another_question_is_asked(program: str) -> None:
    """So is another program."""
    assert known_interpreters.recall(program, "who?") is None
    assert known_interpreters.recall(program + "3", "what?") is None


def test_a_package_that_was_installed_meanwhile_changes_the_answer(program: str, tmp_path: Path) -> None:
    """Its folder has."""
    (tmp_path / "packages" / "keras").mkdir()

    assert known_interpreters.recall(program, "what?") is None


def test_a_program_that_was_replaced_is_asked_again(program: str) -> None:
    """It may be another Python."""
    Path(program).write_text("new")

    assert known_interpreters.recall(program, "what?") is None


def test_another_import_path_is_another_answer(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python reads it from the environment."""
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")

    assert known_interpreters.recall(program, "what?") is None


def test_a_damaged_file_is_no_answer(program: str, data: Path) -> None:
    """The interpreter is asked then."""
    (file,) = (data / "interpreters").iterdir()
    file.write_bytes(b"{")

    assert known_interpreters.recall(program, "what?") is None


def test_where_nothing_can_be_kept_nothing_is(tmp_path: Path, data: Path) -> None:
    """And nobody hears of it."""
    data.write_text("in the way")

    known_interpreters.keep(str(tmp_path / "python"), "what?", "{}", [])

    assert known_interpreters.recall(str(tmp_path / "python"), "what?") is None
