"""Which files are profiled by line."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from dlprof_probes.inproc.line_selection import Selection


@pytest.fixture
def selected(tmp_path: Path) -> Any:
    """The selection of a script beside its modules; `pkg.mod` and a folder were named."""
    (tmp_path / "train.py").touch()
    return Selection(str(tmp_path / "train.py"), ["pkg.mod", "/elsewhere/lib", "/data/*.py"])


@pytest.mark.parametrize(
    ("path", "module", "expected"),
    [
        ("train.py", "", True),
        ("model.py", "model", True),
        ("below/model.py", "below.model", True),
        ("venv/lib/python3.11/site-packages/keras/layers.py", "keras.layers", False),
        ("venv/dist-packages/x.py", "x", False),
        ("/usr/share/other.py", "other", False),
        ("/anywhere/mod.py", "pkg.mod", True),
        ("/anywhere/mod/deep.py", "pkg.mod.deep", True),
        ("/anywhere/model.py", "pkg.model", False),
        ("/elsewhere/lib/x.py", "x", True),
        ("/elsewhere/library.py", "x", False),
        ("/data/x.py", "x", True),
    ],
)
def test_which_files_are_counted(tmp_path: Path, selected: Any, path: str, module: str, expected: bool) -> None:
    """The script, what lies beside it, and what was named; no library."""
    assert selected(str(tmp_path / path), module) is expected


@pytest.mark.parametrize("path", ["", "<string>", "<frozen importlib._bootstrap>"])
def test_code_without_a_file_is_not_counted(selected: Any, path: str) -> None:
    """There are no lines to show."""
    assert selected(path) is False


def test_libraries_beside_the_script_are_not_counted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where the script lies above an environment."""
    library = tmp_path / "env" / "site-packages"
    monkeypatch.setattr(sys, "path", [*sys.path, str(library)])
    selected: Any = Selection(str(tmp_path / "train.py"), [])

    assert selected(str(library / "x.py")) is False
    assert selected(str(tmp_path / "env" / "x.py")) is True
