"""Which function a line belongs to."""

from __future__ import annotations

import pytest

from dlprof.ingest.own.source_outline import Outline, Scope, plain

SOURCE = """\
import functools

class Data:
    @functools.cache
    def load(self, n):
        rows = [n * k
                for k in range(n)]
        return list(map(lambda row: row + 1,
                        rows))

async def fetch():
    def inner():
        return 1
    return inner()
""".splitlines()


@pytest.mark.parametrize(
    ("line", "function", "scope"),
    [
        (5, "Data.load", Scope("Data.load", 4, 9)),
        (5, "load", Scope("Data.load", 4, 9)),
        (6, "Data.load.<locals>.<listcomp>", Scope("Data.load.<locals>.<listcomp>", 6, 7)),
        (8, "<lambda>", Scope("Data.load.<locals>.<lambda>", 8, 8)),
        (13, "inner", Scope("fetch.<locals>.inner", 12, 13)),
        (14, "fetch", Scope("fetch", 11, 14)),
        (3, "Data", Scope("Data", 3, 9)),
        (9, "<module>", Scope("<module>", 1, 9)),
        (5, "other", None),
        (12, "load", None),
    ],
)
def test_a_line_is_of_the_innermost_function_of_that_name(line: int, function: str, scope: Scope | None) -> None:
    """Names with their classes or without; a function begins with its decorators, as its code object says."""
    assert Outline(SOURCE).at(line, function) == scope


def test_a_source_that_cannot_be_parsed_has_only_its_module() -> None:
    """Python 2's, a damaged one, or none at all."""
    assert Outline(["print 1"]).at(1, "f") is None
    assert Outline([]).at(7, "<module>") == Scope("<module>", 1, 7)


def test_the_plain_name_is_the_last_part() -> None:
    """As versions before 3.11 tell it."""
    assert plain("Data.load.<locals>.<lambda>") == "<lambda>"
