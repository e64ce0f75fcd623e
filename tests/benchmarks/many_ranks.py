"""Import of the traces of many ranks with one process and with two, and the report of all: `python -m tests.benchmarks ranks`.

The traces are made up: steps of kernels, copies, collectives and operators, in the form of torch.profiler. One process has threads, too: beside
the times are the CPU seconds, and one process that may use one core alone is what two processes on two cores are twice of.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.benchmarks.peers import Cost, cost

DLPROF = [sys.executable, "-m", "dlprof"]
_OF_STEP = 100
"""Events of a step."""


def main(argv: Sequence[str]) -> None:
    """Make the traces, import them, and print times and memory."""
    parser = argparse.ArgumentParser(prog="tests.benchmarks ranks", description=__doc__)
    parser.add_argument("--ranks", type=int, default=64)
    parser.add_argument("--events", type=int, default=100_000, help="of a rank")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write(folder / "traces", args.ranks, args.events)
        found: dict[str, list[Cost]] = {}
        for number in range(args.rounds):
            for how, jobs, cores in _WAYS:
                run = folder / f"run-{number}-{jobs}-{cores or 'all'}"
                words = ["import", str(folder / "traces"), "-o", str(run), "--jobs", str(jobs)]
                found.setdefault(how, []).append(_cost(words, folder, cores))
        found["report"] = [_cost(["report", str(run)], folder, None) for _ in range(args.rounds)]
    base = _median(found[_WAYS[0][0]], "wall")
    for how, costs in found.items():
        wall, cpu = _median(costs, "wall"), _median(costs, "cpu")
        walls = f"{min(one.wall for one in costs):.1f} to {max(one.wall for one in costs):.1f}"
        more = f"; {base / wall:.2f} x one process on one core" if how != "report" else ""
        print(
            f"{how:<34} {wall:5.1f} s ({walls}), CPU {cpu:5.1f} s, {cpu / wall:.2f} cores, "
            f"largest process {max(one.peak for one in costs):.0f} MB{more}",
            flush=True,
        )


_WAYS = (("one process on one core", 1, 1), ("one process", 1, None), ("two processes", 2, None))
"""What it is, --jobs, and how many cores it may use (None: all)."""


def _cost(words: Sequence[str], folder: Path, cores: int | None) -> Cost:
    bound = [] if cores is None else ["taskset", "-c", ",".join(map(str, sorted(os.sched_getaffinity(0))[:cores]))]
    return cost([*bound, *DLPROF, *words], folder)


def _median(costs: Sequence[Cost], what: str) -> float:
    return float(statistics.median(getattr(one, what) for one in costs))


def _write(folder: Path, ranks: int, events: int) -> None:
    """One trace with the rank left open, packed once for each."""
    folder.mkdir()
    mark = 987_654_321
    text = json.dumps(_trace(mark, ranks, events))
    for rank in range(ranks):
        packed = gzip.compress(text.replace(str(mark), str(rank)).encode(), compresslevel=1)
        (folder / f"rank-{rank}.json.gz").write_bytes(packed)


def _trace(rank: int, world: int, events: int) -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    for step in range(events // _OF_STEP):
        begin = 10_000.0 * step
        rows.append(_event("user_annotation", f"ProfilerStep#{step}", begin, 9_990.0, 1, {}))
        for number in range((_OF_STEP - 4) // 3):
            at, link = begin + 280.0 * number, step * _OF_STEP + number
            rows += [
                _event("cpu_op", f"aten::op{number}", at, 50.0, 1, {"External id": link}),
                _event("cuda_runtime", "cudaLaunchKernel", at + 10, 8.0, 1, {"correlation": link}),
                _event("kernel", f"gemm_{number}", at + 40, 200.0, 7, {"device": 0, "stream": 7, "correlation": link}),
            ]
        told = {"device": 0, "stream": 20, "correlation": -step}
        rows.append(_event("kernel", "ncclKernel_AllReduce_RING", begin + 5_000, 3_000.0, 20, told))
    return {
        "schemaVersion": 1,
        "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": world},
        "traceEvents": rows,
    }


def _event(category: str, name: str, start: float, dur: float, thread: int, told: dict[str, Any]) -> dict[str, Any]:
    process = 0 if category == "kernel" else 1
    return {
        "ph": "X",
        "cat": category,
        "name": name,
        "pid": process,
        "tid": thread,
        "ts": start,
        "dur": dur,
        "args": told,
    }
