"""Whether a rank is given larger batches than the others: by what was compiled, by rows, by what a step keeps."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median, median_low

from dlprof.analysis import training
from dlprof.schema.vocabulary import SpanKind
from dlprof.store.ranked import Member
from dlprof.store.run import Run

_SHAPE = re.compile(r"\[([\d, ]+)\]")
Line = tuple[str, int]


@dataclass(frozen=True)
class LargerArgument:
    """An argument of a compiled function that is larger in one rank than in the others.

    Attributes:
        function: The function.
        argument: Its argument.
        own: Its length in that rank, along the one dimension that differs.
        usual: The length in the others, the median of them.
        line: Where the function was called that was compiled; None: not known.
    """

    function: str
    argument: str
    own: int
    usual: int
    line: Line | None


@dataclass(frozen=True)
class Larger:
    """A figure of the batches of one rank, and of the others'.

    Attributes:
        own: That of the rank.
        usual: That of the others, the median of them.
    """

    own: float
    usual: float

    @property
    def times(self) -> float:
        """How many times the others' it is."""
        return self.own / self.usual


@dataclass(frozen=True)
class _Compiled:
    """Shapes of the arguments of a function, by name, and where it was called."""

    shapes: Mapping[str, tuple[int, ...]]
    line: Line | None


def larger_argument(members: Sequence[Member], slow: int) -> LargerArgument | None:
    """The argument of a compiled function that is most times as large in a rank as in the others.

    Args:
        members: The ranks.
        slow: The one of which it is asked.

    Returns:
        None: none is larger, or the engine does not tell what its functions are compiled for.
    """
    found = {member.rank: _compiled(member.run) for member in members}
    own, others = found.pop(slow, {}), list(found.values())
    told = []
    for function, mine in own.items():
        theirs = [one[function] for one in others if function in one]
        if theirs and len(theirs) == len(others):
            told += [
                LargerArgument(function, argument, *lengths, mine.line)
                for argument, shape in mine.shapes.items()
                if (lengths := _larger(shape, [one.shapes.get(argument) for one in theirs])) is not None
            ]
    return max(told, key=lambda one: one.own / one.usual, default=None)


def longer_rows(members: Sequence[Member], slow: int) -> Larger | None:
    """Columns of rows of whole numbers, such as words, in the first batches of a rank (mean).

    Args:
        members: The ranks.
        slow: The one of which it is asked.

    Returns:
        None: they are not longer than the others', or a rank has none that were seen.
    """
    return _of_rank(members, slow, lambda told: told.padding.length if told.padding is not None else 0.0)


def more_kept(members: Sequence[Member], slow: int) -> Larger | None:
    """Floats that the first steps of a rank's own loop keep for their way back (bytes, the most of them).

    Args:
        members: The ranks.
        slow: The one of which it is asked.

    Returns:
        None: they keep no more than the others', or that of a rank was not seen.
    """
    return _of_rank(members, slow, lambda told: float(sum(told.saved_floats.values())))


def _of_rank(members: Sequence[Member], slow: int, figure: Callable[[training.Training], float]) -> Larger | None:
    """The slow rank's figure beside the others', where all are known (0: it is not) and it is the larger one."""
    trained = {member.rank: training.of_run(member.run) for member in members}
    figures = {rank: figure(told) if told is not None else 0.0 for rank, told in trained.items()}
    own, others = figures.pop(slow, 0.0), list(figures.values())
    if not own or not others or not all(others):
        return None
    found = Larger(own, median(others))
    return found if found.times > 1 else None


def _larger(own: tuple[int, ...], others: Sequence[tuple[int, ...] | None]) -> tuple[int, int] | None:
    """(own length, that of the others) along the only dimension in which shapes differ; None: there is no such."""
    known = [one for one in others if one is not None]
    if len(known) < len(others) or any(len(one) != len(own) for one in known):
        return None
    differing = [place for place, length in enumerate(own) if any(one[place] != length for one in known)]
    if len(differing) != 1:
        return None
    length, usual = own[differing[0]], median_low(one[differing[0]] for one in known)
    return (length, usual) if length > usual > 0 else None


def _compiled(run: Run) -> dict[str, _Compiled]:
    """The functions of a run that were compiled, by name: the first compilation of each counts."""
    found: dict[str, _Compiled] = {}
    for row in run.chosen("spans", "kind", (SpanKind.GRAPH_COMPILE,)):
        told = (json.loads(row["detail"]) if row["detail"] else {}).get("compiled") or {}
        arguments = told.get("arguments")
        if isinstance(arguments, dict) and told.get("function") not in found:
            shapes = {str(name): shape for name, text in arguments.items() if (shape := _shape(str(text))) is not None}
            line = (row["file"], row["line"]) if row["file"] and row["line"] else None
            found[str(told.get("function"))] = _Compiled(shapes, line)
    return found


def _shape(text: str) -> tuple[int, ...] | None:
    """The shape in a type like `float32[64,784]`; None: it is a number, or something else."""
    match = _SHAPE.search(text)
    return tuple(int(part) for part in match[1].split(",") if part.strip()) if match else None
