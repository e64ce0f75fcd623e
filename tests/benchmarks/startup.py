"""What `dlprof trace` adds to a script's start, and to the whole of one that does nothing: `python -m tests.benchmarks startup`.

Bare and traced runs take turns, so that other load meets both; medians of the differences count. CPU times are those of
all processes that a command has waited for: they hold where the machine is busy, and wall times do not.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec

FIRST = "import time; print(time.perf_counter_ns(), time.process_time_ns(), flush=True)\n"
_FIRST_LINE_MOST = 0.25
_WHOLE_MOST = 0.5


class Ran(msgspec.Struct, frozen=True):
    """A command that ran; times of the clock of all processes (ns)."""

    start_ns: int
    end_ns: int
    cpu_ns: int
    said: str

    @property
    def wall_ns(self) -> int:
        """From its start to its end."""
        return self.end_ns - self.start_ns

    @property
    def first_ns(self) -> int:
        """From its start to the script's first line."""
        return int(self.said.split()[0]) - self.start_ns


def main(pairs: int) -> None:
    """Print both figures, and the parts of a traced run."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "first.py").write_text(FIRST)
        (place / "nothing.py").write_text("")
        trace(place, "nothing.py", 0)  # modules are compiled, interpreters asked, the probe copied
        firsts, wholes, parts = [], [], []
        for number in range(1, pairs + 1):
            bare, traced = pair(place, "first.py", number)
            firsts.append((traced.first_ns - bare.first_ns, traced.cpu_ns - bare.cpu_ns))
            parts.append(_parts(traced, place / f"first.py-{number}"))
            bare, traced = pair(place, "nothing.py", number)
            wholes.append((traced.wall_ns - bare.wall_ns, traced.cpu_ns - bare.cpu_ns))
    _tell("first line", [wall for wall, _ in firsts], _FIRST_LINE_MOST, pairs)
    _tell("empty script, report included", [wall for wall, _ in wholes], _WHOLE_MOST, pairs)
    print(f"startup  CPU of all processes, empty script  {_median([cpu for _, cpu in wholes]):.3f} s more than bare")
    for name in parts[0]:
        print(f"startup    {name:<52} {_median([part[name] for part in parts]):.3f} s")


def _tell(what: str, more_ns: list[int], most_s: float, pairs: int) -> None:
    spread = f"{min(more_ns) / 1e9:.3f} to {max(more_ns) / 1e9:.3f}"
    print(f"startup  {what}: {_median(more_ns):.3f} s more than bare ({spread}, {pairs} pairs; goal <= {most_s})")


def _median(values_ns: list[int]) -> float:
    return statistics.median(values_ns) / 1e9


def pair(place: Path, script: str, number: int) -> tuple[Ran, Ran]:
    """Bare and traced; which comes first takes turns."""
    if number % 2:
        bare = _run([sys.executable, script], place)
        return bare, trace(place, script, number)
    traced = trace(place, script, number)
    return _run([sys.executable, script], place), traced


def trace(place: Path, script: str, number: int) -> Ran:
    return _run([sys.executable, "-m", "dlprof", "trace", script, "-o", f"{script}-{number}"], place)


def _run(command: list[str], place: Path) -> Ran:
    # Where Python keeps no compiled modules every start compiles them all: that is not what users have.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before, start_ns = _cpu_ns(), time.perf_counter_ns()
    done = subprocess.run(command, env=environment, cwd=place, capture_output=True, text=True, check=True)
    return Ran(start_ns, time.perf_counter_ns(), _cpu_ns() - before, done.stdout)


def _cpu_ns() -> int:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return int((used.ru_utime + used.ru_stime) * 1e9)


def _parts(traced: Ran, run: Path) -> dict[str, int]:
    """Where the time of a traced run went (ns); each begins where the one before ends."""
    first_ns, first_cpu_ns = (int(word) for word in traced.said.split())
    manifest = json.loads((run / "manifest.json").read_text())
    started_ns = manifest["clock"]["origin_perf_ns"]
    ended_ns = started_ns + manifest["process"]["wall_ns"]
    stored_ns = (run / "manifest.json").stat().st_mtime_ns - (time.time_ns() - time.perf_counter_ns())
    return {
        "dlprof before it starts the script": started_ns - traced.start_ns,
        "the script's process until its first line": first_ns - started_ns,
        "    of it on a core (a bare Python's start included)": first_cpu_ns,
        "first line to the end of the script": ended_ns - first_ns,
        "probes ended, tables made": stored_ns - ended_ns,
        "report, and dlprof's own end": traced.end_ns - stored_ns,
    }
