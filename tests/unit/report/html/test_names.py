"""Texts of a page's timeline."""

from __future__ import annotations

from dlprof.report.html.names import Names, cut


def test_a_long_text_is_cut_to_what_can_be_shown() -> None:
    """300 characters, of which the last says so."""
    assert cut("x" * 300) == "x" * 300
    assert cut("x" * 301) == "x" * 299 + "…"


def test_equal_texts_are_kept_once() -> None:
    """Another colour, or another note, makes another text."""
    names = Names()

    numbers = [names.number(*one) for one in (("a", "red"), ("a", "red"), ("a", "blue"), ("a", "red", "more"))]

    assert numbers == [0, 0, 1, 2]
    assert (names.text, names.colour, names.more) == (["a"] * 3, ["red", "blue", "red"], ["", "", "more"])
