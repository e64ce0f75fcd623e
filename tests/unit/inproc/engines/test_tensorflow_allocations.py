"""Records of TensorFlow's allocator are switched on for a trace, and off behind it."""

from __future__ import annotations

import ctypes
import os
from types import SimpleNamespace
from typing import Any

import pytest
from dlprof_probes.inproc.engines.tensorflow_allocations import AllocationRecords

TENSORFLOW = SimpleNamespace(__file__="/there/tensorflow/__init__.py")


class Function:
    """One of a library's."""

    def __init__(self, does: Any) -> None:
        self._does = does

    def __call__(self) -> Any:
        return self._does()


class Library:
    """TensorFlow's, with statistics that are on or off."""

    def __init__(self, space: str, is_on: bool) -> None:
        self.is_on = is_on
        for name, does in (
            ("23EnableCPUAllocatorStats", lambda: self._switch(True)),
            ("24DisableCPUAllocatorStats", lambda: self._switch(False)),
            ("24CPUAllocatorStatsEnabled", lambda: self.is_on),
        ):
            setattr(self, f"_ZN{space}{name}Ev", Function(does))

    def _switch(self, on: bool) -> None:
        self.is_on = on


def loaded(monkeypatch: pytest.MonkeyPatch, library: Any) -> list[tuple[str, int]]:
    """That library is what is loaded; gives the paths and modes with which it was asked for."""
    asked = []

    def open_library(path: str, mode: int) -> Any:
        asked.append((path, mode))
        return library

    monkeypatch.setattr(ctypes, "CDLL", open_library)
    return asked


@pytest.mark.parametrize("space", ["3tsl", "10tensorflow"])
def test_they_are_on_for_a_trace_alone(monkeypatch: pytest.MonkeyPatch, space: str) -> None:
    """In the library that is loaded already: none is loaded for this."""
    library = Library(space, is_on=False)
    asked = loaded(monkeypatch, library)
    records = AllocationRecords(TENSORFLOW)

    records.begin()
    during = library.is_on
    records.end()

    assert (during, library.is_on) == (True, False)
    assert asked == [("/there/tensorflow/libtensorflow_framework.so.2", os.RTLD_NOLOAD | os.RTLD_LAZY)]


def test_what_the_program_switched_on_stays_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """It asks for the statistics itself."""
    library = Library("3tsl", is_on=True)
    loaded(monkeypatch, library)
    records = AllocationRecords(TENSORFLOW)

    records.begin()
    records.end()

    assert library.is_on


def test_a_version_without_such_functions_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """And so is one whose library is not found."""
    loaded(monkeypatch, SimpleNamespace())
    records = AllocationRecords(TENSORFLOW)
    records.begin()
    records.end()

    def missing(*_args: Any, **_more: Any) -> Any:
        raise OSError("not loaded")

    monkeypatch.setattr(ctypes, "CDLL", missing)
    AllocationRecords(TENSORFLOW).begin()
