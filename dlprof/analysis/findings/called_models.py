"""Models that the script's own loop calls many times in each step, outside of what a gradient is taken of.

An agent that asks its network what to do at each turn of one environment does so, and a loop that scores rows one by
one: every layer starts its operators as often, and none of them goes through rows by itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import SourceLine
from dlprof.analysis.stacks import Frame
from dlprof.schema.tree_paths import Tree

_CALLS = (
    "torch/nn/modules/module.py",
    "keras/src/utils/traceback_utils.py",
    "keras/src/layers/layer.py",
    "mxnet/gluon/block.py",
    "chainer/link.py",
)
"""Files of engines through which a model is called."""
BETWEEN = ("<frozen importlib", "torch/utils/_contextlib.py")
"""Files of what may stand between a line and what it calls, such as a decorator that switches gradients off."""
_FORWARDS = frozenset({"forward", "call", "__call__", "hybrid_forward"})
"""Functions of a model's own, from which its parts are called."""
_AS_OFTEN = 0.3
"""Of the operators of a layer, for the calls of the model to be what starts them: hits may be estimates."""


@dataclass(frozen=True)
class Called:
    """A line that calls a model many times in each step.

    Attributes:
        line: The line.
        times: Calls in a step, by the operators of its layers.
        share: Share of the steps in which the thread that trains stands in it: 0 to 1.
    """

    line: SourceLine
    times: float
    share: float


def by_script(case: Case, times: float) -> Called | None:
    """The line of the script's that calls a model about as often in a step as its layers start an operator.

    Args:
        case: The run.
        times: How often they do.

    Returns:
        None: no such line was sampled, or it is not known how often it ran.
    """
    steps = case.loop.count if case.loop is not None else 0
    stood: Counter[SourceLine] = Counter()
    for sample in case.code.samples:
        line = calling(case, sample.frames) if sample.main and Tree.FIT_STEPS.holds(sample.phase) else None
        if line is not None:
            stood[line] += sample.dur_ns
    for line, _ in stood.most_common():
        hits = case.code.hits(line)
        if steps and hits and hits / steps >= _AS_OFTEN * times:
            return Called(line, times, _share(case, line))
    return None


def _share(case: Case, line: SourceLine) -> float:
    """Share of the steps in which a line is on the stack: with what it has done before the call, and behind it."""
    return case.code.share([Tree.FIT_STEPS], lambda one: any((at.file, at.line) == line for at in one.frames))


def calling(case: Case, frames: Sequence[Frame]) -> SourceLine | None:
    """The line outside of any model that calls the outermost one of a stack, whose frames are innermost first."""
    inner = ""
    found: SourceLine | None = None
    for frame in (one for one in frames if not one.file.startswith(BETWEEN)):
        if frame.file in case.code.user_files:
            if frame.name in _FORWARDS:
                found = None
            elif inner.startswith(_CALLS):
                found = frame.file, frame.line
        inner = frame.file
    return found
