"""The process waits for memory: it swaps, reads its own pages back, or touches new pages all the time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow.compute as pc

from dlprof.analysis.findings import (
    chained_products,
    dense_rows,
    flattened_maps,
    handed_over,
    heavy_weights,
    new_pages,
    one_hot_products,
    one_hot_targets,
    own_loop_waits,
    pair_differences,
    recorded_evaluations,
)
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Query, Remedy, Sentence, Support
from dlprof.analysis.findings.new_pages import NewPages
from dlprof.analysis.findings.rules import costly_metric, costly_operator
from dlprof.analysis.findings.title import Title
from dlprof.analysis.shares import proportional
from dlprof.schema.tree_paths import Tree, TreePath
from dlprof.schema.vocabulary import Basis, Ground, StepPart

TITLE = Title("The training waited for memory", "waiting for memory")
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
_OF_ENGINES = tuple(Tree.FIT_STEPS / part for part in (StepPart.KERNELS, StepPart.DISPATCH, StepPart.TRANSFER))
"""Parts of a step in which arrays are the engine's own: which ones its operators make anew is no matter of a script."""
_HOST_PYTHON = Tree.FIT_STEPS / StepPart.HOST_PYTHON
_MOSTLY = 0.5
_LEAST_STALLED_NS = 50_000_000
_NONE_ANEW = (
    "Make no large arrays anew all the time: none of all pairs that is summed up right after (products do that: "
    "cdist, matmul, einsum), reuse buffers, compute in place, use a smaller batch."
)
_KEEPS = (
    f"{_NONE_ANEW} Or let malloc keep what is freed, rather than give it back to the kernel and get it anew: set "
    "GLIBC_TUNABLES before the program starts, in which case it stays as large as it ever was."
)
_OF_GRAPHS = (
    "See first whether that is gone with the evaluation under torch.no_grad(): what its forward passes record for a "
    "way back is memory that is new each time."
)
_USE_LESS = (
    "Use less memory: a smaller batch, data read in pieces or with fewer bytes a number, no second copy of them."
)
_KEPT = ":".join(
    f"glibc.malloc.{name}={value}"
    for name, value in {
        "mmap_threshold": 1 << 32,  # no array is a mapping of its own, which goes when it is freed
        "trim_threshold": 1 << 32,  # nothing at the end of the heap goes either
        "top_pad": 1 << 26,  # heaps grow by so much at a time
        "arena_max": 1,  # heaps of other threads hold 64 MB, and what is larger is a mapping again
    }.items()
)
"""Settings of glibc with which memory that was freed stays with the process.

Measured on two cores of a virtual machine: a Keras script on TensorFlow that took 42 s takes 14 s with them, and 20 s
with huge pages; another one 8.2 s in place of 10.6 s (medians of three). Of the time that JAX and PyTorch spend in the
kernel a third to a half is left; without `arena_max` all of JAX's.
"""
_TUNABLES, _PRELOADED = "GLIBC_TUNABLES", "LD_PRELOAD"
_NONE_LEFT = 0.02
"""Share of the machine's memory that is available at the least, where it was full."""
_SMALL = 0.5
"""Share of it that this process and those below it had at most, where others had filled it."""
_OTHERS = (
    "Other programs had filled the memory of the machine: end them, or run when they are gone (free -h, and who is "
    "largest in top)."
)
_EVIDENCE = (
    new_pages.SAMPLES,
    Query(
        "stalls of the machine",
        "SELECT time_ns, memory_available_bytes, swap_used_bytes, stall_memory_ns FROM machine ORDER BY time_ns",
    ),
)


def look(case: Case) -> Iterator[Claim]:
    """Stalls that the kernel counts, pages read from disk, and new pages."""
    stalled = case.machine.counter_growth("stall_memory_ns")
    pages = new_pages.of_training(case)
    touched = int(pages.waited_ns * (1 - max(_received(case, pages), _explained(case, pages))))
    lost = (stalled or 0) + touched
    if lost < 1 or (lost == stalled and stalled < _LEAST_STALLED_NS):
        return
    by_others = _is_by_others(case)
    inside = {phase: case.own(phase) for phase in _PHASES}
    inside[Tree.SCRIPT] = case.phases.of([case.phases.training_span]).get(Tree.SCRIPT, 0)
    line = case.code.hottest_line(tuple(inside), case.code.is_called_back)
    targets = one_hot_targets.said(case) if not by_others and one_hot_targets.are_made_at(case, line) else None
    are_new = 2 * touched > lost
    records = are_new and targets is None and any(recorded_evaluations.claims(case))
    kept = _kept(case) if are_new and not by_others and not records else None
    takes = _spread(case, inside, lost)
    is_stated = targets is not None or 2 * (stalled or 0) >= lost
    yield Claim(
        Sentence(
            "The process waited for memory,",
            f": {pages.minor:,} new pages and {pages.major:,} pages from disk while training, {_told(stalled)}, "
            f"{pages.peak_bytes / 1e9:.2f} GB at its largest{', and none left on the machine' if by_others else ''}.",
        ),
        takes,
        _EVIDENCE,
        _OTHERS if by_others else _OF_GRAPHS if records else _advice(targets, kept, are_new=are_new),
        line,
        Remedy("memory kept by malloc", {_TUNABLES: kept}) if kept else None,
        basis=Basis.ESTIMATED,
        support=Support(Ground.STATED) if is_stated else Support(Ground.MODEL, agree=_of_script(case, takes)),
        fix=one_hot_targets.FIX
        if targets
        else recorded_evaluations.FIX
        if records and not by_others
        else f"{_TUNABLES}={kept}"
        if kept
        else None,
    )


