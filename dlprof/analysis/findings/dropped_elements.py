"""Elements that a pipeline of tf.data makes at great cost and drops again: said with the change that spares it."""

from __future__ import annotations

from dataclasses import dataclass

from dlprof.analysis.findings.finding import SourceLine
from dlprof.analysis.input_graphs import GraphStage, InputGraph


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


def of_graph(graph: InputGraph) -> DroppedElements | None:
    """Of what the slowest stage of a pipeline makes; None: few are dropped, or that is not known."""
    slowest, dropping = graph.slowest_stage, graph.dropped_behind
    if slowest is None or dropping is None:
        return None
    stage = dropping.stage
    said = (
        f"{stage.name} at line {stage.line} drops {100 * dropping.share:.0f} % of what it makes: in front of it, it "
        "would leave only what is used to be made. "
    )
    line = (stage.file, stage.line) if stage.file and stage.line else None
    return DroppedElements(line, said, f"line {stage.line} in front of {named(slowest)}")


def named(stage: GraphStage) -> str:
    """A stage that maps, as its line has it."""
    which = f".map({stage.function})" if stage.function else "the map"
    return which + (f" at line {stage.line}" if stage.line else "")
