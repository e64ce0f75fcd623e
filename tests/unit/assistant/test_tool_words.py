"""What an assistant is told to try."""

from __future__ import annotations

import pytest

from dlprof.assistant import tool_words


@pytest.mark.parametrize(
    ("hint", "told"),
    [
        ("dlprof runs", "call runs"),
        ("dlprof runs 'my runs'", "call runs with folder='my runs'"),
        ("name one of them: dlprof report /a/b", "name one of them: call report with run='/a/b'"),
        ("dlprof diagnose last, once more", "call findings with run='last', once more"),
        (
            "dlprof sql last lists the tables and their columns",
            "the resource dlprof://tables lists the tables and their columns",
        ),
        ("dlprof compare RUN,RUN RUN,RUN", "call compare with a='RUN,RUN' and b='RUN,RUN'"),
        ("dlprof report last --rebuild", "in a shell: dlprof report last --rebuild"),
        ("dlprof trace SCRIPT, or dlprof demo", "in a shell: dlprof trace SCRIPT, or dlprof demo"),
        ("pip install -U dlprof", "in a shell: pip install -U dlprof"),
        ("ask for less", "ask for less"),
    ],
)
def test_what_a_tool_answers_is_asked_of_the_tool(hint: str, told: str) -> None:
    """All else is for a shell, and said to be."""
    assert tool_words.hint(hint) == told


def test_an_argument_that_a_tool_does_not_take_is_named_with_the_nearest() -> None:
    """It is not passed over: the answer would be to another question."""
    assert tool_words.unknown("runs", ["folder"], ["folder", "most"]) is None
    assert (
        tool_words.unknown("runs", ["foldr"], ["folder", "most"])
        == "runs takes no argument foldr; did you mean folder? It takes: folder, most."
    )
    assert tool_words.unknown("runs", ["x"], ["folder"]) == "runs takes no argument x. It takes: folder."
