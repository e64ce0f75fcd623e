"""What counting lines costs scripts of pure Python: bare and traced runs in turn, CPU and wall time, as ratios.

`python -m tests.benchmarks.line_tax [--pairs N] [--python PATH] [--probes LIST] [SCRIPT...]`: without a script, the three
of `line_scripts`. CPU time is that of the script's process and of what dlprof starts beside it, less dlprof for an empty
script; so is the wall time of the run itself. `whole` is with dlprof's start and end, which a short script has for itself.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SCRIPTS = Path(__file__).parent / "line_scripts"
EMPTY = "pass\n"


def main() -> None:
    """Print a row for each script."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--probes", help="of dlprof trace")
    parser.add_argument("--lines", help="of dlprof trace: exact")
    parser.add_argument("scripts", nargs="*", type=Path, default=sorted(SCRIPTS.glob("*.py")))
    args = parser.parse_args()
    more = [f"--probes={args.probes}"] if args.probes else []
    more += ["--lines", args.lines] if args.lines else []
    with tempfile.TemporaryDirectory() as folder:
        empty = Path(folder) / "empty.py"
        empty.write_text(EMPTY)
        traced = [_traced(args.python, empty, more) for _ in range(3)]
        alone = [_timed([args.python, str(empty)]) for _ in range(3)]
        own = statistics.median(cpu for cpu, _ in traced), statistics.median(wall for _, wall in traced)
        start_s = own[1] - statistics.median(wall for _, wall in alone)
        print(f"{'script':24} {'bare s':>8} {'CPU':>6} {'wall':>6} {'whole':>6}   medians of {args.pairs} pairs")
        for script in args.scripts:
            _print_row(script, args.python, more, args.pairs, (own[0], start_s))


def _print_row(script: Path, python: str, more: list[str], pairs: int, own: tuple[float, float]) -> None:
    """Ratios of traced over bare; `own`: CPU and wall time (s) of dlprof for a script that does nothing."""
    cpu, wall, whole, bare = [], [], [], []
    for _ in range(pairs):
        alone, traced = _timed([python, str(script)]), _traced(python, script, more)
        cpu.append((traced[0] - own[0]) / alone[0])
        wall.append((traced[1] - own[1]) / alone[1])
        whole.append(traced[1] / alone[1])
        bare.append(alone[1])
    medians = [statistics.median(each) for each in (bare, cpu, wall, whole)]
    print(f"{script.stem:24} {medians[0]:8.2f} " + " ".join(f"{one:6.3f}" for one in medians[1:]), flush=True)


def _traced(python: str, script: Path, more: list[str]) -> tuple[float, float]:
    with tempfile.TemporaryDirectory() as folder:
        run = ["-o", f"{folder}/run", "--no-report", "--python", python]
        return _timed([sys.executable, "-m", "dlprof", "trace", *run, *more, str(script)])


def _timed(command: list[str]) -> tuple[float, float]:
    """CPU and wall time of a command and what it starts (s)."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, time.perf_counter() - start


if __name__ == "__main__":
    main()
