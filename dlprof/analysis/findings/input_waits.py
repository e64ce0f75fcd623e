"""What a training waited for its input, by leaf of the tree: between the steps, in them, and where neither shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

from dlprof.analysis import loops, trace_waits
from dlprof.analysis.columns import integers, steps_of
from dlprof.analysis.findings import doing
from dlprof.analysis.findings.finding import Abstain
from dlprof.schema.tree_paths import EDGES, IN_PARTS, STEPS_OF_LOOP, Tree, TreePath
from dlprof.schema.vocabulary import Loop, RunState, StepPart

if TYPE_CHECKING:
    from dlprof.analysis.findings.case import Case

USUAL = 0.10
"""Waiting for less than this share of the training is usual."""
_SHARE_OF_ARRAYS = 0.35
"""Cutting batches out of whole arrays costs Keras more than that only where steps are tiny: a cause of its own."""
_USERS = 0.2
"""Share of the waits in which code of the user's own must run to be behind them."""
_MOSTLY = 0.5
"""Share of the waits from which on the user's own code, on the calling thread, is what they are."""
_ITERATOR_NS = 500_000
"""What an iterator of the engine's own may take for a batch that is there: 0.4 ms were measured on a slow machine."""
_WAITED = Tree.FIT_STEPS / StepPart.INPUT
_HIDDEN_IN = (StepPart.IDLE, StepPart.SYNC, StepPart.DISPATCH, StepPart.HOST_PYTHON, EDGES)
"""Parts of a step that may be waits for a batch, in the order in which they are."""


MEASURED = frozenset((Tree.FIT_INPUT, *(root / StepPart.INPUT for root in IN_PARTS)))
"""Waits that a clock tells, whatever was waited for. All others are told by the code that was seen to make batches."""
_FEWEST_EPOCHS = 2
_LONG_NS, _TIMES = 20_000_000, 5
"""What the first step of an epoch takes beyond others, and how many times as long: making an iterator takes less."""


@dataclass(frozen=True)
class Beginnings:
    """First steps of epochs, which wait for what a pipeline does before its first batch.

    Attributes:
        count: How many; that of the first epoch, which compiles, is none of them.
        each_ns: What they take beyond a usual step, at the median (ns).
    """

    count: int
    each_ns: int


def beginnings(case: Case) -> Beginnings | None:
    """Where the step itself fetches its batch: how long the first one of each epoch is waited for; None: not long."""
    if case.pair or not case.input_inside_step or not loops.are_all_of_keras(case.run):
        return None
    columns = ("loop", "step", "epoch", "dur_ns", "compiled", "first")
    table = steps_of(case.run.filtered("steps", columns, lambda piece: pc.is_valid(piece["epoch"])), Loop.TRAIN)
    plain = table.filter(pc.invert(pc.fill_null(pc.or_kleene(table["compiled"], table["first"]), False)))
    begins = pc.equal(plain["step"], 0)
    first = integers(plain.filter(pc.and_(begins, pc.greater(plain["epoch"], 0)))["dur_ns"])
    others = integers(plain.filter(pc.invert(begins))["dur_ns"])
    if len(first) < _FEWEST_EPOCHS or not len(others):
        return None
    usual = float(np.median(others))
    each = float(np.median(first)) - usual
    return Beginnings(len(first), int(each)) if each >= max(_LONG_NS, _TIMES * usual) else None


def waits(case: Case) -> dict[TreePath, int]:
    """Waits in the loop of `fit`, of a foreign trace in all of it, by leaf (ns); empty where they are usual."""
    if is_of_trace(case):
        return _of_trace(case)
    takes = {**case.takes(Tree.FIT_INPUT, share=_of_waits(case)), **case.takes(_WAITED)}
    for hidden in (_hidden(case), _before_epochs(case)):
        for leaf, ns in hidden.items():
            takes[leaf] = max(takes.get(leaf, 0), ns)
    loop = loop_ns(case)
    users = case.code.share([Tree.FIT_INPUT], case.code.feeds) > _USERS
    least = _SHARE_OF_ARRAYS if case.calls.feed_arrays and not users and not case.pair else USUAL
    total = sum(takes.values())
    if total < least * loop:
        return {}
    if case.input_inside_step and not case.pair:
        # An iterator of the engine's own costs so much whatever it is fed with.
        its_own = min(USUAL * loop, _ITERATOR_NS * (case.loop.count if case.loop else 0))
        unusual = max(0.0, 1 - its_own / max(1, total))
        return {leaf: int(ns * unusual) for leaf, ns in takes.items()}
    return takes


