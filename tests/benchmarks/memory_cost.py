"""What a plain step costs more while the sampler reads memory: `python -m tests.benchmarks.memory_cost jax`.

One long run; its sampler (cores and memory) is stopped and let go in turn, so that both see the same machine. Each pair of neighbours
gives a ratio of median steps; the interval is of their median (bootstrap). The probes in the process go on in both halves: what
they take for memory is told apart, as spans of dlprof's own.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import psutil

from dlprof.analysis.columns import integers
from dlprof.pipeline.opening import open_run

STEADY = Path(__file__).with_name("steady.py")
_SETTLE_S = 0.3
"""Behind each change nothing is counted."""


def main() -> None:
    """Print the ratio, and what the facts of memory took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("backend")
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=2.0, help="of each half")
    parser.add_argument("--calls", type=int, default=2000, help="of fit; the run is ended when all pairs are there")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        ratios, facts = _measured(Path(folder), args)
    low, high = np.percentile([statistics.median(_drawn(ratios, seed)) for seed in range(2000)], (2.5, 97.5))
    print(f"{args.backend}: {statistics.median(ratios):.4f} ({low:.4f} to {high:.4f}, {len(ratios)} pairs)")
    print(f"facts of memory in the process: {facts:.2f} ms in all")


def _measured(folder: Path, args: argparse.Namespace) -> tuple[list[float], float]:
    command = [
        sys.executable,
        "-m",
        "dlprof",
        "trace",
        str(STEADY),
        "--backend",
        args.backend,
        "-o",
        str(folder / "run"),
    ]
    command += ["--no-report", "--probes", "phases,cores", "--cores-hz", "10", "--", "--calls", str(args.calls)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        sampler = _sampler(running.pid)
        time.sleep(12)  # imports, and the first steps
        halves = []
        for number in range(2 * args.pairs):
            is_on = number % 4 in (0, 3)
            os.kill(sampler.pid, signal.SIGCONT if is_on else signal.SIGSTOP)
            begin = time.monotonic_ns() + int(_SETTLE_S * 1e9)
            time.sleep(args.seconds)
            halves.append((is_on, begin, time.monotonic_ns()))
        os.kill(sampler.pid, signal.SIGCONT)
        running.send_signal(signal.SIGTERM)
        running.wait(120)
    return _ratios(folder / "run", halves)


def _sampler(pid: int) -> psutil.Process:
    end = time.monotonic() + 20
    while time.monotonic() < end:
        for one in psutil.Process(pid).children(recursive=True):
            if "dlprof_probes.sidecar" in " ".join(one.cmdline()):
                return one
        time.sleep(0.1)
    raise SystemExit("the sampler did not begin")


def _ratios(folder: Path, halves: list[tuple[bool, int, int]]) -> tuple[list[float], float]:
    run = open_run(str(folder))
    origin = run.manifest.clock.origin_perf_ns
    rows = run.table("steps", ("start_ns", "dur_ns"))
    spans = run.table("spans", ("kind", "name", "dur_ns")).to_pylist()
    start, dur = integers(rows["start_ns"]) + origin, integers(rows["dur_ns"])
    medians = []
    for is_on, begin, end in halves:
        inside = dur[(start >= begin) & (start + dur <= end)]
        medians.append((is_on, float(np.median(inside)) if len(inside) > 20 else None))
    ratios = []
    for first, second in zip(medians[::2], medians[1::2], strict=True):
        on, off = (first, second) if first[0] else (second, first)
        if on[1] is not None and off[1] is not None:
            ratios.append(on[1] / off[1])
    own = sum(one["dur_ns"] for one in spans if one["kind"] == "dlprof" and "memory" in one["name"])
    return ratios, own / 1e6


def _drawn(values: list[float], seed: int) -> list[float]:
    return [float(one) for one in np.random.default_rng(seed).choice(values, len(values))]


if __name__ == "__main__":
    main()
