"""Whether probes keep their budget: `python -m tests.benchmarks.budget [SCRIPT…] [--pairs N] [--quick] [-o FOLDER]`.

Pairs of runs, bare and traced, in turn, each pair in the other order: a steady training (`steady.py`) on TensorFlow,
JAX, PyTorch and MXNet, and scripts that are named. Of each pair:

    steps    median step traced / bare, as the script itself measures it (trainings only)
    whole    wall time of the traced process / of the bare one
    ledger   what the ledger says that probes took of the run, in percent
    missing  (whole - 1) less the ledger, in points: what the ledger does not know

Every run is kept in FOLDER (default: benchmark_budget) as soon as it is over: the same command goes on where it was
ended. Not part of the tests; it wants a calm machine.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
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
        step_ms: Median step, as the script says; None: it says none.
        ledger: What probes took, as a share of the run; None: bare.
    """

    wall_s: float
    step_ms: float | None
    ledger: float | None = None


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
    print(f"{'work':<28} {'pairs':>5}  {'steps':>6}  {'whole':>6}  {'ledger':>7}  {'missing':>8}")
    for work in _works(args):
        pairs = [_pair(work, number, args.folder, args.trace.split()) for number in range(args.pairs)]
        print(line(work.name, pairs), flush=True)


def _works(args: argparse.Namespace) -> Iterator[Work]:
    for path in args.scripts:
        yield Work(path.stem, path.absolute(), python=args.python)
    for backend in args.backend or (() if args.scripts else BACKENDS):
        yield Work(f"mlp-{backend}", HERE / "steady.py", _QUICK if args.quick else (), backend)


def _pair(work: Work, number: int, folder: Path, flags: Sequence[str]) -> tuple[Measured, Measured]:
    """Bare and traced; the second goes first in every other pair."""
    order = ("bare", "traced") if number % 2 == 0 else ("traced", "bare")
    found = {kind: _kept(work, folder / f"{work.name}-{number:03d}-{kind}.json", kind, flags) for kind in order}
    return found["bare"], found["traced"]


def _kept(work: Work, file: Path, kind: str, flags: Sequence[str]) -> Measured:
    if file.is_file():
        return Measured(**json.loads(file.read_text(encoding="utf-8")))
    measured = _bare(work) if kind == "bare" else _traced(work, flags)
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
        start = time.perf_counter()
        said = _run([python, str(work.script), *work.arguments], environment)
        return Measured(time.perf_counter() - start, _step_ms(said))


def _traced(work: Work, flags: Sequence[str]) -> Measured:
    where = ["--backend", work.backend] if work.backend is not None else ["--python", work.python]
    folder = tempfile.mkdtemp()
    try:
        dlprof, run = [sys.executable, "-m", "dlprof"], f"{folder}/run"
        trace = [*dlprof, "trace", str(work.script), *where, "-o", run, "--no-report", *flags, "--", *work.arguments]
        said = _run(trace, dict(os.environ))
        report = json.loads(_run([*dlprof, "report", run, "--json"], dict(os.environ)))
        return Measured(report["wall_ns"] / 1e9, _step_ms(said), report["overhead"]["share"])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(command: Sequence[str], environment: Mapping[str, str]) -> str:
    return subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout


def _step_ms(said: str) -> float | None:
    return float(said.rpartition("STEP_MS ")[2].split()[0]) if "STEP_MS " in said else None


def line(name: str, pairs: Sequence[tuple[Measured, Measured]]) -> str:
    """Medians over the pairs of a work, and how far the whole runs lie apart."""
    steps = [traced.step_ms / bare.step_ms for bare, traced in pairs if bare.step_ms and traced.step_ms]
    whole = [traced.wall_s / bare.wall_s for bare, traced in pairs]
    ledger = [traced.ledger for _, traced in pairs if traced.ledger is not None]
    step = f"{statistics.median(steps):6.3f}" if steps else "     -"
    if not ledger:
        return f"{name:<28} {len(pairs):>5}  {step}  {statistics.median(whole):6.3f}"
    # The time that probes took is a share of the traced run, as the difference must be, too.
    missing = statistics.median(1 - 1 / ratio for ratio in whole) - statistics.median(ledger)
    return (
        f"{name:<28} {len(pairs):>5}  {step}  {statistics.median(whole):6.3f}  "
        f"{100 * statistics.median(ledger):6.2f}%  {100 * missing:+8.2f}  ({min(whole):.3f} to {max(whole):.3f})"
    )


if __name__ == "__main__":
    main()
