"""Step time of trainings of two ranks under default probes / without dlprof: `python -m tests.benchmarks rank-steps`.

PyTorch DDP on gloo with dlprof in each rank and around torchrun; JAX and TensorFlow with two processes, Keras 3 on several
devices, and Ray Train (`--python`, an interpreter that has Ray). Runs are made in pairs, bare and
traced in turn; compared are medians of the steps of rank 0 from the eleventh on.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.rank_trainings.trainings import TRAININGS, Training, environment, options_of

_LIMIT_S = 600


def main(argv: Sequence[str]) -> None:
    """Measure, and print a line for each."""
    parser = argparse.ArgumentParser(prog="tests.benchmarks rank-steps", description=__doc__)
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--steps", type=int, default=1000, help="of each run")
    names = [training.name for training in TRAININGS]
    parser.add_argument("--only", nargs="+", default=[name for name in names if name != "ray"], choices=names)
    parser.add_argument("--python", help="for Ray Train: an interpreter that has it")
    args = parser.parse_args(argv)
    print(f"{os.cpu_count()} cores; load before {os.getloadavg()[0]:.2f}", flush=True)
    for training in TRAININGS:
        if training.name in args.only:
            python = training.python() or args.python
            if python is None:
                parser.error(f"{training.name} needs --python: an interpreter that has it")
            if training.in_each is not None:
                _measure(training, python, "dlprof in each rank", training.inside, args.pairs, args.steps)
            how = "dlprof around the launcher" if training.ranks else "one process"
            _measure(training, python, how, training.around, args.pairs, args.steps)


def _measure(
    training: Training,
    python: str,
    how: str,
    traced: Callable[[str, Path, Sequence[str]], list[str]],
    pairs: int,
    steps: int,
) -> None:
    options = [*options_of(training, steps), "--times"]
    ratios, bare_ms = [], []
    for pair in range(pairs):
        with tempfile.TemporaryDirectory() as folder:
            commands = {"bare": training.bare(python, options), "traced": traced(python, Path(folder) / "run", options)}
            order = list(commands) if pair % 2 == 0 else list(reversed(commands))
            found = {name: _step_ms(training, commands[name], folder) for name in order}
        ratios.append(found["traced"] / found["bare"])
        bare_ms.append(found["bare"])
    print(
        f"rank-steps {training.name:<10} {how:<27} traced/bare {statistics.median(ratios):.3f} "
        f"({min(ratios):.3f} to {max(ratios):.3f}, {pairs} pairs; bare step {statistics.median(bare_ms):.2f} ms, "
        f"{min(bare_ms):.2f} to {max(bare_ms):.2f})",
        flush=True,
    )


def _step_ms(training: Training, command: Sequence[str], folder: str) -> float:
    done = subprocess.run(
        command, cwd=folder, env=environment(training), capture_output=True, text=True, check=True, timeout=_LIMIT_S
    )
    return float(done.stdout.rpartition("STEP_MS ")[2].split()[0])
