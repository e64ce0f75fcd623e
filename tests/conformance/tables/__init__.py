"""All cases, a file for each kind."""

from __future__ import annotations

import fnmatch

from tests.conformance.case import Case
from tests.conformance.tables import born, doing, endings, engines, signals

ON_DEMAND: tuple[str, ...] = ()
"""Cases of `python -m tests.conformance` alone (names, or patterns with *)."""


def all_cases() -> list[Case]:
    """In a fixed order; their names are unique."""
    cases = [*born.CASES, *endings.CASES, *signals.CASES, *doing.CASES, *engines.CASES]
    names = [case.name for case in cases]
    doubled = {name for name in names if names.count(name) > 1}
    if doubled:
        raise ValueError(f"cases of one name: {sorted(doubled)}")
    return cases


def everyday() -> list[Case]:
    """Those that every run of the tests has: all but what is much like another one."""
    return [case for case in all_cases() if not any(fnmatch.fnmatch(case.name, pattern) for pattern in ON_DEMAND)]
