"""Whether probes keep their budget: `python -m tests.benchmarks.budget [SCRIPT…] [--pairs N] [--quick] [-o FOLDER]`.

Bare, traced and bare again, in turn: a steady training (`steady.py`) on TensorFlow, JAX, PyTorch and MXNet, and
scripts that are named. A traced run is compared with the mean of the two around it; these two with each other tell
how far this machine can be believed. Medians:

    steps    median step traced / bare, as the script itself measures it (trainings only)
    noise    how far the two bare runs are apart, in percent, of their steps (of scripts: of their wall times)
    whole    wall time of the traced process / of the bare one
    cpu      CPU time of the traced process and of what runs beside it / of the bare one
    ledger   what the ledger says that probes took of the run, in percent
    missing  (whole - 1) less the ledger, in points: what the ledger does not know

Every run is kept in FOLDER (default: benchmark_budget) as soon as it is over: the same command goes on where it was
ended. Not part of the tests; it wants a calm machine.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from dlprof.backends import registry
from dlprof.launch import environments

HERE = Path(__file__).parent
BACKENDS = ("tensorflow", "jax", "torch", "mxnet")
_QUICK = ("--calls", "4", "--steps", "40")


@dataclass(frozen=True)
class Work:
    """What is run in pairs."""

    name: str
    script: Path
    arguments: tuple[str, ...] = ()
    backend: str | None = None
    python: str = sys.executable


@dataclass(frozen=True)
class Measured:
    """A run that is over.

    Attributes:
        wall_s: Wall time of the process (s).
        cpu_s: CPU time of the process, and of all that was started for it (s).
        step_ms: Median step, as the script says; None: it says none.
        ledger: What probes took, as a share of the run; None: bare.
    """

    wall_s: float
    cpu_s: float
    step_ms: float | None
    ledger: float | None = None


@dataclass(frozen=True)
class Turn:
    """A traced run between two bare ones."""

    before: Measured
    traced: Measured
    after: Measured

    def ratio(self, figure: Callable[[Measured], float | None]) -> float | None:
        """A figure of the traced run over the mean of the bare ones; None: the script does not say it."""
        one, between, other = (figure(run) for run in (self.before, self.traced, self.after))
        return 2 * between / (one + other) if one and between and other else None

    def noise(self) -> float:
        """How far the bare runs are apart, as a share of their mean."""
        one, other = self.before.step_ms or self.before.wall_s, self.after.step_ms or self.after.wall_s
        return 2 * abs(one - other) / (one + other)


def main(words: Sequence[str] | None = None) -> None:
    """Run what is left, and print a line for each work."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scripts", nargs="*", type=Path, metavar="SCRIPT")
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--quick", action="store_true", help="short trainings: whether it works, not how fast")
    parser.add_argument("--backend", action="append", choices=BACKENDS, help="of the trainings (default: all four)")
    parser.add_argument("--python", default=sys.executable, help="interpreter of the scripts")
    parser.add_argument("--trace", default="", metavar="FLAGS", help="more flags of dlprof trace, in one word")
    parser.add_argument("-o", dest="folder", type=Path, default=Path("benchmark_budget"))
    args = parser.parse_args(words)
    args.folder.mkdir(parents=True, exist_ok=True)
    print(
        f"{'work':<28} {'runs':>4}  {'steps':>6}  {'noise':>6}  {'whole':>6}  {'cpu':>6}  {'ledger':>7}  {'missing':>8}"
    )
    for work in _works(args):
        turns = [_turn(work, number, args.folder, args.trace.split()) for number in range(args.pairs)]
        print(line(work.name, turns), flush=True)


def _works(args: argparse.Namespace) -> Iterator[Work]:
    for path in args.scripts:
        yield Work(path.stem, path.absolute(), python=args.python)
    for backend in args.backend or (() if args.scripts else BACKENDS):
        yield Work(f"mlp-{backend}", HERE / "steady.py", _QUICK if args.quick else (), backend)


def _turn(work: Work, number: int, folder: Path, flags: Sequence[str]) -> Turn:
    kinds = ("bare", "traced", "again")
    return Turn(*(_kept(work, folder / f"{work.name}-{number:03d}-{kind}.json", kind, flags) for kind in kinds))


def _kept(work: Work, file: Path, kind: str, flags: Sequence[str]) -> Measured:
    if file.is_file():
        return Measured(**json.loads(file.read_text(encoding="utf-8")))
    measured = _traced(work, flags) if kind == "traced" else _bare(work)
    part = file.with_suffix(".part")
    part.write_text(json.dumps(asdict(measured)), encoding="utf-8")
    part.replace(file)
    return measured


def _bare(work: Work) -> Measured:
    with tempfile.TemporaryDirectory() as home:
        environment, python = dict(os.environ), work.python
        if work.backend is not None:
            spec = registry.get(work.backend)
            python = str(environments.ensure(spec, report=print).python)
            environment |= {**spec.environment, "KERAS_BACKEND": spec.keras_backend or "", "KERAS_HOME": home}
        start, cpu_s = time.perf_counter(), _cpu_s()
        said = _run([python, str(work.script), *work.arguments], environment)
        return Measured(time.perf_counter() - start, _cpu_s() - cpu_s, _step_ms(said))


def _traced(work: Work, flags: Sequence[str]) -> Measured:
    where = ["--backend", work.backend] if work.backend is not None else ["--python", work.python]
    folder = tempfile.mkdtemp()
    try:
        dlprof, run = [sys.executable, "-m", "dlprof"], f"{folder}/run"
        trace = [*dlprof, "trace", str(work.script), *where, "-o", run, "--no-report", *flags, "--", *work.arguments]
        cpu_s = _cpu_s()
        said = _run(trace, dict(os.environ))
        cpu_s = _cpu_s() - cpu_s
        report = json.loads(_run([*dlprof, "report", run, "--json"], dict(os.environ)))
        return Measured(report["wall_ns"] / 1e9, cpu_s, _step_ms(said), report["overhead"]["share"])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(command: Sequence[str], environment: Mapping[str, str]) -> str:
    return subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout


def _cpu_s() -> float:
    """CPU time of all processes that were started from here and have ended (s)."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _step_ms(said: str) -> float | None:
    return float(said.rpartition("STEP_MS ")[2].split()[0]) if "STEP_MS " in said else None


def line(name: str, turns: Sequence[Turn]) -> str:
    """Medians over the turns of a work, and how far the whole runs lie apart."""
    steps = [turn.ratio(lambda run: run.step_ms) for turn in turns]
    whole = [turn.ratio(lambda run: run.wall_s) or 1.0 for turn in turns]
    cpu = statistics.median(turn.ratio(lambda run: run.cpu_s) or 1.0 for turn in turns)
    noise = statistics.median(turn.noise() for turn in turns)
    ledger = statistics.median(turn.traced.ledger or 0.0 for turn in turns)
    known = [ratio for ratio in steps if ratio is not None]
    step = f"{statistics.median(known):6.3f}" if known else "     -"
    # The time that probes took is a share of the traced run, as the difference must be, too.
    missing = statistics.median(1 - 1 / ratio for ratio in whole) - ledger
    return (
        f"{name:<28} {len(turns):>4}  {step}  {100 * noise:5.1f}%  {statistics.median(whole):6.3f}  {cpu:6.3f}  "
        f"{100 * ledger:6.2f}%  {100 * missing:+8.2f}  ({min(whole):.3f} to {max(whole):.3f})"
    )


if __name__ == "__main__":
    main()
