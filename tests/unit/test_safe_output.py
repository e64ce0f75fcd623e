"""No text that is printed steers the terminal."""

from __future__ import annotations

import io
import sys

import pytest

from dlprof import safe_output


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\tb\nc\r\n", "a\tb\nc\r\n"),
        ("\x1b[31mred\n", "�[31mred\n"),
        ("\x9b2J", "�2J"),
        ("abc\u202edef", "abc�def"),
        ("over\rwritten", "over�written"),
        ("é😀", "é😀"),
    ],
)
def test_control_and_direction_characters_are_shown_as_signs(text: str, shown: str) -> None:
    """Ends of lines and tabs are what they are."""
    assert safe_output.safe_lines(text) == shown


def test_both_streams_are_safe_while_a_command_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """And as they were behind it."""
    out, err = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)

    with safe_output.guarded():
        print("a\x1bb")
        print("c\x07d", file=sys.stderr)

    assert (out.getvalue(), err.getvalue()) == ("a�b\n", "c�d\n")
    assert sys.stdout is out


def test_styles_of_our_own_go_to_the_stream_behind() -> None:
    """Rich makes them, of texts that are safe already."""
    out = io.StringIO()

    assert safe_output.trusted(safe_output.SafeStream(out)) is out  # type: ignore[arg-type]
