"""The last lines of a script's output, as a terminal would show them."""

from __future__ import annotations

import os
import tempfile

import pyte
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dlprof.live.output import LastLines, Output


def shown(*pieces: bytes, rows: int = 10) -> list[str]:
    """What stands there after some pieces of output."""
    lines = LastLines()
    for piece in pieces:
        lines.feed(piece)
    return lines.last(rows)


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        (b"one\ntwo\n", ["one", "two"]),
        (b"one\r\ntwo", ["one", "two"]),
        (b"\rEpoch 1 [=>..]\rEpoch 1 [==>.]", ["Epoch 1 [==>.]"]),
        (b"12/64\x08\x08\x08\x08\x0813/64", ["13/64"]),
        (b"long line\rshort\x1b[K", ["short"]),
        (b"abc\x1b[2K\rx", ["x"]),
        (b"a\tb", ["a       b"]),
        (b"\x1b[1m\x1b[32mgreen\x1b[0m bold\x1b[37m", ["green bold"]),
        (b"first\nsecond\x1b[A\rFIRST\n", ["FIRST", "second"]),
        (b"\x1b]0;title\x07text\x1b(B", ["text"]),
        (b"gone\x1b[2J\x1b[Hhere", ["here"]),
        (b"ab\x1b[3Gcd\x1b[2Dx", ["abxd"]),
        (b"bell\x07\x00 null", ["bell null"]),
        ("Ä 漢字".encode(), ["Ä 漢字"]),
        (b"bad \xff byte", ["bad \N{REPLACEMENT CHARACTER} byte"]),
        (b"", [""]),
    ],
)
def test_what_moves_the_cursor_is_followed(printed: bytes, expected: list[str]) -> None:
    """Carriage returns, backspaces, and the sequences of progress bars."""
    assert shown(printed) == expected


def test_pieces_may_be_cut_anywhere() -> None:
    """Within a character and within an escape sequence too."""
    printed = "Ä\x1b[31mred\x1b[0m\r\n\x1b]0;a title\x1b\\漢 [==>]\r\x1b[A\x1b[2Kup".encode()

    assert shown(*(printed[i : i + 1] for i in range(len(printed)))) == ["up", "漢 [==>]"]


def test_an_escape_that_never_ends_is_given_up() -> None:
    """What follows it is shown."""
    assert shown(b"\x1b]0;" + b"x" * 1000 + b"\nnext")[-1] == "next"


def test_only_the_last_lines_are_kept() -> None:
    """And only so much of a line."""
    lines = LastLines()
    for number in range(10_000):
        lines.feed(b"line %d\n" % number)
    lines.feed(b"x" * 1_000_000)

    assert lines.last(3) == ["line 9998", "line 9999", "x" * 4096]
    assert len(lines._lines) <= 400


def test_large_moves_make_no_million_lines() -> None:
    """A hostile sequence costs nothing."""
    lines = LastLines()
    for _ in range(100):
        lines.feed(b"\x1b[9999B\x1b[9999C\x1b[99999999999999999999Cx")

    assert len(lines._lines) <= 400


PRINTED = st.lists(
    st.one_of(
        st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=12),
        st.sampled_from(
            ["\r", "\n", "\r\n", "\b", "\b\b\b", "\x1b[K", "\x1b[2K", "\x1b[3D", "\x1b[2C", "\x1b[31m", "\x1b[1K"]
        ),
    ),
    max_size=25,
)


@pytest.mark.slow
@settings(deadline=None)
@given(PRINTED)
def test_a_terminal_shows_the_same(pieces: list[str]) -> None:
    """Compared with an emulator, on lines that need no wrapping."""
    printed = "".join(pieces)
    screen = pyte.Screen(500, 100)
    screen.set_mode(pyte.modes.LNM)
    pyte.Stream(screen).feed(printed)
    expected = [row.rstrip() for row in screen.display]
    while len(expected) > 1 and not expected[-1]:
        expected.pop()

    assert shown(printed.encode(), rows=100) == expected


def test_of_much_output_the_last_is_followed_from_a_whole_line_on() -> None:
    """What lies before is passed over, not worked through."""
    with tempfile.TemporaryFile() as spool:
        output = Output(spool.fileno())
        os.write(spool.fileno(), b"seen\n")
        output.look()
        assert output.lines.last(5) == ["seen"]
        os.write(spool.fileno(), b"".join(b"line %06d\n" % n for n in range(100_000)))
        output.look()

        lines = output.lines.last(10_000)
        assert lines[-1] == "line 099999"
        assert lines[0].startswith("line 09")
        assert len(lines[0]) == len("line 099999")
