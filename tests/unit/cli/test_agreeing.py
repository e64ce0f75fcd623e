"""Leave to run a script again."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from dlprof.cli.agreeing import agreed
from dlprof.errors import UsageError
from tests.unit.trials.diagnosed import diagnosed, sealed


class Terminal(io.StringIO):
    """Somebody who types."""

    def isatty(self) -> bool:
        """Yes."""
        return True


@pytest.mark.parametrize(
    ("typed", "answer"), [("y\n", True), ("YES\n", True), ("\n", False), ("no\n", False), ("", False)]
)
def test_who_is_at_the_terminal_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: str, answer: bool
) -> None:
    """Only yes is yes."""
    monkeypatch.setattr(sys, "stdin", Terminal(typed))

    assert agreed(sealed(tmp_path), "try", yes=False) is answer


def test_yes_is_no_answer_for_a_run_of_unknown_origin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its maker would choose what runs."""
    monkeypatch.setattr(sys, "stdin", io.StringIO())

    with pytest.raises(UsageError, match="--yes is not enough"):
        agreed(diagnosed(tmp_path), "try", yes=True)


def test_yes_is_the_answer_for_a_run_of_one_s_own(tmp_path: Path) -> None:
    """Nobody is asked."""
    assert agreed(sealed(tmp_path), "try", yes=True) is True
