"""Validation takes a good part of the training."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator, Sequence
from statistics import median

import pyarrow.compute as pc

from dlprof.analysis.findings import growing_lengths, own_evaluations, queries, recorded_evaluations
from dlprof.analysis.findings.calls import Call
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Sentence, Support
from dlprof.analysis.findings.title import Title
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Ground, Loop, SpanKind
from dlprof.units import times

TITLE = Title("Validation took a large part of the training", "validation")
_PREDICTED = Title("A callback called predict during the training", "predict, called by a callback")
_PREDICT_LESS = (
    "Call predict less often (once an epoch, or every so many batches), for fewer rows, or with a larger batch_size."
)
_OF_KERAS = "Validate on fewer samples, with a larger validation_batch_size, or every few epochs (validation_freq)."
_OWN = "Validate on fewer samples, with larger batches, or every few epochs."
_MADE_ONCE = (
    "Each of these calls compiled its function anew, as for a model that was made right before: make the model once, "
    "before the training, and call that. "
)
_COMPILING, _FEWEST = 0.8, 5
"""Share of the calls, and how many, that compile: a model that lasts does so in its first one."""
_OF_PIPELINES = "trace Dataset_"
"""What TensorFlow calls a function that it makes for a pipeline: each call of predict has a pipeline of its own."""
_TELLING_STEPS = 3
"""Steps of an evaluation from which on they tell what one takes."""
_OTHERS = 2
"""Calls behind the first one that tell what one usually takes."""
_SHARE_OF_FIT = 0.15
"""Validation usually takes less of `fit` than this."""


def look(case: Case) -> Iterator[Claim]:
    """Evaluation and prediction inside `fit`: its own, and that of callbacks; and what records graphs in vain."""
    recorded = list(recorded_evaluations.claims(case))
    yield from recorded
    try:
        case.calls.need_calls()
    except Abstain:
        if recorded:
            return  # what was said stays said
        raise
    yield from _of_time(case)


def _of_time(case: Case) -> Iterator[Claim]:
    """The claim where they take a good part of the training."""
    calls = case.calls.inside_fit(SpanKind.EVALUATE, SpanKind.PREDICT)
    by_phase = case.phases.of(call.interval for call in calls)
    if Tree.FIT_VALIDATION in by_phase:  # what has a cause of its own in it is told by that
        validated = max(0, by_phase[Tree.FIT_VALIDATION] - _queued_ns(case))
        by_phase[Tree.FIT_VALIDATION] = int(validated * (1 - own_evaluations.told_share(case)))
    for phase, ns in growing_lengths.told_of(case, calls).items():
        by_phase[phase] = max(0, by_phase.get(phase, 0) - ns)
    again = 1 - _once_ns(calls) / max(1, sum(call.dur_ns for call in calls))
    by_phase = {phase: int(ns * again) for phase, ns in by_phase.items()}
    total, fit = sum(by_phase.values()), case.own(Tree.FIT)
    if not total or total < _SHARE_OF_FIT * fit:
        return
    line = None
    if by_phase.get(Tree.FIT_CALLBACKS):
        line = case.code.hottest_line([Tree.FIT_CALLBACKS], case.code.is_called_back)
    # Keras itself never calls predict. Of an engine that returns early its time is a wait, in whatever phase.
    predicts = 2 * by_phase.get(Tree.FIT_VALIDATION, 0) < total and _mostly_predict(calls)
    own = own_evaluations.line_of_loop(case)
    what = "Callbacks called predict" if predicts else "Validation ran"
    anew = _MADE_ONCE if predicts and _each_compiles(case, calls) else ""
    yield Claim(
        Sentence(f"{what} {times(len(calls))} inside fit and took {100 * total / max(1, fit):.0f} % of it:"),
        case.spread(by_phase),
        [queries.spans(SpanKind.EVALUATE, SpanKind.PREDICT)],
        f"{anew}{_PREDICT_LESS}" if predicts else _OWN if own is not None else _OF_KERAS,
        line or own or case.training_line,
        title=_PREDICTED if predicts else None,
        fix=_fix_of_predict(anew) if predicts else None,
        support=Support(Ground.PLACE, seen=len(calls), part=total / max(1, fit), usual=_SHARE_OF_FIT / 2),
    )


def _queued_ns(case: Case) -> int:
    """For how long evaluations waited for what the training had the device do before them (ns).

    Where steps return before the device has done them, the first one of an evaluation waits until it comes to that: it
    takes so much longer than the others, without what is compiled in it.
    """
    if not case.asynchronous:
        return 0
    steps = case.run.table("steps", ("loop", "loop_id", "start_ns", "dur_ns"))
    tests = steps.filter(pc.equal(steps["loop"], Loop.TEST)).sort_by("start_ns")
    sums = [("start_ns", "first"), ("dur_ns", "first"), ("dur_ns", "approximate_median"), ("dur_ns", "count")]
    evaluations = tests.group_by("loop_id", use_threads=False).aggregate(sums)
    evaluations = evaluations.filter(pc.greater_equal(evaluations["dur_ns_count"], _TELLING_STEPS))
    begins = evaluations["start_ns_first"]
    ends = pc.add(begins, evaluations["dur_ns_first"])
    first = case.phases.of(zip(begins.to_pylist(), ends.to_pylist(), strict=True)).get(Tree.FIT_VALIDATION, 0)
    usual = pc.sum(evaluations["dur_ns_approximate_median"]).as_py() or 0
    return max(0, first - int(usual))


def _once_ns(calls: Sequence[Call]) -> int:
    """What the first calls of each kind take more than those after them (ns).

    They compile what the others run: that is done once, however seldom or often they are made.
    """
    once = 0
    for kind in {call.kind for call in calls}:
        first, *others = sorted((call for call in calls if call.kind == kind), key=lambda call: call.begin_ns)
        if len(others) >= _OTHERS:
            once += max(0, first.dur_ns - int(median(call.dur_ns for call in others)))
    return once


def _mostly_predict(calls: Sequence[Call]) -> bool:
    return 2 * sum(call.dur_ns for call in calls if call.kind == SpanKind.PREDICT) > sum(call.dur_ns for call in calls)


def _each_compiles(case: Case, calls: Sequence[Call]) -> bool:
    """Whether nearly all of these calls compiled something of the model's."""
    compiled = case.calls.with_phases(SpanKind.GRAPH_COMPILE)
    begins = sorted(call.begin_ns for call in compiled if not call.name.startswith(_OF_PIPELINES))
    compiling = [call for call in calls if bisect(begins, call.end_ns) > bisect(begins, call.begin_ns)]
    return len(calls) >= _FEWEST and len(compiling) >= _COMPILING * len(calls)


def _fix_of_predict(anew: str) -> str:
    return "make the model once, before fit" if anew else "predict every n-th epoch, or for fewer rows"
