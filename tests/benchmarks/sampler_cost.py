"""CPU time of the sampler's own code: `python -m tests.benchmarks.sampler_cost`.

A process of 30 threads and 500 MB is sampled; what is read once a second, and what is read each time, apart. To compare two versions,
run it in each of their trees, in turn.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from dlprof_probes.sidecar.cores import Cores
from dlprof_probes.sidecar.memory import Rollups

_PROCESS = """
import threading, time
held = bytearray(500_000_000)
held[::4096] = bytes([1]) * len(held[::4096])
for _ in range(30):
    threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
print(flush=True)
time.sleep(600)
"""
_HZ = 10


def main() -> None:
    """Print both, and what they are together at the usual rate."""
    with subprocess.Popen([sys.executable, "-c", _PROCESS], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            _measure(process.pid)
        finally:
            process.kill()


def _measure(pid: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        sampler = Cores(Path(folder), pid, os.getpid())
        sampler.sample()
        rounds = [(_cost(sampler, 40, slow=True), _cost(sampler, 200, slow=False)) for _ in range(5)]
        begun = time.process_time_ns()
        Rollups().read([pid])
        rollup = (time.process_time_ns() - begun) / 1e6
    slow, fast = (statistics.median(one) for one in zip(*rounds, strict=True))
    share = (slow + (_HZ - 1) * fast) / 1e4
    print(f"once a second {slow:.0f} us, else {fast:.0f} us: {share:.3f} % of a core; sizes {rollup:.1f} ms")


def _cost(sampler: Cores, count: int, *, slow: bool) -> float:
    """CPU time of a sample (us)."""
    begun = time.process_time_ns()
    for _ in range(count):
        sampler._next_slow = 0 if slow else 1 << 62
        sampler._details._known.clear()  # as if the process ran
        sampler.sample()
    return (time.process_time_ns() - begun) / count / 1e3


if __name__ == "__main__":
    main()
