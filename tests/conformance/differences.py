"""Differences between a bare run and a traced one that are meant, each with its reason. A short list: empty is the goal."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tests.conformance.case import Case


@dataclass(frozen=True)
class Difference:
    """A difference that is documented.

    Attributes:
        cases: Names of the cases that may have it (a regular expression, of the whole name).
        line: Lines that may differ, with their - or + (the same).
        why: The reason, as users are told.
    """

    cases: str
    line: re.Pattern[str]
    why: str

    def concerns(self, name: str) -> bool:
        """Whether the case of this name has it."""
        return re.fullmatch(self.cases, name) is not None


DOCUMENTED: tuple[Difference, ...] = ()


def meant_for(case: Case) -> list[Difference]:
    """Those of a case."""
    return [one for one in DOCUMENTED if one.concerns(case.name)]
