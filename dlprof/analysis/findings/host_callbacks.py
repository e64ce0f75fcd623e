"""Compiled steps that call back into Python: the engine hands its values over, and waits for what comes back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dlprof.analysis import samples
from dlprof.analysis.findings import queries, standing
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence
from dlprof.analysis.findings.pairs import of_the_slower
from dlprof.analysis.findings.title import Title
from dlprof.analysis.samples import Sample
from dlprof.schema.tree_paths import Tree, TreePath
from dlprof.schema.vocabulary import Basis, Ground, Phase

_TITLE = Title("The compiled step called back into Python", "calling Python from the compiled step")
_PATHS = (Tree.FIT_STEPS, Tree.SCRIPT)
_SHARE_OF_WORK = 0.05
_MOST = 0.5
"""Of the time in which no operator runs, from which on the function is why none does."""
_GOOD_PART = 0.25
"""The same, where the main thread stands in the compiled step meanwhile."""
_FIXES = {
    "mxnet": "the same with operators of mx.sym (mx.nd) in place of mx.operator.CustomOp",
    "jax": "the same with jax.numpy in place of jax.pure_callback; jax.debug.callback only every so many steps",
    "tensorflow": "the same with operations of tf in place of tf.py_function and tf.numpy_function",
}


@of_the_slower
def claims(case: Case) -> Iterator[Claim]:
    """One, where Python that a compiled function called stands in the stacks for a good part of the loops."""
    if not case.engine.callback_files:
        return
    share = min(1.0, sum(case.code.share(_PATHS, samples.is_callback, main=main) for main in (True, False)))
    takes = _with_handing_over(case, case.takes(*_PATHS, share=share))
    if sum(takes.values()) < _SHARE_OF_WORK * case.whole_ns:
        return
    yield Claim(
        Sentence("The compiled step calls Python, and waits until that has computed and handed its values back:"),
        takes,
        [queries.python_stood(Phase.FIT_STEPS, Phase.SCRIPT)],
        "Write it with operations of the engine, so that it is compiled with the rest; where it only tells something, "
        "call it every so many steps.",
        case.code.hottest_line(_PATHS, samples.is_callback, main=False)
        or case.code.hottest_line(_PATHS, samples.is_callback),
        basis=Basis.ESTIMATED,
        title=_TITLE,
        support=case.code.support(_PATHS, samples.is_callback, main=None, ground=Ground.STATED),
        fix=_FIXES.get(case.backend),
    )


def _with_handing_over(case: Case, seen: Mapping[TreePath, int]) -> Mapping[TreePath, int]:
    """What the function takes as it was seen, and what starting it on a thread of the engine's takes, by leaf (ns).

    That leaves no stack. Where the function has most of the steps in which no operator runs, the rest of them is that:
    a compiled step without it computes nothing there. Where the main thread is seen to stand in the compiled step
    meanwhile, a good part is enough, of what Python of the loop's own does not take.
    """
    quiet = case.takes(*standing.QUIET_STEPS)
    whole, told = sum(quiet.values()), sum(seen.values())
    if _MOST * whole <= told < whole:
        return quiet
    inside = case.code.share((Tree.FIT_STEPS,), lambda sample: _is_in_compiled(case, sample))
    waits = whole - (1 - inside) * case.own(Tree.FIT_STEPS)
    if inside < _MOST or not _GOOD_PART * waits <= told < waits:
        return seen
    return {leaf: int(ns * waits / whole) for leaf, ns in quiet.items()}


def _is_in_compiled(case: Case, sample: Sample) -> bool:
    """Whether a stack stands in a call of a compiled function, or where the engine waits for one."""
    names = {*case.engine.compiled_functions, *case.engine.waiting_functions}
    return case.code.calls_compiled(sample) or any(frame.name in names for frame in sample.frames)
