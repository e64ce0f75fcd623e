"""The process waits for memory: it swaps, reads its own pages back, or touches new pages all the time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow.compute as pc

from dlprof.analysis.findings.case import WORK, Case
from dlprof.analysis.findings.finding import Abstain, Claim, Query, Remedy, Sentence, Support
from dlprof.analysis.findings.title import Title
from dlprof.analysis.shares import proportional
from dlprof.schema.tree_paths import Tree, TreePath
from dlprof.schema.vocabulary import Basis, Ground, StepPart

TITLE = Title("The training waited for memory", "waiting for memory")
_USUAL_SYSTEM = 0.05
"""Share of the CPU time that a training spends inside the kernel anyway."""
_PHASES = (
    Tree.FIT_INPUT,
    Tree.FIT_STEPS,
    Tree.FIT_WAIT,
    Tree.FIT_CALLBACKS,
    Tree.FIT_VALIDATION,
    Tree.EVALUATE,
    Tree.PREDICT,
)
_WAITED = Tree.FIT_STEPS / StepPart.INPUT
_FAULTS_PER_S = 100_000
"""More new pages per second than this are no longer the usual growth of a training."""
_AROUND_NS = 200_000_000
_LEAST_STALLED_NS = 50_000_000
_ADVICE = (
    "Make no large arrays anew all the time: none of all pairs that is summed up right after (products do that: "
    "cdist, matmul, einsum), reuse buffers, compute in place, use a smaller batch; huge pages make new memory cheaper: "
    "GLIBC_TUNABLES=glibc.malloc.hugetlb=1."
)
_NONE_LEFT = 0.02
"""Share of the machine's memory that is available at the least, where it was full."""
_SMALL = 0.5
"""Share of it that this process and those below it had at most, where others had filled it."""
_OTHERS = (
    "Other programs had filled the memory of the machine: end them, or run when they are gone (free -h, and who is "
    "largest in top)."
)
_EVIDENCE = (
    Query(
        "memory and faults over time",
        "SELECT time_ns, rss_bytes, faults_minor, faults_major FROM process_samples ORDER BY time_ns",
    ),
    Query(
        "stalls of the machine",
        "SELECT time_ns, memory_available_bytes, swap_used_bytes, stall_memory_ns FROM machine ORDER BY time_ns",
    ),
)


def look(case: Case) -> Iterator[Claim]:
    """Stalls that the kernel counts, pages read from disk, and new pages."""
    stalled = case.machine.counter_growth("stall_memory_ns")
    rows = case.machine.process_samples("faults_minor", "faults_major", "rss_bytes", around_ns=_AROUND_NS)
    if rows.num_rows < 2:
        raise Abstain("page faults were not sampled during the training")
    first, last = rows.take([0, rows.num_rows - 1]).to_pylist()
    minor, major = (last[name] - first[name] for name in ("faults_minor", "faults_major"))
    span_s = (last["time_ns"] - first["time_ns"]) / 1e9
    lost = stalled or 0
    if minor / max(1e-3, span_s) > _FAULTS_PER_S:
        lost += int(_in_system(case) * sum(case.own(top) for top in WORK))
    if lost < 1 or (lost == stalled and stalled < _LEAST_STALLED_NS):
        return
    peak = pc.max(rows["rss_bytes"]).as_py()
    by_others = _is_by_others(case)
    inside = {phase: case.own(phase) for phase in _PHASES}
    inside[Tree.SCRIPT] = case.phases.of([case.phases.training_span]).get(Tree.SCRIPT, 0)
    yield Claim(
        Sentence(
            "The process waited for memory,",
            f": {minor:,} new pages and {major:,} pages from disk while training, {_told(stalled)}, "
            f"{peak / 1e9:.2f} GB at its largest{', and none left on the machine' if by_others else ''}.",
        ),
        _spread(case, inside, lost),
        _EVIDENCE,
        _OTHERS if by_others else _ADVICE,
        case.code.hottest_line(tuple(inside), case.code.is_called_back),
        None if by_others else Remedy("huge pages", {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}),
        basis=Basis.ESTIMATED,
        support=Support(Ground.STATED if 2 * (stalled or 0) >= lost else Ground.MODEL),
    )


def _is_by_others(case: Case) -> bool:
    """Whether the machine's memory was full, and this process and those below it had little of it."""
    whole = case.run.manifest.machine.memory_bytes
    least = pc.min(case.run.table("machine", ("memory_available_bytes",))["memory_available_bytes"]).as_py()
    if not whole or least is None or least > _NONE_LEFT * whole:
        return False
    samples = case.run.table("process_samples", ("time_ns", "rss_bytes")).group_by("time_ns")
    return bool(pc.max(samples.aggregate([("rss_bytes", "sum")])["rss_bytes_sum"]).as_py() <= _SMALL * whole)


def _spread(case: Case, inside: Mapping[TreePath, int], lost: int) -> dict[TreePath, int]:
    """Time by leaf: where code of the script's own was called that makes new arrays; what is left, everywhere.

    Engines keep their memory; a callback, a generator or a pipeline that makes large arrays gets it anew each time.
    """
    is_called_back = case.code.is_called_back
    called = {phase: int(case.code.share([phase], is_called_back) * ns) for phase, ns in inside.items()}
    beside = case.code.share([Tree.FIT_STEPS], is_called_back, main=False)
    called[_WAITED] = min(int(beside * case.own(Tree.FIT_STEPS)), case.own(_WAITED))
    first = proportional(min(lost, sum(called.values())), called)
    rest = proportional(lost - sum(first.values()), inside)
    takes = case.spread(rest)
    for leaf, ns in case.spread(first).items():
        takes[leaf] = takes.get(leaf, 0) + ns
    return takes


def _in_system(case: Case) -> float:
    """Share of the process's CPU time inside the kernel, beyond the usual: that is where new pages are made."""
    process = case.run.manifest.process
    user, system = process.cpu_user_ns, process.cpu_system_ns
    if not user or system is None:
        raise Abstain("the CPU time of the process is not known")
    return max(0.0, float(system / (user + system)) - _USUAL_SYSTEM)


def _told(stalled: int | None) -> str:
    if stalled is None:
        return "stalls of the machine not measured"
    return f"{stalled / 1e6:.0f} ms of stalls on the machine"
