"""Builtins of our own, while a program puts others in their place."""

from __future__ import annotations

import builtins
import sys

import pytest
from dlprof_probes import inproc
from dlprof_probes.inproc import own_builtins, tally


def test_what_a_program_puts_in_the_place_of_a_builtin_is_not_met(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a function nor a class, as in an `except`; the module is another one than that which is loaded."""
    monkeypatch.setattr(inproc, "tally", tally)  # so that it is put back
    monkeypatch.delitem(sys.modules, tally.__name__)
    finders = list(sys.meta_path)

    (loaded,) = own_builtins.load(["tally"])

    assert loaded.Tally.__init__.__builtins__ is own_builtins.NAMES
    assert own_builtins.NAMES["len"] is builtins.len
    assert own_builtins.NAMES is not vars(builtins)
    assert sys.meta_path == finders


def test_other_modules_are_none_of_ours() -> None:
    """They are left to Python's own finders."""
    assert own_builtins.Finder.find_spec("json") is None
