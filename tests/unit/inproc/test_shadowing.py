"""What of a program's own files bears the name of a module, and what hangs on it."""

from __future__ import annotations

import os
import sys
import types
from pathlib import Path

import pytest
from dlprof_probes.inproc import shadowing

LIBRARY = os.path.dirname(os.path.abspath(os.__file__))


def test_what_uses_a_module_that_is_forgotten_is_forgotten_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By what it has of it, or by what it has of one that has something of it; others stay."""
    (tmp_path / "made_up.py").touch()
    for name in ("made_up", "made_up_user", "made_up_of_user", "made_up_other"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    kind = type("Kind", (), {"__module__": "made_up"})
    monkeypatch.setattr(sys.modules["made_up_user"], "Kind", kind, raising=False)
    monkeypatch.setattr(sys.modules["made_up_of_user"], "user", sys.modules["made_up_user"], raising=False)
    monkeypatch.setattr(sys.modules["made_up_other"], "number", 1, raising=False)
    before = set(sys.modules) - {name for name in sys.modules if name.startswith("made_up")}

    shadowing.forget([str(tmp_path)], before)

    assert [name for name in sys.modules if name.startswith("made_up")] == ["made_up_other"]


def test_folders_of_the_program_come_last_while_something_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """And first again afterwards: its own and those of PYTHONPATH, which are before Python's."""
    path = ["/script", "/given", LIBRARY, "/packages"]
    monkeypatch.setattr(sys, "path", path.copy())

    with shadowing.UsersLast():
        inside = list(sys.path)

    assert inside == [LIBRARY, "/packages", "/script", "/given"]
    assert (sys.path, shadowing.before_library()) == (path, ["/script", "/given"])
