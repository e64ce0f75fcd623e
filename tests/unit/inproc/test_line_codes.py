"""Bytecode that no other function has."""

from __future__ import annotations

import dis
from types import CodeType, SimpleNamespace
from typing import Any

import pytest
from dlprof_probes.inproc import line_codes


def code_of(text: str) -> CodeType:
    """The code of the one function in a text."""
    scope: dict[str, Any] = {}
    exec(text, scope)
    code: CodeType = next(value.__code__ for value in scope.values() if hasattr(value, "__code__"))
    return code


STEP = "def step(x):\n    if x:\n        return 1\n    return 2\n"


def test_equal_functions_get_bytecode_of_their_own() -> None:
    """By which line_profiler tells them apart, from each other and from one that is not counted."""
    seen: dict[bytes, int] = {}
    code = code_of(STEP)

    made = [line_codes.apart(code_of(STEP), SimpleNamespace(), seen).co_code for _ in range(3)]

    assert len({code.co_code, *made}) == 4


def test_it_ends_in_a_return() -> None:
    """What analyses bytecode takes a last instruction that goes on for damage: `torch.compile` does."""
    code = line_codes.apart(code_of(STEP), SimpleNamespace(), {})

    assert list(dis.get_instructions(code))[-1].opname == "RETURN_VALUE"


@pytest.mark.parametrize(("given", "expected"), [(1, 1), (0, 2)])
def test_what_it_does_stays(given: int, expected: int) -> None:
    """Nothing reaches the added instructions."""

    def function(x: int) -> int:
        return x

    function.__code__ = line_codes.apart(code_of(STEP), SimpleNamespace(), {})

    assert function(given) == expected


def test_line_profiler_is_told_not_to_pad_it() -> None:
    """From 5.0 on it counts paddings per bytecode, and pads each function."""
    profiler = SimpleNamespace(_all_paddings={})

    code = line_codes.apart(code_of(STEP), profiler, {})

    assert profiler._all_paddings == {code.co_code: 0}


def test_a_line_profiler_that_counts_otherwise_pads_as_it_likes() -> None:
    """Its own padding on top of ours would be no better than alone."""
    code = code_of(STEP)

    assert line_codes.apart(code, SimpleNamespace(_all_paddings=object()), {}) is code


def test_other_constants_leave_the_rest_as_it_is() -> None:
    """Functions within a module's code are replaced so."""
    code = code_of("def step():\n    return 'one'\n")

    made = line_codes.with_consts(code, tuple("two" if const == "one" else const for const in code.co_consts))

    assert (made.co_code, "two" in made.co_consts) == (code.co_code, True)


def test_before_python_3_8_code_is_made_from_all_its_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the order that its constructor had then."""
    parts = [
        "co_argcount", "co_kwonlyargcount", "co_nlocals", "co_stacksize", "co_flags", "co_code", "co_consts", "co_names",
        "co_varnames", "co_filename", "co_name", "co_firstlineno", "co_lnotab", "co_freevars", "co_cellvars",
    ]  # fmt: skip
    monkeypatch.setattr("types.CodeType", lambda *given: given)
    old: Any = SimpleNamespace(**{name: name for name in parts})

    assert line_codes.with_consts(old, "new") == tuple("new" if name == "co_consts" else name for name in parts)
