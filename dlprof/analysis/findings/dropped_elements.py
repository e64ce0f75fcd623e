"""Elements that a pipeline of tf.data makes at great cost and drops again: said with the change that spares it."""

from __future__ import annotations

from dataclasses import dataclass

from dlprof.analysis.findings.finding import SourceLine
from dlprof.analysis.input_graphs import GraphStage, InputGraph

_AT_FIRST = "Skip"
"""In the name of a stage that drops the first elements of each pass."""


@dataclass(frozen=True)
class DroppedElements:
    """What is said of them.

    Attributes:
        line: Where they are dropped.
        said: How many of them, a sentence with a blank behind it.
        fix: The change.
    """

    line: SourceLine | None
    said: str
    fix: str


def of_evaluation(graph: InputGraph) -> DroppedElements | None:
    """Of what the slowest stage of a pipeline makes; None: few are dropped, or that is not known."""
    slowest, dropping = graph.slowest_stage, graph.dropped_behind
    if slowest is None or dropping is None:
        return None
    stage = dropping.stage
    when = " at the beginning of each pass, by what a window saw" if _AT_FIRST in stage.name else ""
    said = (
        f"{stage.name} at line {stage.line} drops {100 * dropping.share:.0f} % of what it makes{when}: in front of it, "
        "it would leave only what is used to be made. "
    )
    line = (stage.file, stage.line) if stage.file and stage.line else None
    return DroppedElements(line, said, f"line {stage.line} in front of {named(slowest)}")


def of_training(graph: InputGraph) -> DroppedElements | None:
    """The same of a pipeline whose passes are longer than a window: what is dropped at their beginning says little."""
    dropping = graph.dropped_behind
    return of_evaluation(graph) if dropping is not None and _AT_FIRST not in dropping.stage.name else None


def named(stage: GraphStage) -> str:
    """A stage that maps, as its line has it."""
    which = f".map({stage.function})" if stage.function else "the map"
    return which + (f" at line {stage.line}" if stage.line else "")
