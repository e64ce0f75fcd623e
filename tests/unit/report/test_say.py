"""What dlprof says of itself."""

from __future__ import annotations

import pytest

from dlprof.report.say import say


def test_it_is_said_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    """Apart from what a command prints."""
    say("run 1 of 5")

    assert tuple(capsys.readouterr()) == ("", "dlprof: run 1 of 5\n")
