"""Signs for lines and bars."""

from __future__ import annotations

from dlprof.live.rows import Signs, text


def test_a_title_is_as_wide_as_its_panel() -> None:
    """In cells of the terminal: some signs take two."""
    assert text([Signs().title("漢字", 12)]) == ["─ 漢字 ─────"]


def test_a_bar_fills_its_share() -> None:
    """Blanks are the rest, so that rows of bars are equally wide."""
    assert Signs().bar(0.5, 10).text == "█████     "
    assert Signs().bar(0.5, -3).text == ""


def test_a_terminal_of_ascii_gets_ascii() -> None:
    """Lines, bars, blocks and dots."""
    signs = Signs(ascii_only=True)

    drawn = [*text([signs.title("steps", 30)]), signs.bar(0.7, 20).text, signs.blocks, signs.dot]
    assert "".join(drawn).isascii()
    assert len(signs.blocks) == len(Signs().blocks) == 8
