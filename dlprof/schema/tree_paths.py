"""Places in the tree of a run's wall time (`dlprof.analysis.breakdown`), made of the words of `schema/vocabulary.py`.

They are a type of their own: one that no tree can have cannot be made, and `Tree` names those that the rules speak of,
so that a slip is an error for mypy and at run time.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Self

from dlprof.schema.vocabulary import Category, Loop, Phase, StepPart


class UnknownPathError(ValueError):
    """A path that no tree has."""


EDGES = "edges"
"""Between the steps of a loop: beginnings and ends of epochs, what is left of first steps."""
_LOOP_ROOTS = ("fit/steps", "evaluate/steps", "predict/steps", "steps", "outside_steps", "trace")


def _word(text: str) -> str:
    return text.replace(" ", "_")


def _known_paths() -> frozenset[str]:
    phases = {phase.value.replace(".", "/") for phase in Phase}
    parts = {*(_word(part) for part in StepPart), EDGES, *(f"kernels/{_word(category)}" for category in Category)}
    below = {f"{root}/{part}" for root in _LOOP_ROOTS for part in parts}
    return frozenset({*phases, *_LOOP_ROOTS, *below, "dlprof/own", "dlprof/tracing"})


_KNOWN = _known_paths()


class TreePath(str):
    """A place in the tree of a run's wall time, such as `fit/steps/kernels/matmul`; a plain text to all who read it.

    Raises:
        UnknownPathError: No tree has such a place.
    """

    __slots__ = ()

    def __new__(cls, text: str) -> Self:
        """The place of that name."""
        if text not in _KNOWN:
            raise UnknownPathError(f"no run has the path {text}")
        return super().__new__(cls, text)

    def __truediv__(self, part: str) -> TreePath:
        """The place below this one: a part of a step, or a category of kernels."""
        return TreePath(f"{self}/{_word(part)}")

    def holds(self, other: str) -> bool:
        """Whether `other` is this place, or one below it."""
        return other == self or other.startswith(f"{self}/")


class Tree:
    """The places that are spoken of by name."""

    STARTUP = TreePath("startup")
    IMPORT = TreePath("import")
    DATA = TreePath("data")
    CONSTRUCT = TreePath("construct")
    COMPILE = TreePath("compile")
    FIT = TreePath("fit")
    FIT_BUILD = TreePath("fit/build")
    FIT_GRAPH_COMPILE = TreePath("fit/graph_compile")
    FIT_INPUT = TreePath("fit/input")
    FIT_STEPS = TreePath("fit/steps")
    FIT_STEPS_EDGES = TreePath("fit/steps/edges")
    """Between the steps: beginnings and ends of epochs, what is left of first steps."""
    FIT_WAIT = TreePath("fit/wait")
    """The host waited for values of the device, which ran nothing that a kernel window saw."""
    FIT_CALLBACKS = TreePath("fit/callbacks")
    FIT_VALIDATION = TreePath("fit/validation")
    EVALUATE = TreePath("evaluate")
    EVALUATE_STEPS = TreePath("evaluate/steps")
    PREDICT = TreePath("predict")
    PREDICT_STEPS = TreePath("predict/steps")
    SAVE = TreePath("save")
    SCRIPT = TreePath("script")
    TEARDOWN = TreePath("teardown")
    DLPROF = TreePath("dlprof")
    OWN = TreePath("dlprof/own")
    """dlprof's own time in the process."""
    TRACING = TreePath("dlprof/tracing")
    """What kernel windows made their steps longer."""
    STEPS = TreePath("steps")
    """Steps of a foreign trace that does not tell what they are for."""
    OUTSIDE_STEPS = TreePath("outside_steps")
    TRACE = TreePath("trace")
    """A foreign trace that names no steps."""
    UNATTRIBUTED = TreePath("unattributed")
    """In no phase: samples may stand there, but it is no leaf."""


STEPS_OF_LOOP: Mapping[str, TreePath] = MappingProxyType(
    {
        Loop.TRAIN: Tree.FIT_STEPS,
        Loop.TEST: Tree.EVALUATE_STEPS,
        Loop.PREDICT: Tree.PREDICT_STEPS,
        Loop.UNKNOWN: Tree.STEPS,
    }
)
"""Where the steps of each loop are in the tree."""
IN_PARTS = (*STEPS_OF_LOOP.values(), Tree.OUTSIDE_STEPS, Tree.TRACE)
"""Places that consist of parts of a step."""
OWN_PATHS = (Tree.OWN, Tree.TRACING)
"""Leaves that are dlprof's own cost."""


def of_phase(phase: Phase) -> TreePath:
    """The place of a phase; dlprof's own time is one of two leaves there."""
    return Tree.OWN if phase is Phase.DLPROF else root_of(phase)


def root_of(phase: Phase) -> TreePath:
    """The place that holds all of its time: as above, and for dlprof's own time what is above that leaf."""
    return TreePath(phase.value.replace(".", "/"))
