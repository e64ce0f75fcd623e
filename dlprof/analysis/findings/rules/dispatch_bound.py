"""Steps or kernels are so small that starting them takes longer than computing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from dlprof.analysis import columns, training_threads
from dlprof.analysis.findings import graph_loops, heavy_weights, side_by_side, single_calls, small_calls, unseen_work
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Query, Remedy, Sentence, Support
from dlprof.analysis.findings.title import Title
from dlprof.analysis.steps import StepSummary
from dlprof.schema.tree_paths import EDGES, Tree, TreePath
from dlprof.schema.vocabulary import Basis, Ground, Phase, SpanKind, StepPart

TITLE = Title("Steps too small: starting them cost more than computing", "starting the work of small steps")
_LARGE_BATCH = 128
_SHARE = 0.50
"""Share of the steps that costs the same whatever their size: no kernel ran, or one that updates weights."""
_SHARE_OF_LARGE = 0.75
"""Share of the steps in which no kernel ran, where the batch is large already, or not known."""
_USUAL_BATCH = 32
"""What libraries have by default: from here on it is no slip, and starting must cost more to be a cause."""
_SHARE_OF_USUAL = 0.65
_GAIN_OF_LARGE = 0.5
_SHARE_OF_GAP = 0.03
_STEPS = 50
_LARGE_STEP_NS = 100_000_000
"""A step that takes so long is not small, whatever it does outside of kernels."""
_STEPS_AT_ONCE = 16
_BESIDE = "the steps ran on another thread than the one that phases are of"
_STARTING = (StepPart.DISPATCH, StepPart.HOST_PYTHON, StepPart.IDLE, StepPart.SYNC, EDGES)
_EVIDENCE = (
    Query(
        "steps",
        "SELECT loop, count(*) AS steps, median(dur_ns) AS step_ns, median(call_ns) AS call_ns, max(samples) "
        "AS samples FROM steps GROUP BY loop",
    ),
    Query(
        "kernels of a window",
        "SELECT count(*) AS kernels, sum(self_ns) AS total_ns, median(self_ns) AS median_ns "
        "FROM kernels WHERE kind IN ('kernel', 'operator')",
    ),
)

_NO_STEPS = "the run had no steps"


def look(case: Case) -> Iterator[Claim]:
    """Calls for a few rows or a moment; steps with little time in kernels; in a pair, what starting work takes more."""
    small = [*small_calls.claims(case), *single_calls.claims(case)]
    yield from small
    unknown = _unknown(case)
    if case.loop is None or case.steps is None or unknown:
        if small:
            return  # what was said stays said
        raise Abstain(unknown or _NO_STEPS)
    loops = list(graph_loops.claims(case))
    loops = loops or list(side_by_side.claims(case))
    if loops:
        yield from loops
        return
    batch = _batch(case)
    overhead = _overhead(case, case.steps)
    if case.pair:
        takes = _of_pair(case, overhead)
    else:
        takes = _of_run(case, case.steps, _without_standing(case, overhead), batch, case.loop)
    if not takes or (not case.pair and (case.loop.median_ns or 0) > _LARGE_STEP_NS):
        return
    step_ms = (case.loop.median_ns or 0) / 1e6
    yield Claim(
        Sentence(
            f"{case.loop.count:,} steps{f' of {batch} samples' if batch else ''} of {step_ms:.2f} ms: starting the "
            "work of a step takes longer than it should,"
        ),
        takes,
        _EVIDENCE,
        _advice(case),
        remedy=_remedy(case, batch),
        basis=Basis.ESTIMATED,
        support=_support(case, batch),
        of_rest=not case.pair,
    )


def _advice(case: Case) -> str:
    if case.training is not None and case.engine.joins_steps and "steps_per_execution" in case.training.settings:
        return "Use a larger batch, or steps_per_execution, so that each start has more to do."
    return "Use a larger batch, so that each start has more to do."


def _unknown(case: Case) -> str | None:
    """Why nothing can be said of the steps; None: something can."""
    if case.loop is None:
        return _NO_STEPS
    if case.steps is None:
        return _BESIDE if training_threads.of_run(case.run) else _NO_STEPS
    if case.devices.foreign and not case.pair:  # a device may be idle for any reason, however large its batch is
        return "a foreign trace does not tell its batch; gaps of a device tell more: small-kernels, gpu-idle"
    if case.tree.unsplit is not None:
        return f"the steps are not split: {case.tree.unsplit}"
    return None


def _support(case: Case, batch: int | None) -> Support:
    """Nothing tells whether more can be done at once where the batch is not known, or is large: that is a question.

    Steps of a few rows are work that is done again and again where one step would do.
    """
    is_known = case.pair or (batch is not None and batch < _LARGE_BATCH)
    loop = case.loop
    apart = loop.p95_ns / loop.median_ns - 1 if loop is not None and loop.p95_ns and loop.median_ns else None
    ground = Ground.REPEATED if batch is not None and batch <= small_calls.ROWS else Ground.MODEL
    return Support(ground, seen=case.kernels.seen_steps, agree=1.0 if is_known else 0.0, spread=apart)


def _overhead(case: Case, root: TreePath) -> dict[TreePath, int]:
    """What starting the work of the steps takes, and Keras' own work between them, by leaf (ns)."""
    overhead = case.takes(*(root / part for part in _STARTING))
    if root == Tree.FIT_STEPS and case.calls.feed_arrays:
        overhead.update(case.takes(Tree.FIT_INPUT, root / StepPart.INPUT))
        overhead.update(case.takes(Tree.FIT_CALLBACKS, share=_of_keras(case)))
    return overhead


