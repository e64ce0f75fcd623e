"""Entry points of other packages, and what is said of those that are of no use."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path

import pytest

from dlprof import plugins


@dataclass
class Entry:
    """An entry point that gives `value`, or raises it."""

    name: str
    value: object

    def load(self) -> object:
        """Give it."""
        if isinstance(self.value, Exception):
            raise self.value
        return self.value


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three plug-ins of a group: a number, a text, and one whose package is broken."""
    entries = [Entry("one", 1), Entry("word", "x"), Entry("broken", ImportError("no module named y"))]
    monkeypatch.setattr(plugins, "entry_points", lambda group: entries if group == "dlprof.numbers" else [])


@pytest.mark.usefixtures("installed")
def test_what_is_of_another_type_or_cannot_be_loaded_is_passed_over(capsys: pytest.CaptureFixture[str]) -> None:
    """Each with one line that names it."""
    assert list(plugins.loaded("dlprof.numbers", "number", int)) == [("one", 1)]
    assert capsys.readouterr().err.splitlines() == [
        "dlprof: warning: number plug-in word gives no int",
        "dlprof: warning: number plug-in broken cannot be loaded: no module named y",
    ]


@pytest.mark.usefixtures("installed")
def test_without_a_type_all_that_can_be_loaded_is_given() -> None:
    """Who asks looks for itself."""
    assert [name for name, _ in plugins.loaded("dlprof.numbers", "number")] == ["one", "word"]


@pytest.mark.usefixtures("installed")
def test_another_group_is_none_of_it() -> None:
    """Groups are apart."""
    assert list(plugins.loaded("dlprof.others", "other")) == []


@pytest.mark.parametrize(
    ("folder", "text", "seen"),
    [
        ("other-1.0.dist-info", "[console_scripts]\nother = other:main\n", False),
        ("plugged-1.0.dist-info", "[dlprof.readers]\nplugged = plugged:READER\n", True),
        ("plugged.egg-info", "[dlprof.rules]\nplugged = plugged:rule\n", True),
    ],
)
def test_packages_are_asked_only_where_one_names_a_group_of_dlprof(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str, text: str, seen: bool
) -> None:
    """Reading all that is known of every package takes longer than looking for a word."""
    (tmp_path / folder).mkdir()
    (tmp_path / folder / "entry_points.txt").write_text(text)
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(tmp_path / "not there")])
    monkeypatch.setattr(sys, "meta_path", [PathFinder])

    assert plugins._may_be_some.__wrapped__() is seen


def test_packages_in_an_archive_are_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is in it is not seen from outside."""
    (tmp_path / "packages.zip").write_bytes(b"PK")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "packages.zip")])

    assert plugins._may_be_some.__wrapped__() is True


def test_packages_that_another_finder_knows_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """They may lie anywhere."""

    class Finder:
        def find_distributions(self) -> None:
            """As a finder of the author's own."""

    monkeypatch.setattr(sys, "path", [])
    monkeypatch.setattr(sys, "meta_path", [Finder()])

    assert plugins._may_be_some.__wrapped__() is True
