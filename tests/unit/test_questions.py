"""Questions of the documentation's index, as the site's search is told of them."""

from __future__ import annotations

from pathlib import Path

import questions

INDEX = Path(__file__).parents[2] / "docs" / "index.md"


def test_a_row_is_a_question_and_the_page_that_answers_it() -> None:
    """Anchors are left out; headings and rows without a question are none."""
    text = (
        "| question | command | page |\n| --- | --- | --- |\n| is it slow? | `a`, `b` | [Slow](howto/slow.md#why) |\n"
        "| a statement | `c` | [No](no.md) |\n| which one? | `d` | [One](one.md) |\n"
    )

    assert questions.of_index(text) == {"is it slow?": "howto/slow", "which one?": "one"}


def test_every_question_of_the_index_is_one() -> None:
    """None of its rows is overlooked."""
    text = INDEX.read_text(encoding="utf-8")

    assert len(questions.of_index(text)) == text.count("? | ") >= 12
