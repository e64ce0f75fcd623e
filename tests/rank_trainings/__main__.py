"""What is told of trainings of several processes, and whether dlprof changes their losses: a table for docs/ranks.md.

python -m tests.rank_trainings                                  those whose environments dlprof makes
python -m tests.rank_trainings --only torch jax                 some of them
python -m tests.rank_trainings --python ray=venv/bin/python     with Ray Train, of an environment with ray[train] and torch
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from tests.rank_trainings import outcome
from tests.rank_trainings.trainings import STEPS, TRAININGS, Training


def main() -> int:
    """1 when anything is told wrongly, or changed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [one.name for one in TRAININGS]
    parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="NAME", help=", ".join(names))
    parser.add_argument("--python", action="append", default=[], metavar="NAME=PATH", help="an interpreter for one")
    args = parser.parse_args()
    given = dict(one.split("=", 1) for one in args.python)
    print(
        "| training | ranks | steps of each | steps told | losses | the same with dlprof |\n| --- | --- | --- | --- | --- | --- |"
    )
    failed = [_shown(one, given.get(one.name)) for one in TRAININGS if one.name in args.only]
    return 1 if any(failed) else 0


def _shown(training: Training, given: str | None) -> bool:
    """Print the row of a training; whether something is wrong with it."""
    ranks = str(training.ranks or "one process")
    python = given or training.python()
    if python is None:
        print(f"| {training.title} | {ranks} | {STEPS} | not run: no --python {training.name}=PATH | - | - |")
        return False
    with tempfile.TemporaryDirectory() as folder:
        try:
            found = outcome.of_training(training, str(Path(python).absolute()), Path(folder))
        except outcome.FailedError as error:
            print(f"| {training.title} | {ranks} | {STEPS} | failed: {error} | - | - |", flush=True)
            return True
    same = "yes" if found.same else "no" if found.repeats else "they differ from run to run without it, too"
    told = ", ".join(map(str, found.steps))
    print(f"| {training.title} | {ranks} | {STEPS} | {told} | {found.losses} | {same} |", flush=True)
    return found.wrong(training) is not None


if __name__ == "__main__":
    raise SystemExit(main())
