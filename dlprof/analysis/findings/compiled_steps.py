"""What steps that run operator by operator would save as one compiled function."""

from __future__ import annotations

from dlprof.analysis.findings.case import Case
from dlprof.schema.tree_paths import Tree, TreePath
from dlprof.schema.vocabulary import Category, StepPart

_STARTS, _KERNELS, _COMPILED = 0.85, 0.7, 0.85
"""What a graph saves under Keras: of starting operations; of kernels that it joins with others; of compilations one by
one."""
_ALONE = (Category.MATMUL, Category.CONV, Category.RECURRENT)
"""Kernels that a graph does not join with others."""
KERNELS_OF_STEPS = Tree.FIT_STEPS / StepPart.KERNELS


def op_by_op(case: Case) -> dict[TreePath, int]:
    """What a compiled step of Keras would save, by leaf (ns)."""
    takes = case.takes(Tree.FIT_STEPS, Tree.FIT_VALIDATION, share=_STARTS)
    takes.update(case.takes(KERNELS_OF_STEPS, share=_KERNELS))
    takes.update(case.takes(*(KERNELS_OF_STEPS / category for category in _ALONE), share=0.0))
    if case.engine.eager_compiles:
        takes.update(case.takes(Tree.FIT_GRAPH_COMPILE, share=_COMPILED))
    return takes


def kept_kernels(case: Case) -> float:
    """For how long operators would still run in the steps of training (ns)."""
    alone = sum(case.own(KERNELS_OF_STEPS / category) for category in _ALONE)
    return alone + (1 - _KERNELS) * (case.own(KERNELS_OF_STEPS) - alone)
