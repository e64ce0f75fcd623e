"""`dlprof completion`."""

from __future__ import annotations

import pytest

from dlprof.cli import shells
from tests.unit.runs import dlprof


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_is_printed(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing else is."""
    assert dlprof("completion", shell) == 0

    assert capsys.readouterr().out == shells.SCRIPTS[shell](shells.all_completions()) + "\n"


def test_a_shell_that_there_is_not_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """With the nearest."""
    with pytest.raises(SystemExit):
        dlprof("completion", "fsh")

    assert "SHELL cannot be fsh; did you mean fish? (one of bash, zsh, fish)" in capsys.readouterr().err
