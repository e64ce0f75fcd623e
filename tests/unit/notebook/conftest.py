"""Runs that notebooks open, and shells that trace their cells."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import dlprof
from dlprof.notebook.views import ComparisonView, RunView
from tests.unit import runs
from tests.unit.notebook.shells import Shell
from tests.unit.runs import S


@pytest.fixture
def trained(tmp_path: Path) -> RunView:
    """A run of 10 s with 5 s of steps."""
    runs.trained(tmp_path / "a")
    return dlprof.open(tmp_path / "a")


@pytest.fixture
def pair(tmp_path: Path) -> ComparisonView:
    """A run of 10 s and one of 6 s that has 4 s less of steps."""
    runs.trained(tmp_path / "a")
    short = runs.manifest(process={"pid": 42, "exit_code": 0, "signal": None, "wall_ns": 6 * S})
    tables = {"phases": runs.phases(startup=2, fit_steps=1, fit_callbacks=1, teardown=2)}
    tables["phases"][0]["phase"] = "import"
    runs.trained(tmp_path / "b", short, **tables)
    return dlprof.compare(dlprof.open(tmp_path / "a"), tmp_path / "b")


@pytest.fixture
def pyplot() -> Any:
    """Matplotlib without a screen."""
    import matplotlib.pyplot as plt

    plt.switch_backend("agg")
    yield plt
    plt.close("all")


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    """A shell that knows the magic, in an empty folder."""
    from IPython.core.interactiveshell import InteractiveShell

    monkeypatch.chdir(tmp_path)
    made = Shell(tmp_path)
    made.run("%load_ext dlprof")
    yield made
    InteractiveShell.clear_instance()


@pytest.fixture
def untraced() -> Iterator[None]:
    """Without the trace function of a tool that measures coverage: beside one, lines cannot be counted."""
    before = sys.gettrace()
    sys.settrace(None)
    yield
    sys.settrace(before)
