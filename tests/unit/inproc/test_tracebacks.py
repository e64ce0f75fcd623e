"""Tracebacks are as the user would see them without dlprof."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator
from typing import Any

import pytest
from dlprof_probes.inproc import tracebacks, wrappers
from dlprof_probes.inproc.patching import Patches


@pytest.fixture
def patches() -> Iterator[Patches]:
    """The traceback module, filtered until the end of the test."""
    made = Patches()
    tracebacks.install(made)
    yield made
    made.undo()


def failing() -> None:
    """Code of the user's."""
    raise KeyError("gone")


wrapped = wrappers.spanned(failing, lambda _args: None, lambda _token, _args: None)


def functions(error: BaseException | None) -> list[str]:
    """Names of the functions in a traceback, outermost first."""
    names, trace = [], error.__traceback__ if error is not None else None
    while trace is not None:
        names.append(trace.tb_frame.f_code.co_name)
        trace = trace.tb_next
    return names


def raised(function: Any) -> BaseException:
    """What a function raises."""
    try:
        function()
    except Exception as error:  # noqa: BLE001
        return error
    raise AssertionError


def test_printed_tracebacks_leave_our_frames_out(patches: Patches) -> None:
    """Those that the program prints itself."""
    text = "".join(traceback.format_exception(raised(wrapped)))

    assert "in failing" in text
    assert "wrapper" not in text


def test_the_traceback_module_is_as_before_afterwards() -> None:
    """Nothing of it stays replaced."""
    before = dict(vars(traceback))
    made = Patches()
    tracebacks.install(made)
    assert vars(traceback)["walk_tb"] is not before["walk_tb"]

    made.undo()
    assert {name: vars(traceback)[name] for name in before} == before


def test_stripping_takes_our_frames_out_of_the_exception() -> None:
    """Also out of the middle."""
    error = raised(wrapped)
    assert functions(error) == ["raised", "wrapper", "failing"]

    tracebacks.strip(error, set())

    assert functions(error) == ["raised", "failing"]


def test_stripping_follows_causes_and_contexts() -> None:
    """What an exception came from is shown, too."""

    def with_cause() -> None:
        try:
            wrapped()
        except KeyError as error:
            raise ValueError("cause") from error

    def with_context() -> None:
        try:
            with_cause()
        except ValueError:
            raise OSError("context")  # noqa: B904

    error = raised(with_context)
    tracebacks.strip(error, set())

    assert functions(error.__context__) == ["with_context", "with_cause"]
    assert functions(error.__context__.__cause__ if error.__context__ else None) == ["with_cause", "failing"]


def test_exceptions_that_are_each_other_s_context_end() -> None:
    """A program can build such a circle."""
    first, second = raised(wrapped), raised(wrapped)
    first.__context__, second.__context__ = second, first

    tracebacks.strip(first, set())

    assert [functions(first), functions(second)] == [["raised", "failing"]] * 2


def test_a_traceback_of_our_frames_only_is_empty() -> None:
    """Nothing of it is the user's."""
    namespace: dict[str, Any] = {"__name__": "dlprof_probes.own"}
    exec("def own():\n    raise KeyError\n", namespace)
    error = raised(namespace["own"])
    error.__traceback__ = error.__traceback__ and error.__traceback__.tb_next

    tracebacks.strip(error, set())

    assert error.__traceback__ is None


def test_an_exception_that_leaves_the_script_is_reported_without_our_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the hook that the program has set, which has its place again."""
    reported: list[Any] = []
    hook = lambda kind, value, trace: reported.append((kind, functions(value), trace is value.__traceback__))  # noqa: E731
    monkeypatch.setattr(sys, "excepthook", hook)
    tracebacks.hook_uncaught()
    error = raised(wrapped)

    sys.excepthook(KeyError, error, error.__traceback__)

    assert reported == [(KeyError, ["raised", "failing"], True)]
    assert sys.excepthook is hook


WORKER = """
import traceback
def {name}(run):
    try:
        run()
    except BaseException:
        return traceback.format_exc()
"""


@pytest.mark.parametrize(
    ("name", "file", "expected"),
    [
        ("_bootstrap", "/lib/python3.11/multiprocessing/process.py", ["KeyError failing"]),
        ("_wrap", "/site-packages/torch/multiprocessing/spawn.py", ["KeyError failing"]),
        ("load", "/home/user/train.py", []),
    ],
)
def test_an_exception_that_ends_what_a_worker_does_is_told(
    patches: Patches, name: str, file: str, expected: list[str]
) -> None:
    """`multiprocessing` makes its text itself, and calls no hook of Python's; others that do so go on."""
    told: list[str] = []
    tracebacks.hook_workers(
        patches, lambda error, _trace: told.append(f"{type(error).__name__} {functions(error)[-1]}")
    )
    space: dict[str, Any] = {}
    exec(compile(WORKER.format(name=name), file, "exec"), space)
    assert space[name](failing).endswith("KeyError: 'gone'\n")
    assert told == expected
