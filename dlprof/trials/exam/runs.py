"""The runs of an exam: made one at a time, kept, and taken as they are when they are there."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from dlprof.errors import DlprofError, UsageError
from dlprof.pipeline.opening import open_run
from dlprof.schema.vocabulary import RunState
from dlprof.store.run import Run
from dlprof.trials import again as trials
from dlprof.trials.exam.truths import Truth

DIAGNOSED = "all"
"""Probes of a run that is diagnosed: those that a user gets."""
OF_COST = "-kernels"
"""Probes of a run that a cost is taken from: the same without kernel windows, whose cost is known only roughly."""
_LOCK = "exam.lock"
_PACES, _PACE_WORK, _PACES_AT_LEAST = "paces.txt", 2_000_000, 10
"""A fixed piece of work is timed before each run: how steady the machine was is part of the result."""
_BUSY = "while True:\n    pass"


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Hold the folder of an exam: a second one in it would slow the first one's runs, and take them for its own."""
    with (folder / _LOCK).open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UsageError(
                f"Another exam is at work in {folder}.", hint="wait for it: two at once on a machine spoil each other"
            ) from None
        yield


def throw_away(truths: Sequence[Truth], folder: Path) -> None:
    """Remove all runs of some causes."""
    for truth in truths:
        for faulty in (True, False):
            shutil.rmtree(folder / truth.folder(faulty=faulty), ignore_errors=True)


def made(truth: Truth, folder: Path, name: str, probes: str = DIAGNOSED, *, faulty: bool) -> Run:
    """A run of the script; one that is there, and came to its end, is taken as it is."""
    place = folder / truth.folder(faulty=faulty) / name
    run = finished(place)
    if run is not None:
        return run
    extra = truth.fault_arguments if faulty else ()
    environment = {**os.environ, **truth.environment, **(truth.fault_environment if faulty else {})}
    command = [
        sys.executable, "-P", "-m", "dlprof", "trace", str(truth.script), "--backend", truth.backend, "-o", str(place),
        f"--probes={probes}", "--no-report", "--no-progress", "--", *truth.arguments, *extra,
    ]  # fmt: skip
    _note_pace(folder)
    with _busy(truth.beside if faulty else 0):
        trials.run_into(place, command, environment)
    return open_run(str(place))


def _note_pace(folder: Path) -> None:
    """Note how long a fixed piece of work takes just now (ns)."""
    started = time.perf_counter_ns()
    sum(number * number for number in range(_PACE_WORK))
    with (folder / _PACES).open("a", encoding="utf-8") as file:
        file.write(f"{time.perf_counter_ns() - started}\n")


def spread(folder: Path) -> float | None:
    """By how much the slowest tenth of the machine's paces lies above the fastest tenth; None: too few are known."""
    with contextlib.suppress(OSError, ValueError):
        paces = sorted(int(line) for line in (folder / _PACES).read_text(encoding="utf-8").split())
        if len(paces) >= _PACES_AT_LEAST:
            tenth = len(paces) // 10
            return paces[-1 - tenth] / paces[tenth] - 1
    return None


@contextlib.contextmanager
def _busy(count: int) -> Iterator[None]:
    """Keep so many processes busy meanwhile."""
    beside = [subprocess.Popen([sys.executable, "-c", _BUSY]) for _ in range(count)]
    try:
        yield
    finally:
        for process in beside:
            process.kill()
            process.wait()


def finished(place: Path) -> Run | None:
    """A run that came to its end; None: it did not, or there is none."""
    with contextlib.suppress(DlprofError):
        run = open_run(str(place))
        if run.manifest.state == RunState.FINISHED:
            return run
    return None
