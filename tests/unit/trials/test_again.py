"""A traced script is run again as it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.errors import UsageError
from dlprof.trials import again as trials
from tests.unit import runs
from tests.unit.trials.diagnosed import made_here


def test_a_trial_runs_the_same_command(tmp_path: Path) -> None:
    """Script, backend and arguments of the run."""
    script = tmp_path / "train.py"
    command = {"script": "sub/train.py", "module": None, "program": None, "argv": ["--epochs", "9"]}
    run = runs.trained(tmp_path / "r", made_here(tmp_path, command=command))

    made = trials.command(run, tmp_path / "new")

    assert made[3:6] == ["dlprof", "trace", str(script)]
    assert made[made.index("--backend") + 1] == "torch"
    assert made[-3:] == ["--", "--epochs", "9"]


def test_a_command_with_a_hidden_secret_cannot_be_tried(tmp_path: Path) -> None:
    """It would be another command."""
    command = {"script": "train.py", "argv": ["--token", "***"], "masked": True}
    run = runs.trained(tmp_path / "r", runs.manifest(command=command))

    with pytest.raises(UsageError, match="a secret was hidden in its arguments"):
        trials.command(run, tmp_path / "new")


def test_a_script_that_is_gone_cannot_be_tried(tmp_path: Path) -> None:
    """The sentence names it."""
    run = runs.trained(tmp_path / "r", made_here(tmp_path))
    (tmp_path / "train.py").unlink()

    with pytest.raises(UsageError, match=r"its script .*train.py is not there any more"):
        trials.command(run, tmp_path / "new")
