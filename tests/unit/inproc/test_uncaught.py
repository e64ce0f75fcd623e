"""Exceptions that leave the program."""

from __future__ import annotations

import pytest
from dlprof_probes.inproc import uncaught

from tests.unit.inproc.test_want_of_memory import Recorder, raised


def told(error: BaseException) -> list[object]:
    """What is recorded of it."""
    recorder = Recorder()
    uncaught.teller(recorder, lambda file: file != uncaught.__file__)(error, raised(error))
    return [(kind, name) for kind, name, _ in recorder.spans]


def test_its_class_is_told_with_the_innermost_line_of_the_users() -> None:
    """Not its text, which may hold anything."""
    recorder, error = Recorder(), ValueError("the password is 1234")
    trace = raised(error)
    uncaught.teller(recorder, lambda _file: True)(error, trace)

    assert recorder.spans == [("exception", "ValueError", (trace.tb_frame.f_code.co_filename, trace.tb_lineno))]


def test_a_line_that_cannot_be_compiled_is_told_itself() -> None:
    """No frame stands there."""
    recorder = Recorder()
    with pytest.raises(SyntaxError) as caught:
        compile("x = 1\ny = = 2\n", "train.py", "exec")
    uncaught.teller(recorder, lambda _file: False)(caught.value, None)

    assert recorder.spans == [("exception", "SyntaxError", ("train.py", 2))]


def test_want_of_memory_is_told_twice() -> None:
    """As what ended the run, and as an exception."""
    assert told(MemoryError()) == [("out_of_memory", "MemoryError"), ("exception", "MemoryError")]


def test_an_interruption_is_no_failure() -> None:
    """It is told by the signal."""
    assert told(KeyboardInterrupt()) == []
