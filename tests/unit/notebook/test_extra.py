"""Packages of the extra `notebook`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dlprof.errors import UnavailableError
from dlprof.notebook.extra import need


def test_a_module_that_is_there_is_imported() -> None:
    """Also one inside a package."""
    assert need("os.path").join("a", "b") == "a/b"


def test_a_package_that_is_missing_is_said_with_what_to_install() -> None:
    """One sentence, and the command."""
    with pytest.raises(UnavailableError, match=r"no_such_package is not installed\.") as caught:
        need("no_such_package.module")

    assert caught.value.hint == "pip install 'dlprof[notebook]'"


def test_a_package_that_lacks_something_itself_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Installing the extra would not help."""
    (tmp_path / "dlprof_broken_package.py").write_text("import no_such_thing")
    monkeypatch.syspath_prepend(tmp_path)

    with pytest.raises(ModuleNotFoundError, match="no_such_thing"):
        need("dlprof_broken_package")
    assert "dlprof_broken_package" not in sys.modules
