"""Waits for values, beyond what kernels of the traced steps take: another function was started, and is waited for."""

from __future__ import annotations

from dlprof.analysis import samples
from dlprof.analysis.findings.case import Case
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import StepPart


def waited_ns(case: Case) -> int:
    """For how long the training waited for values that no kernel of its steps explains (ns).

    Only of engines that work on while Python goes on: of others a wait stands where the work was asked for.
    """
    if not case.asynchronous or case.steps != Tree.FIT_STEPS:
        return 0
    return case.run.once("waits for what no step computes", lambda _run: _beyond_kernels(case))


def _beyond_kernels(case: Case) -> int:
    share = case.code.share((Tree.FIT_STEPS,), lambda sample: samples.is_waiting(sample.frames))
    kernels = case.own(Tree.FIT_STEPS / StepPart.KERNELS)
    return max(0, int(share * case.own(Tree.FIT_STEPS)) - kernels)
