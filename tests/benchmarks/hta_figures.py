"""Figures of HolisticTraceAnalysis beside dlprof's, of every trace below a folder: `python -m tests.benchmarks hta FOLDER`.

HTA is installed from the package index into an environment of its own. It is asked with the last step in and without rounding; a
trace that it cannot read, or that has no work of a device, is named. HTA leaves out what a device did that was launched before the trace
began; where figures differ by more than 1 %, dlprof is asked again without that work.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dlprof.analysis import device_time
from dlprof.errors import DlprofError
from dlprof.ingest.parse.packed import opened
from dlprof.pipeline.importing import import_files
from tests.benchmarks.peers import Peers, ToolError

REQUIREMENT = "HolisticTraceAnalysis==0.5.0"
_ASKED = """
import json, sys
from hta.trace_analysis import TraceAnalysis
analysis = TraceAnalysis(trace_files={0: sys.argv[1]}, trace_dir="/", include_last_profiler_step=True)
row = analysis.get_temporal_breakdown(visualize=False).iloc[0]
try:
    overlap = float(analysis.get_comm_comp_overlap(visualize=False).iloc[0]["comp_comm_overlap_pctg"])
except Exception:
    overlap = None
names = ("idle_time(us)", "compute_time(us)", "non_compute_time(us)", "kernel_time(us)")
print(json.dumps([*(float(row[name]) for name in names), overlap]))
"""
_LIMIT_S = 300
_ALIKE = 0.01
_LAUNCHES = ("_runtime", "_driver")
_OF_DEVICES = ("kernel", "gpu_memcpy", "gpu_memset")
_LEAST_US = 1.0
"""Below a microsecond HTA's figures are those of its rounding."""


@dataclass(frozen=True)
class Figures:
    """Of a device: times (us), and the share of its collectives that lies beside computation (%); None: it has none."""

    idle: float
    compute: float
    other: float
    whole: float
    overlap: float | None

    def apart(self, other: Figures) -> float:
        """The largest relative difference of a figure, 0 to 1."""
        pairs = list(zip(vars(self).values(), vars(other).values(), strict=True))
        known = [(a, b) for a, b in pairs if a is not None and b is not None]
        return max(abs(a - b) / max(abs(b), 1e-9) if abs(a - b) > _LEAST_US else 0.0 for a, b in known)


def main(argv: Sequence[str]) -> None:
    """Compare, and print a row for each."""
    parser = argparse.ArgumentParser(prog="tests.benchmarks hta", description=__doc__)
    parser.add_argument("folder", type=Path)
    default = Path(tempfile.gettempdir()) / "dlprof-peers"
    parser.add_argument("--peers", type=Path, default=default, help="environments of the peers")
    args = parser.parse_args(argv)
    python = Peers(args.peers).python(REQUIREMENT)
    print("| trace | idle ms | computing ms | other ms | whole ms | beside computation % | largest difference |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    found = [_row(path, args.folder, python) for path in sorted(args.folder.rglob("*.json*")) if path.is_file()]
    known = [one for one in found if one is not None]
    if known:
        print(f"\n{len(known)} traces; the largest difference of a figure is {100 * max(known):.3f} %")


def _row(path: Path, folder: Path, python: str) -> float | None:
    """Print a row; the largest difference, or None where nothing was compared."""
    name = path.relative_to(folder)
    try:
        theirs, ours = _of_hta(path, python), _of_dlprof(path)
    except (ToolError, DlprofError) as error:
        print(f"| {name} | - | - | - | - | - | not compared: {error} |", flush=True)
        return None
    apart, note = ours.apart(theirs), ""
    if apart >= _ALIKE:
        with tempfile.TemporaryDirectory() as made:
            apart = _of_dlprof(_launched_inside(path, Path(made))).apart(theirs)
        note = f" without what was launched before the trace; else {100 * ours.apart(theirs):.1f} %, {ours}"
    times = " | ".join(f"{us / 1000:,.3f}" for us in (theirs.idle, theirs.compute, theirs.other, theirs.whole))
    overlap = "-" if theirs.overlap is None else f"{theirs.overlap:.2f}"
    print(f"| {name} | {times} | {overlap} | {100 * apart:.3f} %{note} |", flush=True)
    return apart


def _launched_inside(path: Path, folder: Path) -> Path:
    """A copy of a trace without the work of devices whose launch is not in it."""
    with opened(path) as source:
        trace = json.load(source)
    events = trace["traceEvents"]
    launches = {_correlation(one) for one in events if str(one.get("cat")).endswith(_LAUNCHES)}
    kept = [one for one in events if one.get("cat") not in _OF_DEVICES or _correlation(one) in launches]
    copy = folder / f"{path.name.split('.')[0]}.json"
    copy.write_text(json.dumps({**trace, "traceEvents": kept}))
    return copy


def _correlation(event: dict[str, Any]) -> Any:
    return (event.get("args") or {}).get("correlation")


def _of_hta(path: Path, python: str) -> Figures:
    with tempfile.TemporaryDirectory() as folder:
        mine = Path(folder) / path.name
        mine.write_bytes(path.read_bytes())  # some write beside their input
        environment = {**os.environ, "HTA_DISABLE_NS_ROUNDING": "1"}
        done = subprocess.run(
            [python, "-c", _ASKED, str(mine)],
            capture_output=True,
            text=True,
            check=False,
            timeout=_LIMIT_S,
            env=environment,
        )
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.strip()]
        raise ToolError(f"HTA: {said[-1][:120] if said else done.returncode}")
    idle, compute, other, whole, overlap = json.loads(done.stdout.splitlines()[-1])
    is_known = overlap is not None and not math.isnan(overlap) and overlap > 0
    return Figures(idle, compute, other, whole, overlap if is_known else None)


def _of_dlprof(path: Path) -> Figures:
    with tempfile.TemporaryDirectory() as folder:
        run = import_files([path], Path(folder) / "run", reader=None, report=lambda _line: None)
        devices = device_time.of_run(run)
    if len(devices) != 1:
        raise ToolError(f"it has {len(devices)} devices")
    one = devices[0]
    overlap = 100 * one.communication_overlapped_ns / one.communication_ns if one.communication_ns else None
    idle, compute, other, whole = (ns / 1000 for ns in (one.idle_ns, one.compute_ns, one.non_compute_ns, one.span_ns))
    return Figures(idle, compute, other, whole, overlap or None)
