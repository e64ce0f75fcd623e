"""Import of the traces of many ranks with one process and with two, and the report of all: `python -m tests.benchmarks ranks`.

The traces are made up: steps of kernels, copies, collectives and operators, in the form of torch.profiler.
"""

from __future__ import annotations

import argparse
import gzip
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

DLPROF = [sys.executable, "-m", "dlprof"]
_OF_STEP = 100
"""Events of a step."""


def main(argv: Sequence[str]) -> None:
    """Make the traces, import them, and print times and memory."""
    parser = argparse.ArgumentParser(prog="tests.benchmarks ranks", description=__doc__)
    parser.add_argument("--ranks", type=int, default=64)
    parser.add_argument("--events", type=int, default=100_000, help="of a rank")
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write(folder / "traces", args.ranks, args.events)
        for jobs in (1, 2):
            command = ["import", str(folder / "traces"), "-o", str(folder / f"run{jobs}"), "--jobs", str(jobs)]
            seconds = _timed(command)
            peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
            print(f"import {args.ranks} ranks, {jobs} at a time: {seconds:.1f} s; largest process so far {peak:.0f} MB")
        print(f"report {_timed(['report', str(folder / 'run2')]):.2f} s")


def _timed(words: Sequence[str]) -> float:
    begin = time.perf_counter()
    subprocess.run([*DLPROF, *words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - begin


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
