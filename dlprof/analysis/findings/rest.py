"""Time that no finding explains, and lines that none names."""

from __future__ import annotations

from dataclasses import dataclass

from dlprof.schema.tree_paths import TreePath


@dataclass(frozen=True)
class Stood:
    """Where the main thread stood longest in a place.

    Attributes:
        file: Of the innermost line of the user's; where none of these stood for long, of that of any code.
        line: Its number.
        share: Of the place's samples, for which that line was the innermost (of the user's).
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
class Worked:
    """What took most of a place that consists of kernels.

    Attributes:
        layer: The layer; None: of no layer.
        direction: Forward, backward or update; None: not known.
        op: The operator; None: not known.
        share: Of the place's kernels.
    """

    layer: str | None
    direction: str | None
    op: str | None
    share: float


@dataclass(frozen=True)
class Rest:
    """Time in one place that no finding has taken.

    Attributes:
        path: The place in the tree.
        ns: The time (ns).
        share: Of the wall time.
        stood: What was seen there; None: no stack stood there for long, or it is the engine's work.
        worked: Where it is: the layer and operator with most time.
    """

    path: TreePath
    ns: int
    share: float
    stood: Stood | None
    worked: Worked | None = None


@dataclass(frozen=True)
class LoopLine:
    """A line of the user's that much of the training stood under, and that no finding names.

    Attributes:
        file: Of the line.
        line: Its number.
        ns: For how long it was the innermost line of the user's in the training, by the samples (ns).
        share: Of the wall time.
        hits: How often it ran; None: that was not counted.
        doing: What the stacks tell of it, as `computing gradients`; None: nothing.
    """

    file: str
    line: int
    ns: int
    share: float
    hits: int | None
    doing: str | None

    @property
    def each_ns(self) -> int | None:
        """Time of each run of it (ns); None: not known."""
        return round(self.ns / self.hits) if self.hits else None
