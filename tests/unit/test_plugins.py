"""Entry points of other packages, and what is said of those that are of no use."""

from __future__ import annotations

from dataclasses import dataclass

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