def _without_standing(case: Case, overhead: Mapping[TreePath, int]) -> dict[TreePath, int]:
    """The same without what the host stood still in: collectives with other ranks, and waits for what no step started.

    No kernel of a step runs then, either.
    """
    begin, end = case.phases.training_span
    rows = case.run.table("collectives", ("start_ns", "blocked_ns"))
    start, blocked = columns.integers(rows["start_ns"]), columns.integers(rows["blocked_ns"])
    stood = int(blocked[(start >= begin) & (start < end)].sum()) + unseen_work.waited_ns(case)
    left = max(0.0, 1 - stood / max(1, sum(overhead.values())))
    return {leaf: int(ns * left) for leaf, ns in overhead.items()} if stood else dict(overhead)


def _of_keras(case: Case) -> float:
    """Share of the callbacks that Keras has at every step: without saves and evaluations."""
    calls = case.calls.with_phases(SpanKind.SAVE, SpanKind.EVALUATE, SpanKind.PREDICT)
    apart = case.phases.of(call.interval for call in calls).get(Tree.FIT_CALLBACKS, 0)
    return max(0.0, 1 - apart / max(1, case.phases.host(Phase.FIT_CALLBACKS)))


def _of_pair(case: Case, overhead: Mapping[TreePath, int]) -> Mapping[TreePath, int]:
    return overhead if sum(overhead.values()) >= _SHARE_OF_GAP * case.whole_ns else {}


def _of_run(
    case: Case, root: TreePath, overhead: Mapping[TreePath, int], batch: int | None, loop: StepSummary
) -> Mapping[TreePath, int]:
    """What larger batches would save, by leaf (ns); empty: hardly anything."""
    updates = heavy_weights.updates(case)
    gain = _gain(case.own(root / StepPart.KERNELS), sum(overhead.values()), sum(updates.values()), batch)
    if not gain or loop.count < _STEPS:
        return {}
    leaves = dict.fromkeys([*overhead, *updates])
    return {leaf: int((overhead.get(leaf, 0) + updates.get(leaf, 0)) * gain) for leaf in leaves}


def _gain(kernels: int, overhead: int, updates: int, batch: int | None) -> float:
    """Share of what a step costs whatever its size that larger batches would save; 0: steps are full of kernels."""
    whole = max(1, overhead + kernels)
    if batch is not None and batch < _LARGE_BATCH:
        least = _SHARE if batch < _USUAL_BATCH else _SHARE_OF_USUAL
        return 1 - batch / _LARGE_BATCH if (overhead + updates) / whole >= least else 0.0
    return _GAIN_OF_LARGE if overhead / whole >= _SHARE_OF_LARGE else 0.0


def _remedy(case: Case, batch: int | None) -> Remedy | None:
    told = case.training
    if case.engine.joins_steps and told and told.settings.get("steps_per_execution") == 1:
        return Remedy("16 steps per execution", {}, {"steps_per_execution": _STEPS_AT_ONCE})
    return Remedy("batch size 128", {}, {"batch_size": _LARGE_BATCH}) if batch and batch < _LARGE_BATCH else None


def _batch(case: Case) -> int | None:
    """Samples of a usual step."""
    told = case.training.batch_size if case.training else None
    if told:
        return told
    samples = case.run.table("steps", ("samples",))["samples"].drop_null().to_numpy()
    return int(np.sort(samples)[len(samples) // 2]) if len(samples) else None
