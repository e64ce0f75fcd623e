"""Which lines of a file are shown at first."""

from __future__ import annotations

from dlprof.report.html import hot_lines
from dlprof.report.html.source_lines import SourceLine


def line(
    number: int, time_ns: int | None = None, sampled_ns: int | None = None, first: int | None = None
) -> SourceLine:
    """A line that ran once, where it has a time."""
    hits = None if time_ns is None else 1
    return SourceLine(number, f"x{number}", hits, time_ns, sampled_ns, None, (), first)


def shown(lines: list[SourceLine], whole_ns: int) -> list[int]:
    """Numbers of the lines that are not folded."""
    return [one.number for block in hot_lines.blocks(lines, whole_ns) if not block.folded for one in block.lines]


def test_a_hot_line_is_shown_with_its_neighbours_and_the_head_of_its_function() -> None:
    """Line 20 takes half of the time, and its function begins in line 10."""
    lines = [line(n, 500 if n == 20 else 1, first=10) for n in range(1, 41)]
    assert shown(lines, 1000) == [10, 19, 20, 21]


def test_a_line_that_was_only_sampled_can_be_hot() -> None:
    """It was not counted, but the thread stood there."""
    lines = [line(n, sampled_ns=500 if n == 20 else None) for n in range(1, 41)]
    assert shown(lines, 1000) == [19, 20, 21]


def test_all_lines_are_in_the_blocks_in_their_order() -> None:
    """Folded or not."""
    lines = [line(n, 500 if n in (3, 30) else 1) for n in range(1, 41)]
    assert [one.number for block in hot_lines.blocks(lines, 1000) for one in block.lines] == list(range(1, 41))


def test_a_few_lines_are_not_worth_a_fold() -> None:
    """Five between two hot ones are shown, six are folded."""
    five = [line(n, 500 if n in (1, 9) else 1) for n in range(1, 10)]
    six = [line(n, 500 if n in (1, 10) else 1) for n in range(1, 11)]
    assert shown(five, 1000) == [1, 2, 3, 4, 5, 6, 7, 8, 9]
    assert shown(six, 1000) == [1, 2, 9, 10]


def test_a_fold_says_how_many_of_its_lines_ran() -> None:
    """Seven lines, of which three were counted."""
    lines = [line(n, 1 if n < 4 else None) for n in range(1, 8)]
    (block,) = hot_lines.blocks(lines, 1000)
    assert (block.folded, len(block.lines), block.counted) == (True, 7, 3)
