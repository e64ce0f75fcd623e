"""Runs a training twice without dlprof and once with it, and says what was told of it, and whether its losses are the same."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.rank_trainings.trainings import DLPROF, STEPS, Training, environment, options_of

_STEPS = "SELECT rank, sum(count)::BIGINT AS steps FROM steps WHERE loop = 'train' GROUP BY rank ORDER BY rank"
_LIMIT_S = 600


@dataclass(frozen=True)
class Outcome:
    """What came out.

    Attributes:
        steps: Train steps that dlprof tells, by rank; of a run without ranks one figure.
        losses: Lines with a loss that the training printed.
        same: Whether those with dlprof are those without, to the last digit.
        repeats: Whether a second run without dlprof printed the same: else nothing follows from `same`.
    """

    steps: tuple[int, ...]
    losses: int
    same: bool
    repeats: bool

    def wrong(self, training: Training, steps: int = STEPS) -> str | None:
        """What is not as it must be; None: all is."""
        wanted = (steps,) * (training.ranks or 1)
        if self.steps != wanted:
            return f"steps are told as {self.steps}, and were {wanted}"
        if not self.losses:
            return "no loss was printed"
        return None if self.same or not self.repeats else "losses differ"


class FailedError(Exception):
    """A training, or dlprof, ended with an error."""


def of_training(training: Training, python: str, folder: Path, steps: int = STEPS, bare_runs: int = 2) -> Outcome:
    """Run it, in a folder of its own.

    Raises:
        FailedError: It failed.
    """
    options = options_of(training, steps)
    bare = [_printed(training, training.bare(python, options), folder) for _ in range(bare_runs)]
    traced = _printed(training, training.around(python, folder / "run", options), folder)
    query = [*DLPROF, "sql", "run", _STEPS, "--format", "json"]
    rows = json.loads(_printed(training, query, folder))
    losses = sum(" loss " in line for line in bare[0].splitlines())
    return Outcome(tuple(row["steps"] for row in rows), losses, traced == bare[0], bare[-1] == bare[0])


def _printed(training: Training, command: Sequence[str], folder: Path) -> str:
    done = subprocess.run(
        command, cwd=folder, env=environment(training), capture_output=True, text=True, check=False, timeout=_LIMIT_S
    )
    if done.returncode:
        lines = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()]
        raise FailedError(f"{command[:6]} ended with {done.returncode}: {' / '.join(lines[-4:])}")
    return done.stdout
