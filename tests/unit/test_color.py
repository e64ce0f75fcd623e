"""Whether output is coloured."""

from __future__ import annotations

import io

import pytest

from dlprof import color


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        """It is."""
        return True


@pytest.mark.parametrize(
    ("environment", "terminal", "expected"),
    [
        ({"TERM": "xterm"}, True, True),
        ({"TERM": "xterm"}, False, False),
        ({"TERM": "dumb"}, True, False),
        ({"NO_COLOR": "1"}, True, False),
        ({"NO_COLOR": ""}, True, True),
        ({"CLICOLOR": "0"}, True, False),
        ({"FORCE_COLOR": "1"}, False, True),
        ({"FORCE_COLOR": "0"}, False, False),
        ({"FORCE_COLOR": ""}, False, False),
        ({"CLICOLOR_FORCE": "1"}, False, True),
        ({"FORCE_COLOR": "1", "TERM": "dumb"}, True, True),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
    ],
)
def test_the_environment_decides_where_nothing_is_said(
    environment: dict[str, str], terminal: bool, expected: bool
) -> None:
    """NO_COLOR above FORCE_COLOR, and these above what the stream is."""
    assert color.wanted(Terminal() if terminal else io.StringIO(), environment, when="auto") is expected


@pytest.mark.parametrize(("when", "expected"), [("always", True), ("never", False)])
def test_what_is_said_stands_above_the_environment(when: str, expected: bool) -> None:
    """And above what the stream is."""
    told = {"NO_COLOR": "1"} if expected else {"FORCE_COLOR": "1"}

    assert color.wanted(io.StringIO() if expected else Terminal(), told, when=when) is expected


def test_what_is_chosen_holds_for_all_that_follows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until something else is."""
    monkeypatch.setattr(color, "_chosen", "auto")
    color.choose("always")

    assert color.wanted(io.StringIO(), {})
