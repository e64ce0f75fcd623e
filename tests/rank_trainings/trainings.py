"""Trainings of several processes, or of several devices: how each is started, and what must be told of it."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dlprof.backends import registry
from dlprof.launch import environments

SCRIPTS = Path(__file__).parent / "scripts"
DLPROF = [sys.executable, "-m", "dlprof"]
STEPS = 60
_TORCHRUN = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
_SEVERAL = (str(SCRIPTS / "several.py"), "2")


@dataclass(frozen=True)
class Training:
    """A training.

    Attributes:
        name: For the command line.
        title: For the table.
        script: Name of the script, in `scripts`.
        backend: The managed backend whose interpreter runs it; None: `--python NAME=PATH` must name one.
        launcher: Words between the interpreter and what is started several times; empty: one process.
        in_each: How dlprof is told to be in each rank: words between the interpreter and the command of a rank; None: it is not.
        ranks: How many are to be told; None: it is one process, and a run like any other.
    """

    name: str
    title: str
    script: str
    backend: str | None
    launcher: tuple[str, ...] = ()
    in_each: tuple[str, ...] | None = None
    ranks: int | None = 2

    def bare(self, python: str, options: Sequence[str]) -> list[str]:
        """The command without dlprof."""
        starts = [python] if _SEVERAL[0] in self.launcher else []
        return [python, *self.launcher, *starts, str(SCRIPTS / self.script), *options]

    def around(self, python: str, run: Path, options: Sequence[str]) -> list[str]:
        """The command with dlprof around its launcher, or around the one process."""
        begin = [*DLPROF, "trace", "-o", str(run), "--no-report"]
        if self.launcher:
            return [*begin, "--exec", "--", *self.bare(python, options)]
        if self.ranks is not None:
            return [*begin, "--exec", "--follow", "--", *self.bare(python, options)]
        return [*begin, "--python", python, str(SCRIPTS / self.script), "--", *options]

    def inside(self, python: str, run: Path, options: Sequence[str]) -> list[str]:
        """The command with a dlprof in each rank."""
        assert self.in_each is not None, self.name
        each = [*DLPROF, "trace", str(SCRIPTS / self.script), "--python", python, "-o", str(run), "--no-report", "--"]
        return [python, *self.in_each, *each, *options]

    def python(self) -> str | None:
        """The interpreter of its backend."""
        if self.backend is None:
            return None
        return str(
            environments.ensure(registry.get(self.backend), report=lambda line: print(line, file=sys.stderr)).python
        )


TRAININGS = (
    Training(
        "torch", "PyTorch DDP, gloo, torchrun", "torch_ddp.py", "native-torch", _TORCHRUN, (*_TORCHRUN, "--no-python")
    ),
    Training("jax", "JAX, `jax.distributed`, two processes", "jax_two.py", "native-jax", (*_SEVERAL, "own")),
    Training(
        "tensorflow",
        "TensorFlow, MultiWorkerMirroredStrategy",
        "tensorflow_workers.py",
        "native-tensorflow",
        (*_SEVERAL, "tensorflow"),
    ),
    *(
        Training(
            f"keras-{devices}",
            f"Keras 3 DataParallel, {devices} virtual devices of JAX",
            "keras_parallel.py",
            "jax",
            ranks=None,
        )
        for devices in (2, 4, 8)
    ),
    Training("ray", "Ray Train, PyTorch on gloo, two workers", "ray_train.py", None),
)


def options_of(training: Training, steps: int) -> list[str]:
    """The arguments of its script."""
    devices = training.name.partition("keras-")[2]
    return ["--steps", str(steps), *(["--devices", devices] if devices else [])]


def environment(training: Training) -> dict[str, str]:
    """Its environment variables: one thread for each of several ranks, where the launcher does not see to it."""
    return {**os.environ, "OMP_NUM_THREADS": "1"} if training.ranks else dict(os.environ)
