"""What a terminal is sent for a frame."""

from __future__ import annotations

import re

import pyte

from dlprof.live.painter import Painter
from dlprof.live.rows import Row, text
from dlprof.live.screen import Screen
from tests.unit.live.live_runs import MS, training


def painted(painter: Painter, terminal: pyte.ByteStream, rows: list[Row]) -> int:
    """Draw a frame; returns how much was sent."""
    sent = painter.frame(rows).encode()
    terminal.feed(sent)
    return len(sent)


def test_only_rows_that_changed_are_drawn_and_the_terminal_shows_the_rows() -> None:
    """On an emulated terminal, frame after frame; the same frame again sends nothing."""
    emulated = pyte.Screen(80, 24)
    terminal, painter, live = pyte.ByteStream(emulated), Painter("256"), training()
    screen = Screen(80, 24)
    whole = painted(painter, terminal, screen.rows(live, 5_500 * MS, ["one"]))

    for output in (["one", "two"], ["one", "two", "three"]):
        rows = screen.rows(live, 5_500 * MS, output)
        assert painted(painter, terminal, rows) < whole / 5
        assert [row.rstrip() for row in emulated.display] == [row.rstrip() for row in text(rows)]
    assert painted(painter, terminal, rows) == 0


def test_without_colours_rows_are_plain() -> None:
    """NO_COLOR."""
    sent = Painter(None).frame(Screen(80, 24).rows(training(), 5_500 * MS, []))

    assert not re.search("\x1b\\[[0-9;]*m", sent)
