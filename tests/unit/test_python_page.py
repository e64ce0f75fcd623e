"""The page of the Python API: its examples do what they say, on the runs of the demo."""

from __future__ import annotations

import doctest
import inspect
import re
from pathlib import Path

import pytest

import dlprof
from dlprof.notebook.tracing import Settings
from dlprof.notebook.views import ComparisonView, RunView
from dlprof.shipped import demo

PAGE = Path(__file__).parents[2] / "docs" / "python.md"
TEXT = PAGE.read_text(encoding="utf-8")


def test_every_example_gives_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a user types them below an unpacked demo."""
    demo.unpack(tmp_path / demo.FOLDER)
    monkeypatch.chdir(tmp_path)

    result = doctest.testfile(str(PAGE), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)

    assert result.attempted > 15
    assert result.failed == 0


def test_every_function_of_the_package_is_on_it() -> None:
    """With its arguments, as it is defined."""
    for name in ("trace", "open", "compare", "runs", "view"):
        told = re.search(rf"`dlprof\.{name}\((?P<arguments>[^`]*)\)`", TEXT)
        assert told is not None, name
        names = re.findall(r"(?:^|, )(?:\*\*)?(\w+)", told["arguments"])
        assert names == list(inspect.signature(getattr(dlprof, name)).parameters), name


@pytest.mark.parametrize("kind", [RunView, ComparisonView])
def test_every_method_is_on_it(kind: type) -> None:
    """And every plain value."""
    shown = {name for name in dir(kind) if not name.startswith("_")}

    assert {name for name in shown if not re.search(rf"\b{name}\b", TEXT)} - {
        "report",
        "diagnosis",
        "comparison",
    } == set()


def test_settings_of_its_examples_are_settings() -> None:
    """None is misspelt."""
    row = next(line for line in TEXT.splitlines() if line.startswith("| `dlprof.trace("))

    assert set(re.findall(r"`(\w+)=", row)) <= set(Settings.__annotations__)
