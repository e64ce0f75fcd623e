"""Which lines of a file are shown at first: those that take time, with what tells where they stand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from dlprof.report.html.source_lines import SourceLine

LEAST_SHARE = 0.01
"""Lines with less than this share of the wall time are folded."""
_AROUND = 1
_SHORTEST_FOLD = 6
"""Fewer lines than that are shown rather than folded: the row that stands for them is no shorter."""


@dataclass(frozen=True)
class Block:
    """Lines that stand together.

    Attributes:
        lines: In their order.
        folded: Whether they are shown only when they are asked for.
    """

    lines: Sequence[SourceLine]
    folded: bool

    @property
    def counted(self) -> int:
        """How many of them ran."""
        return sum(1 for line in self.lines if line.hits)


def blocks(lines: Sequence[SourceLine], whole_ns: int) -> list[Block]:
    """All lines of a file, in blocks that are shown or folded in turn.

    Args:
        lines: The lines, from the first one on.
        whole_ns: What shares are of.
    """
    shown = _shown(lines, whole_ns)
    runs = groupby(range(len(lines)), key=lambda at: at not in shown)
    return _without_short_folds([Block([lines[at] for at in positions], folded) for folded, positions in runs])


def is_hot(line: SourceLine, whole_ns: int) -> bool:
    """Whether a line takes a share of the whole that is worth to be seen, by any of its figures."""
    return max(line.time_ns or 0, line.sampled_ns or 0, line.kernels_ns or 0) >= LEAST_SHARE * whole_ns


def _shown(lines: Sequence[SourceLine], whole_ns: int) -> set[int]:
    """Positions of hot lines, of those beside them, and of the first lines of their functions."""
    position = {line.number: at for at, line in enumerate(lines)}
    shown: set[int] = set()
    for at, line in enumerate(lines):
        if is_hot(line, whole_ns):
            shown.update(range(max(0, at - _AROUND), min(len(lines), at + _AROUND + 1)))
            if line.first_line in position:
                shown.add(position[line.first_line])
    return shown


def _without_short_folds(found: Iterable[Block]) -> list[Block]:
    joined: list[Block] = []
    for block in found:
        folded = block.folded and len(block.lines) >= _SHORTEST_FOLD
        if joined and not folded and not joined[-1].folded:
            joined[-1] = Block([*joined[-1].lines, *block.lines], folded=False)
        else:
            joined.append(Block(block.lines, folded))
    return joined
