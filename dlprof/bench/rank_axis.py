"""The axis of ranks in a matrix: with how many processes a work is run, and what its arguments are then."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args

from dlprof.errors import UsageError

MOST = 4096
"""Ranks of a cell, at most."""
Scaling = Literal["strong", "weak"]
SCALINGS: tuple[str, ...] = get_args(Scaling)
_HOLE = re.compile(r"\{\s*(?:(\d{1,12})\s*([*/])\s*)?ranks\s*\}")


@dataclass(frozen=True)
class RankAxis:
    """Numbers of ranks that a work is run with, each started by torchrun.

    Attributes:
        ranks: The numbers, ascending.
        scaling: `strong`: the work is the same with each; `weak`: that of each rank is.
        threads: OMP_NUM_THREADS of each rank, also of one alone.
    """

    ranks: tuple[int, ...]
    scaling: Scaling = "strong"
    threads: int = 1


def filled(text: str, ranks: int) -> str:
    """An argument in a cell: `{ranks}`, `{4096*ranks}` and `{512/ranks}` stand for the number.

    Raises:
        UsageError: The number of ranks does not divide it.
    """

    def number(found: re.Match[str]) -> str:
        if found[1] is None:
            return str(ranks)
        whole = int(found[1])
        if found[2] == "*":
            return str(whole * ranks)
        if whole % ranks:
            raise UsageError(f"{whole} cannot be divided among {ranks} ranks, as {found[0]} asks.")
        return str(whole // ranks)

    return _HOLE.sub(number, text)