def _advice(targets: str | None, kept: str | None, *, are_new: bool) -> str:
    if targets:
        return targets
    if not are_new:
        return _USE_LESS
    return _KEEPS if kept else _NONE_ANEW


def _kept(case: Case) -> str | None:
    """Settings with which malloc keeps memory, beside those of the run; None: it had them, or another malloc."""
    environment = case.run.manifest.environment
    had = environment.get(_TUNABLES) or ""
    if "glibc.malloc." in had or "malloc" in (environment.get(_PRELOADED) or ""):
        return None
    return f"{had}:{_KEPT}" if had else _KEPT


def _explained(case: Case, pages: NewPages) -> float:
    """The share of new pages that another rule has the cause of."""
    if not pages.waited_ns or case.steps is None or case.tree.unsplit is not None:
        return 0.0
    kernels = _of_other_causes(case, case.steps)
    if kernels is not None:
        return new_pages.share_of_kernels(case, kernels)
    weights = heavy_weights.largest(case)
    if weights is None:
        kernels = dense_rows.by_conversions(case)
        return new_pages.share_of_kernels(case, kernels) if kernels is not None else 0.0
    if dense_rows.found(case, weights) is None and flattened_maps.found(case, weights) is None:
        return 0.0
    return new_pages.share_of(case, pages, weights)


def _of_other_causes(case: Case, steps: TreePath) -> Mapping[TreePath, int] | None:
    """Kernels that make large arrays by a cause of their own, by leaf (ns).

    These are one-hot arrays, all pairs, products that are multiplied again, copies of which a part is changed, and what
    metrics compare with thresholds.
    """
    one_hot = one_hot_products.of_case(case)
    if one_hot is not None:
        return one_hot.kernels
    pairs = pair_differences.of_case(case)
    if pairs is not None:
        return {steps: int(pairs.share * case.own(steps))}
    chained = chained_products.of_case(case)
    if chained is not None:
        return chained.kernels
    if case.pair:
        return None
    return heavy_weights.added(costly_operator.copying(case), costly_metric.kernels(case)) or None


def _received(case: Case, pages: NewPages) -> float:
    """The share of new pages in which a loop gets what workers of its own send back, where it waits for that."""
    of_step = handed_over.received_bytes(case)
    if of_step is None or case.loop is None or not pages.minor or not own_loop_waits.is_claimed(case):
        return 0.0
    return min(1.0, of_step * case.loop.count / new_pages.PAGE_BYTES / pages.minor)


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


def _of_script(case: Case, takes: Mapping[TreePath, int]) -> float:
    """How much speaks for pages that code of the script's makes: all, where most of the time is not in the engine.

    Engines get arrays for what their operators return, and malloc gives large ones back to the kernel. That is so in
    any script of large arrays: it takes its time, but whether the script could do without, its pages do not tell.
    """
    engines = sum(ns for leaf, ns in takes.items() if any(part.holds(leaf) for part in _OF_ENGINES))
    python = sum(ns for leaf, ns in takes.items() if _HOST_PYTHON.holds(leaf))
    # Calls of compiled functions leave no frame: what is copied for them stands in the line that calls.
    calling_ns = case.code.share([Tree.FIT_STEPS], case.code.calls_compiled) * case.own(Tree.FIT_STEPS)
    engines += int(python * min(1.0, calling_ns / max(1, case.own(_HOST_PYTHON))))
    own = 1 - engines / max(1, sum(takes.values()))
    return 1.0 if own >= _MOSTLY else own


def _told(stalled: int | None) -> str:
    if stalled is None:
        return "stalls of the machine not measured"
    return f"{stalled / 1e6:.0f} ms of stalls on the machine"
