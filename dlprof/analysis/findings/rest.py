"""Time that no finding explains."""

from __future__ import annotations

from dataclasses import dataclass

from dlprof.schema.vocabulary import TreePath


@dataclass(frozen=True)
class Stood:
    """Where the main thread stood longest in a place.

    Attributes:
        file: Of the innermost line of the user's.
        line: Its number.
        share: Of the place's samples, for which that line was the innermost of the user's.
        function: The innermost function seen most often below that line; that of the line itself, where it called none.
        function_file: Where that function is.
        doing: What the stacks tell of it, as `compiling`; None: nothing.
    """

    file: str
    line: int
    share: float
    function: str
    function_file: str
    doing: str | None


@dataclass(frozen=True)
class Rest:
    """Time in one place that no finding has taken.

    Attributes:
        path: The place in the tree.
        ns: The time (ns).
        share: Of the wall time.
        stood: What was seen there; None: no stack of the user's code stood there for long, or it is the engine's work.
    """

    path: TreePath
    ns: int
    share: float
    stood: Stood | None
