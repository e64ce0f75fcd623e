"""What dlprof takes from steps from outside of the process: `python -m tests.benchmarks beside`.

Runs differ from one another by several percent, so pairs of runs tell a hundredth only in large numbers. Here one
training is traced, and everything beside it (samplers, py-spy, dlprof itself) is stopped and continued in turn, each
second: compared are medians of steps that began while it ran with those that began while it was stopped.
What is measured inside of the process is not in it: `python -m tests.benchmarks record` has that.
"""

from __future__ import annotations

import argparse
import itertools
import math
import os
import signal
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import dlprof
from dlprof.schema.vocabulary import Loop
from tests.rank_trainings.trainings import DLPROF, TRAININGS, environment, options_of

_SETTLED_S = 12.0
"""From the start on: modules are loaded, and rates are lowered to what the budget allows."""
_TURN_S = 1.7
"""Not in step with what samples once a second: that would sample at the edges of turns alone."""
_EDGE_NS = 100_000_000
"""Of a turn, at its begin and end: steps there are of both."""
_HELPERS = ("py-spy", "dlprof_probes.sidecar")
_LIMIT_S = 600
_LEAST_PAIRS = 3


@dataclass(frozen=True)
class _Turn:
    """A time in which what is beside the training ran, or was stopped (ns, the system's monotonic clock)."""

    runs: bool
    begin_ns: int
    end_ns: int

    def has(self, time_ns: int) -> bool:
        return self.begin_ns + _EDGE_NS < time_ns < self.end_ns - _EDGE_NS


def main(argv: Sequence[str]) -> None:
    """Measure, and print a line for each process that trained."""
    parser = argparse.ArgumentParser(prog="tests.benchmarks beside", description=__doc__)
    names = [training.name for training in TRAININGS]
    parser.add_argument("--steps", type=int, default=5000)
    parser.add_argument("--only", nargs="+", default=[name for name in names if name != "ray"], choices=names)
    parser.add_argument("--python", help="for Ray Train: an interpreter that has it")
    parser.add_argument("trace", nargs="*", help="after `--`: arguments of `dlprof trace`, for another training")
    args = parser.parse_args(argv)
    print(f"{os.cpu_count()} cores; load before {os.getloadavg()[0]:.2f}", flush=True)
    if args.trace:
        own = [str(Path(word).absolute()) if Path(word).is_file() else word for word in args.trace]
        _measure(args.trace[0], lambda run: [*DLPROF, "trace", "-o", str(run), "--no-report", *own], os.environ)
        return
    for training in TRAININGS:
        if training.name in args.only and (python := training.python() or args.python):
            options = [*options_of(training, args.steps), "--times"]
            _measure(training.name, partial(training.around, python, options=options), environment(training))


def _measure(name: str, command: Callable[[Path], list[str]], environ: Mapping[str, str]) -> None:
    """Trace in a folder of its own: trainings write files where they are started."""
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        turns = _traced(command(run), folder, environ)
        for path in sorted(run.glob("children/*")) or [run]:
            _tell(name, path, turns)


def _traced(command: Sequence[str], folder: str, environ: Mapping[str, str]) -> list[_Turn]:
    """Run to the end, with turns."""
    turns: list[_Turn] = []
    with subprocess.Popen(
        command, cwd=folder, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        limit = threading.Timer(_LIMIT_S, process.kill)
        limit.start()
        _sleep(process, _SETTLED_S)
        while process.poll() is None:
            stopped = [process.pid, *_helpers()] if len(turns) % 2 else []
            with _stopped(stopped):
                begin_ns = time.perf_counter_ns()
                _sleep(process, _TURN_S)
                turns.append(_Turn(not stopped, begin_ns, time.perf_counter_ns()))
        limit.cancel()
    if process.returncode:
        raise SystemExit(f"{command} ended with exit code {process.returncode}")
    return turns


def _sleep(process: subprocess.Popen[bytes], for_s: float) -> None:
    end = time.monotonic() + for_s
    while time.monotonic() < end and process.poll() is None:
        time.sleep(0.02)


@contextmanager
def _stopped(pids: Collection[int]) -> Iterator[None]:
    _send(pids, signal.SIGSTOP)
    try:
        yield
    finally:
        _send(pids, signal.SIGCONT)


def _send(pids: Collection[int], number: signal.Signals) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


def _helpers() -> list[int]:
    """The processes of this machine that sample."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_text().split("\0")
        except OSError:
            continue
        if any(Path(word).name in _HELPERS for word in words):
            found.append(int(folder.name))
    return found


def _tell(name: str, path: Path, turns: Sequence[_Turn]) -> None:
    run = dlprof.open(path)
    origin_ns = run.manifest["clock"]["origin_perf_ns"]
    steps = run.steps()
    trained = steps[steps["loop"] == Loop.TRAIN]
    starts = [int(start) + origin_ns for start in trained["start_ns"].sort_values()]
    durations: list[list[int]] = [[] for _ in turns]
    for start, following in itertools.pairwise(starts):
        for turn, known in zip(turns, durations, strict=True):
            if turn.has(start) and turn.has(following):
                known.append(following - start)
    both = [
        [step for turn, known in zip(turns, durations, strict=True) if turn.runs is runs for step in known]
        for runs in (True, False)
    ]
    pairs = [
        math.log(statistics.median(running) / statistics.median(stopped))
        for running, stopped in zip(durations[::2], durations[1::2], strict=False)
        if running and stopped
    ]
    if len(pairs) < _LEAST_PAIRS:  # a launcher, or a run that was too short
        print(f"beside   {name:<10} {path.name:<24} no steps in both kinds of turns", flush=True)
        return
    with_ns, without_ns = (statistics.median(steps) for steps in both)
    known_to = 1.96 * statistics.stdev(pairs) / math.sqrt(len(pairs))
    print(
        f"beside   {name:<10} {path.name:<24} running/stopped {with_ns / without_ns:.3f} "
        f"({len(both[0])} and {len(both[1])} steps; {with_ns / 1e6:.2f} and {without_ns / 1e6:.2f} ms; "
        f"{len(pairs)} pairs of turns: {math.exp(statistics.mean(pairs)):.3f} ± {known_to:.3f})",
        flush=True,
    )
