"""What a step takes, in words: the same in texts, pages, notebooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from dlprof.analysis.loops import FoundBy, LoopSummary
from dlprof.analysis.steps import StepSummary
from dlprof.report.model import Report
from dlprof.schema.vocabulary import Loop, StepTime
from dlprof.units import duration, safe

_HOW: Mapping[StepTime, str] = MappingProxyType(
    {
        StepTime.MEASURED: "median",
        StepTime.EPOCHS: "from epoch times",
        StepTime.WINDOW: "under the tracer",
    }
)
_FETCHED_BY: Mapping[Loop, tuple[str, ...]] = MappingProxyType(
    {Loop.TRAIN: ("fit",), Loop.TEST: ("fit", "evaluate"), Loop.PREDICT: ("predict",)}
)
"""Calls of Keras that fetch the batches of a loop's steps; a validation is part of `fit`."""


def fetches_in_call(report: Report, loop: Loop) -> bool:
    """Whether steps of a loop fetch their batches in their call, where no wait is seen.

    On some backends those of Keras' loops do. A loop of the script's own asks for its batches itself.
    """
    if report.steps is None or not report.steps.input_inside_step:
        return False
    names = _FETCHED_BY.get(loop, ())
    return not report.loops or any(one.how is FoundBy.KERAS and one.name in names for one in report.loops)


def how(loop: StepSummary) -> str:
    """How the time of a step was got, in a few words; empty where it is not known."""
    if loop.how is StepTime.EPOCHS and loop.loop is not Loop.TRAIN:
        return "from the times of whole calls"
    return _HOW[loop.how] if loop.how is not None else ""


def kind(loop: str) -> str:
    """What the steps of a loop are called: a foreign trace may not tell what its steps do."""
    return "step" if loop == Loop.UNKNOWN else f"{loop} step"


def sentence(loop: StepSummary) -> str:
    """What a step takes, and the rate, in one sentence; why that is not known, where it is not."""
    if loop.median_ns is None:
        return f"What a {kind(loop.loop)} takes is not known: {loop.unknown}"
    rate = f", {loop.samples_per_s:,.0f} samples/s" if loop.samples_per_s else ""
    note = "" if loop.how is StepTime.MEASURED else f" ({how(loop)})"
    return f"A {kind(loop.loop)} takes {duration(loop.median_ns)}{rate}{note}."


def place(found: LoopSummary) -> str:
    """A loop of the script's own: where it is, and what it did."""
    parts = [_counted(found.steps, "step")]
    if found.epochs is not None:
        parts.insert(0, _counted(found.epochs, "epoch"))
    if found.runs > 1:
        parts.append(f"in {found.runs:,} runs of the loop")
    how = "; inferred, without marks" if found.how is FoundBy.INFERRED else ""
    return f"{found.name} at {_line(found)}: {', '.join(parts)}{how}"


def own_loop(places: Sequence[LoopSummary]) -> str:
    """Where the training loop that the script wrote itself is, for the end of a line; empty: it has none."""
    trained = [found for found in places if found.how is FoundBy.INFERRED and found.name == "fit"]
    if not trained:
        return ""
    longest = max(trained, key=lambda found: found.steps)
    return f"; inferred from the loop at {_line(longest)}"


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"


def _line(found: LoopSummary) -> str:
    return safe(f"{found.file}:{found.line}") if found.file else "a line that is not known"
