"""Trainings of several processes and devices on engines other than PyTorch: exact steps of each rank, and losses as without dlprof."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.integration import runner
from tests.rank_trainings import outcome
from tests.rank_trainings.trainings import SCRIPTS, TRAININGS

pytestmark = pytest.mark.integration

TRAINING = {one.name: one for one in TRAININGS}
PLANTED = SCRIPTS.parent / "planted"
GRADIENT_LINE = 60
"""Where the planted script calls the function whose batches are larger in one process."""


@pytest.mark.parametrize("name", ["jax", "tensorflow", "keras-2"])
def test_steps_are_exact_and_losses_as_without(name: str, tmp_path: Path) -> None:
    """To the last digit that the training prints."""
    training = TRAINING[name]
    python = training.python()
    assert python is not None

    found = outcome.of_training(training, python, tmp_path, steps=20, bare_runs=1)

    assert (found.steps, found.losses, found.same) == ((20,) * (training.ranks or 1), 20, True)


@pytest.mark.measured
def test_the_process_of_jax_whose_batches_are_larger_is_named(tmp_path: Path) -> None:
    """By what its gradient is compiled for: JAX has no loader, and its collectives are inside of compiled functions."""
    python = TRAINING["jax"].python()
    assert python is not None
    script = str(PLANTED / "jax_shards.py")
    several = [sys.executable, str(SCRIPTS / "several.py"), "2", "own", python, script, "--more", "8", "--steps", "200"]
    command = [*runner.DLPROF, "trace", "-o", "run", "--no-report", "--exec", "--", *several]

    done = runner.run(command, cwd=tmp_path, env={"OMP_NUM_THREADS": "1"})

    assert done.code == 0, done.err
    found = runner.asked("diagnose", "run", cwd=tmp_path)["findings"][0]
    assert (found["slug"], Path(found["file"]).name, found["line"]) == (
        "uneven-batches",
        "jax_shards.py",
        GRADIENT_LINE,
    )
    assert "loss_of() is compiled for rows of 1024 rows there, of 128 in the others" in found["claim"]
