"""Memory that a training touches for the first time: the kernel makes its pages, and takes them back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pyarrow.compute as pc

from dlprof.analysis.findings import heavy_weights
from dlprof.analysis.findings.case import WORK, Case
from dlprof.analysis.findings.finding import Abstain, Query
from dlprof.analysis.findings.heavy_weights import Weights
from dlprof.analysis.shares import proportional
from dlprof.schema.tree_paths import TreePath
from dlprof.schema.vocabulary import Direction, StepPart

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


def of_weights_ns(case: Case, weights: Weights) -> int:
    """What pages took of arrays as large as some weights, made in each step (ns); 0: nothing, or not sampled."""
    return _taken_ns(case, lambda pages: share_of(case, pages, weights))


def of_kernels_ns(case: Case, kernels: Mapping[TreePath, int]) -> int:
    """What pages took that some kernels touch first (ns); 0: nothing, or not sampled."""
    return _taken_ns(case, lambda _pages: share_of_kernels(case, kernels))


def _taken_ns(case: Case, share: Callable[[NewPages], float]) -> int:
    try:
        pages = of_training(case)
    except Abstain:
        return 0
    return int(pages.waited_ns * share(pages))


def share_of_kernels(case: Case, kernels: Mapping[TreePath, int]) -> float:
    """The share of new pages that some kernels touch first: as much as they are of all kernels, where that is most."""
    whole = case.own(case.steps / StepPart.KERNELS) if case.steps is not None else 0
    share = min(1.0, sum(kernels.values()) / whole) if whole else 0.0
    return share if share >= _EXPLAINED else 0.0


def share_of(case: Case, pages: NewPages, weights: Weights) -> float:
    """The share of them that are of arrays as large as some weights, made anew in each step: 0 to 1.

    One is the gradient; others are what an optimiser makes that updates its weights operator by operator.
    """
    if not weights.bytes or not pages.minor or case.loop is None:
        return 0.0
    arrays = 1 + _made_by_update(case)
    share = min(1.0, arrays * case.loop.count * weights.bytes / PAGE_BYTES / pages.minor)
    return share if share >= _EXPLAINED else 0.0


def _made_by_update(case: Case) -> int:
    """Arrays that the update of one array of weights makes, where its operators tell that."""
    updated, steps = len(heavy_weights.shapes(case)), case.kernels.window_steps
    if not updated or not steps:
        return 0
    rows = (row for row in case.kernels.operators.rows if row.direction == Direction.UPDATE)
    making = (row.count for row in rows if row.op in case.engine.array_making_updates)
    return sum(round(count / steps / updated) for count in making)


def beside_kernels(case: Case, steps: TreePath, kernels: Mapping[TreePath, int], pages_ns: int) -> dict[TreePath, int]:
    """Kernels that go through such arrays, and what pages took beside them, where memory is given back (ns).

    Pages are made inside of these kernels, so their time is in the kernels' already.
    """
    all_kernels = steps / StepPart.KERNELS
    leaves = case.tree.leaves.items()
    beside = {leaf: ns for leaf, ns in leaves if steps.holds(leaf) and not all_kernels.holds(leaf)}
    shared = proportional(pages_ns, {**beside, all_kernels: sum(kernels.values())})
    return {**kernels, **{leaf: min(ns, shared[leaf]) for leaf, ns in beside.items()}}


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
