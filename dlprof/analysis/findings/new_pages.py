"""Memory that a training touches for the first time: the kernel makes its pages, and takes them back."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow.compute as pc

from dlprof.analysis.findings.case import WORK, Case
from dlprof.analysis.findings.finding import Abstain, Query
from dlprof.analysis.findings.heavy_weights import Weights

PAGE_BYTES = 4096
"""Of a usual Linux on x86-64; where pages are larger, arrays explain fewer of them than they should."""
SAMPLES = Query(
    "memory and faults over time",
    "SELECT time_ns, rss_bytes, faults_minor, faults_major FROM process_samples ORDER BY time_ns",
)
_USUAL_SYSTEM = 0.05
"""Share of the CPU time that a training spends inside the kernel anyway."""
_A_SECOND = 100_000
"""More new pages per second than this are no longer the usual growth of a training."""
_AROUND_NS = 200_000_000
_EXPLAINED = 0.5
"""An array that is made anew in each step explains new pages where it has this share of them at least."""


@dataclass(frozen=True)
class NewPages:
    """Page faults while a run trained.

    Attributes:
        minor: Pages that were made.
        major: Pages that were read from disk.
        peak_bytes: Resident memory of the process at its largest.
        waited_ns: What making them took of the user's work (ns); 0: there were no more of them than usual.
    """

    minor: int
    major: int
    peak_bytes: int
    waited_ns: int


def of_training(case: Case) -> NewPages:
    """The page faults of the traced process.

    Raises:
        Abstain: They were not sampled during the training.
    """
    rows = case.machine.process_samples("faults_minor", "faults_major", "rss_bytes", around_ns=_AROUND_NS)
    if rows.num_rows < 2:
        raise Abstain("page faults were not sampled during the training")
    first, last = rows.take([0, rows.num_rows - 1]).to_pylist()
    minor, major = (last[name] - first[name] for name in ("faults_minor", "faults_major"))
    span_s = (last["time_ns"] - first["time_ns"]) / 1e9
    waited_ns = 0
    if minor / max(1e-3, span_s) > _A_SECOND:
        waited_ns = int(_in_kernel(case, minor) * sum(case.own(top) for top in WORK))
    return NewPages(minor, major, pc.max(rows["rss_bytes"]).as_py(), waited_ns)


def share_of(case: Case, pages: NewPages, weights: Weights) -> float:
    """The share of them that are those of a gradient as large as some weights, made anew in each step: 0 to 1."""
    if not weights.bytes or not pages.minor or case.loop is None:
        return 0.0
    share = min(1.0, case.loop.count * weights.bytes / PAGE_BYTES / pages.minor)
    return share if share >= _EXPLAINED else 0.0


def _in_kernel(case: Case, minor: int) -> float:
    """The share of the CPU time of a training inside the kernel, beyond the usual: that is where pages are made."""
    process = case.run.manifest.process
    user, system = process.cpu_user_ns, process.cpu_system_ns
    if not user or system is None:
        raise Abstain("the CPU time of the process is not known")
    share = system / (user + system)
    try:
        running_ns = case.machine.scheduling.run_ns
    except Abstain:
        running_ns = 0
    if running_ns:  # only the sum over the process is known of time in the kernel: it is shared out by pages
        everywhere = pc.max(case.machine.process_samples("faults_minor", around_ns=case.tree.wall_ns)["faults_minor"])
        share = min(1.0, system * minor / max(1, everywhere.as_py()) / running_ns)
    return max(0.0, share - _USUAL_SYSTEM)
