"""Exceptions that leave the program for want of memory."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest
from dlprof_probes.inproc import want_of_memory

Foreign = type("XlaRuntimeError", (RuntimeError,), {})
Engines = type("MXNetError", (Exception,), {"__module__": "mxnet.base"})
OutOfMemoryError = type("OutOfMemoryError", (RuntimeError,), {})


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (MemoryError(), True),
        (OutOfMemoryError("CUDA"), True),
        (RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried"), True),
        (Foreign("RESOURCE_EXHAUSTED: Out of memory while trying to allocate"), True),
        (Engines("std::bad_alloc"), True),
        (Engines("Traceback (most recent call last):\nMXNetError: Failed to allocate CPU Memory"), True),
        (OSError(12, "Cannot allocate memory"), True),
        (RuntimeError("shapes do not match"), False),
        (ValueError("out of memory is a fine film"), False),
        (KeyboardInterrupt(), False),
    ],
)
def test_what_says_that_memory_could_not_be_had(error: BaseException, expected: bool) -> None:
    """By its class, or by what engines say that raise another one."""
    assert want_of_memory.is_one(error) is expected


class Recorder:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.spans: list[Any] = []

    def begin_at(self, kind: str, name: str, _time_ns: int, place: tuple[str, int]) -> int:
        self.spans.append((kind, name, place))
        return 1

    def end(self, _span: int, _time_ns: int) -> None:
        """It takes no time."""

    def flush(self) -> None:
        """At once."""


def raised(error: BaseException) -> Any:
    """The traceback of an exception that was raised here."""
    try:
        raise error
    except BaseException:  # noqa: BLE001
        return sys.exc_info()[2]


def test_it_is_told_with_the_innermost_line_of_the_users() -> None:
    """And the first line of what it says."""
    recorder, error = Recorder(), MemoryError("Unable to allocate 7 GiB\nmore")
    trace = raised(error)
    want_of_memory.teller(recorder, lambda file: file == __file__)(error, trace)

    assert recorder.spans == [("out_of_memory", "MemoryError: Unable to allocate 7 GiB", (__file__, trace.tb_lineno))]


def test_the_line_that_speaks_of_memory_is_told() -> None:
    """Keras says first in which layer it was."""
    recorder = Recorder()
    error = RuntimeError(
        "Exception encountered when calling Dense.call().\n\nDefaultCPUAllocator: can't allocate memory"
    )
    want_of_memory.teller(recorder, lambda file: file == __file__)(error, raised(error))

    assert recorder.spans[0][1] == "RuntimeError: DefaultCPUAllocator: can't allocate memory"


def test_other_exceptions_are_not_told() -> None:
    """They are the script's own affair."""
    recorder = Recorder()
    want_of_memory.teller(recorder, lambda _file: True)(ValueError(), SimpleNamespace())

    assert recorder.spans == []
