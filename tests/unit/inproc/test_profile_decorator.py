"""`@profile` as users of kernprof know it."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from dlprof_probes.inproc import profile_decorator, wrappers


class Lines:
    """Counts the lines of functions that it is told of."""

    def __init__(self, selected: bool) -> None:
        self.calls: list[Any] = []
        self._selected = selected
        self.profiler: Any = type(
            "LineProfiler",
            (),
            {
                "add_function": lambda _self, f: self.calls.append(f.__name__),
                "__call__": lambda _self, f: ("theirs", f),
                "print_stats": "of line_profiler",
            },
        )()

    def selects(self, _path: str) -> bool:
        return self._selected

    def counts_everywhere(self, code: Any) -> None:
        self.everywhere = code.co_name

    def enter_function(self) -> str:
        self.calls.append("enter")
        return "token"

    def leave_function(self, token: str) -> None:
        self.calls.append(("leave", token))


def decorated(lines: Lines, function: Any) -> Any:
    """`function` under the decorator."""
    return profile_decorator.ProfileDecorator(lines, wrappers)(function)


def function(value: int) -> int:
    """One of the user's."""
    return value + 1


def test_the_lines_of_a_function_are_counted_while_it_runs() -> None:
    """In a file that is selected it is registered already."""
    lines = Lines(selected=True)

    assert decorated(lines, function)(1) == 2
    assert lines.calls == ["enter", ("leave", "token")]
    assert lines.everywhere == "function"


def test_a_function_of_another_file_is_registered() -> None:
    """Wherever it comes from."""
    lines = Lines(selected=False)

    decorated(lines, function)

    assert lines.calls == ["function"]


def test_a_decorated_function_looks_like_itself() -> None:
    """Name and documentation."""
    wrapped = decorated(Lines(selected=True), function)

    assert (wrapped.__name__, wrapped.__doc__) == ("function", "One of the user's.")


def test_counting_ends_where_an_exception_leaves() -> None:
    """And the exception goes on."""
    lines = Lines(selected=True)

    with pytest.raises(TypeError):
        decorated(lines, function)("text")

    assert lines.calls == ["enter", ("leave", "token")]


def test_generators_are_given_back_as_they_are() -> None:
    """They run when they are asked, not when they are called."""

    def generator() -> Iterator[int]:
        yield 1

    async def coroutine() -> None:
        """Nothing."""

    lines = Lines(selected=True)

    assert decorated(lines, generator) is generator
    assert decorated(lines, coroutine) is coroutine


def test_what_is_no_function_goes_to_line_profiler() -> None:
    """And so do the names that `profile` has besides."""
    lines = Lines(selected=True)

    assert decorated(lines, len) == ("theirs", len)
    assert profile_decorator.ProfileDecorator(lines, wrappers).print_stats == "of line_profiler"


def test_the_program_finds_it_under_both_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """The builtin, and `from line_profiler import profile`."""
    overwritten: list[Any] = []
    explicit = SimpleNamespace(profile=SimpleNamespace(_kernprof_overwrite=overwritten.append))
    monkeypatch.setitem(sys.modules, "line_profiler", explicit)
    monkeypatch.setattr(builtins, "profile", None, raising=False)

    profile_decorator.install(Lines(selected=True), wrappers)

    assert overwritten == [builtins.profile]  # type: ignore[attr-defined]
    assert builtins.profile(function)(1) == 2  # type: ignore[attr-defined]
