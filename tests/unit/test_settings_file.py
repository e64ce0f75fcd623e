"""Settings come from files of the user's own, not from what somebody put above the current folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dlprof import config, settings_file


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working tree with a file of settings at its root, and a folder below."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "work" / ".git").mkdir(parents=True)
    (tmp_path / "work" / "inner").mkdir()
    return settings(tmp_path / "work").parent


def settings(folder: Path) -> Path:
    """A file that chooses an interpreter."""
    path = folder / "pyproject.toml"
    path.write_text('[tool.dlprof]\npython = "/chosen"\n')
    return path


def test_the_root_of_the_working_tree_is_the_last_place(tree: Path) -> None:
    """What lies above is not the project's."""
    assert settings_file.find(tree / "inner") == (tree / "pyproject.toml", ())

    (tree / "pyproject.toml").rename(tree.parent / "pyproject.toml")
    assert settings_file.find(tree / "inner") == (None, ())


def test_the_home_folder_is_the_last_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also without a working tree."""
    (tmp_path / "home" / "a" / "b").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    settings(tmp_path)
    assert settings_file.find(tmp_path / "home" / "a" / "b") == (None, ())

    own = settings(tmp_path / "home")
    assert settings_file.find(tmp_path / "home" / "a" / "b") == (own, ())


def test_outside_of_both_only_the_folder_itself_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Anybody may write to what lies above it."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "a").mkdir()
    settings(tmp_path)

    assert settings_file.find(tmp_path / "a") == (None, ())
    assert settings_file.find(tmp_path)[0] == tmp_path / "pyproject.toml"


@pytest.mark.parametrize(("mode", "why"), [(0o666, "everybody may write to it"), (0o606, "everybody may write to it")])
def test_a_file_that_others_may_change_is_passed_over_and_said(tree: Path, mode: int, why: str) -> None:
    """The settings are then the defaults."""
    (tree / "pyproject.toml").chmod(mode)

    loaded = config.load({"script": "a.py"}, {}, tree)

    assert loaded.python is None
    assert loaded.said == (f"settings of {tree / 'pyproject.toml'} are not used, because {why}",)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_file_of_another_user_is_passed_over_and_said(tree: Path) -> None:
    """It may choose the interpreter."""
    os.chown(tree / "pyproject.toml", 12345, -1)

    assert "belongs to another user" in config.load({"script": "a.py"}, {}, tree).said[0]


def test_an_interpreter_from_a_file_is_announced(tree: Path) -> None:
    """A flag is not: the user gave it."""
    assert config.load({"script": "a.py"}, {}, tree).announced == (f"python /chosen is from {tree / 'pyproject.toml'}",)
    assert config.load({"script": "a.py", "python": "/mine"}, {}, tree).announced == ()
