"""All cases, a file for each kind."""

from __future__ import annotations

from tests.conformance.case import Case
from tests.conformance.tables import born, doing, endings, engines, signals


def all_cases() -> list[Case]:
    """In a fixed order; their names are unique."""
    cases = [*born.CASES, *endings.CASES, *signals.CASES, *doing.CASES, *engines.CASES]
    names = [case.name for case in cases]
    doubled = {name for name in names if names.count(name) > 1}
    if doubled:
        raise ValueError(f"cases of one name: {sorted(doubled)}")
    return cases