def is_of_trace(case: Case) -> bool:
    """Whether the run is one of foreign traces, in which ranges and calls say when the program waited."""
    return case.run.manifest.state == RunState.IMPORTED


def need_told(case: Case) -> None:
    """Abstain of a foreign trace that says of nothing that it was a wait for a batch: there may have been some."""
    if is_of_trace(case) and not trace_waits.by_root(case.run):
        raise Abstain("the trace tells of no wait for a batch: of no loader's, and in no range of the script's own")


def _of_trace(case: Case) -> dict[TreePath, int]:
    """The same of a foreign trace: it may name no steps, or only some, and does not always tell whether they train."""
    waits = trace_waits.by_root(case.run)
    takes = {}
    for root, found in waits.items():
        if root in STEPS_OF_LOOP.values() or found.are_of_batches:
            takes.update(case.takes(root / StepPart.INPUT))
    return takes if sum(takes.values()) >= max(1.0, USUAL * loop_ns(case)) else {}


def seen(case: Case) -> int | None:
    """How many waits the trace holds, or how many steps the loop had; None: not known."""
    if is_of_trace(case):
        return sum(found.count for found in trace_waits.by_root(case.run).values()) or None
    return case.loop.count if case.loop else None


def _of_waits(case: Case) -> float:
    """Share of the waits between steps that is for batches.

    Where the step itself fetches its batch, these are waits for a pipeline that is set up or taken down. Code of the
    user's own that makes batches all through the steps, but rests meanwhile, is not what is waited for. Where that code
    runs on the calling thread for most of the wait, the rest is what Keras does with every batch; in a loop of the
    script's own it is what a loader does with the rows.
    """
    main = case.code.share([Tree.FIT_INPUT], case.code.feeds)
    if not case.input_inside_step:
        return main if main > _MOSTLY and loops.is_any_of_keras(case.run) else 1.0
    if case.code.share([Tree.FIT_STEPS], case.code.feeds, main=False) < _USERS:
        return 1.0
    return max(main, case.code.share([Tree.FIT_INPUT], case.code.feeds, main=False))


def _before_epochs(case: Case) -> dict[TreePath, int]:
    """Waits of the first steps of epochs: no steady step, and so no kernel window, shows them."""
    found = beginnings(case)
    if found is None:
        return {}
    quiet = (Tree.FIT_STEPS / part for part in _HIDDEN_IN)
    return case.filled(found.count * found.each_ns, _WAITED, *quiet, Tree.FIT_STEPS)


def _hidden(case: Case) -> dict[TreePath, int]:
    """Waits inside the step that its parts do not show: samples of user code that makes batches meanwhile.

    TensorFlow fetches the batch inside the step, from threads of its own; the step waits for them where no kernel runs.
    """
    main = case.code.share([Tree.FIT_STEPS], case.code.feeds)
    beside = min(case.code.share([Tree.FIT_STEPS], case.code.feeds, main=False), _may_be_waited_for(case))
    whole = max(1, case.own(Tree.FIT_STEPS))
    kernels = case.own(Tree.FIT_STEPS / StepPart.KERNELS) / whole
    # What starts operators from Python waits for Python's lock between them, whether or not one of them runs meanwhile.
    waited = beside - kernels if case.input_inside_step else beside * (1 - kernels)
    wanted = int(max(main, waited) * whole) - case.own(_WAITED)
    hidden = {}
    for part in _HIDDEN_IN:
        for leaf, ns in case.takes(Tree.FIT_STEPS / part).items():
            hidden[leaf] = max(0, min(ns, wanted))
            wanted -= hidden[leaf]
    return hidden


def _may_be_waited_for(case: Case) -> float:
    """Share of the steps in which the training may wait for what other threads make: 0 to 1.

    In a loop of the script's own that stands in a wait for a thread. A thread that is not waited for makes no batches:
    it saves or logs beside the training.
    """
    if case.input_inside_step or loops.is_any_of_keras(case.run) or not case.code.samples:
        return 1.0
    return case.code.share([Tree.FIT_STEPS], lambda sample: doing.waits_for_another(sample.frames))


def loop_ns(case: Case) -> int:
    """Steps, waits and callbacks of the training; of a foreign trace all that was traced (ns)."""
    if is_of_trace(case):
        return sum(case.own(root) for root in IN_PARTS)
    return sum(case.own(path) for path in (Tree.FIT_INPUT, Tree.FIT_STEPS, Tree.FIT_WAIT, Tree.FIT_CALLBACKS))
