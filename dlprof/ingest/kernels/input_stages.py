"""Stages of the input pipelines that an engine's own profiler tells apart, and whose lines they are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

_TYPE = re.compile(r"([A-Za-z]\w*?)Dataset(?:V\d+)?:\d+")
"""How tf.data names a data set that has no name: its type, and its number. What it injected is named otherwise."""
_COLUMNS = {"elements": "element_count", "buffered": "buffered_count"}
"""Names that the table has for others."""
_ROOT = "Root"
"""What tf.data puts around a pipeline, under the name of its last data set."""
_VERSION = re.compile(r"V\d+$")


@dataclass(frozen=True)
class TracedStage:
    """A stage of a pipeline, as summed over a trace.

    Attributes:
        pipeline: Number of the pipeline in the trace.
        stage: Number in the pipeline: each stage before those that it reads from.
        parent: Number of the stage that reads from it; None: it is the outermost.
        name: As the engine calls it: `ParallelMapV2`.
        dataset: Name of its data set: `MapDataset:1`; None: not told.
        is_nested: It reads what a function of its parent's has made, such as the files of an `interleave`.
        elements: Calls for an element that began and ended while it was traced; none: only what it asks was seen.
        total_ns: Time in them (ns).
        own_ns: Of that outside of the stages that it reads from in the same call, and of `starting_ns` (ns).
        starting_ns: Of that, in which it made the iterators of what it reads from, at the beginning of a pass (ns).
        function_ns: Time of threads in the function that it calls on others (ns); None: none was seen.
        asynchronous: Elements are made on other threads: what its calls take is waiting.
        parallelism: Elements that may be made at a time; None: not told.
        autotuned: Whether the engine chooses that, or the length of its queue; None: not told.
        buffer: Elements that it may hold; None: not told.
        buffered: How many it held, on average of what was told; None: not told.
        batch_size: Of batches; None: it makes none.
    """

    pipeline: int
    stage: int
    parent: int | None
    name: str
    dataset: str | None
    is_nested: bool
    elements: int
    total_ns: int
    own_ns: int
    starting_ns: int
    function_ns: int | None
    asynchronous: bool
    parallelism: int | None = None
    autotuned: bool | None = None
    buffer: int | None = None
    buffered: float | None = None
    batch_size: int | None = None

    def types(self) -> tuple[str, ...]:
        """What the program asked for: `Map`, `Batch`; several, outermost first, where the engine made one of them."""
        if self.name == _ROOT:
            return ()
        if not self.elements:
            return (_VERSION.sub("", self.name),)
        if self.dataset is None or self.dataset.startswith("inject/"):
            return ()
        told = _TYPE.findall(self.dataset)
        return tuple(reversed(told)) if told else (_VERSION.sub("", self.name),)


@dataclass(frozen=True)
class Dataset:
    """A data set as the program made it.

    Attributes:
        kind: Its class in Python: `_ParallelMapDataset`.
        file, line: Where it was made; None: not known.
        function: The user's function that it calls; None: none of his.
    """

    kind: str
    file: str | None
    line: int | None
    function: str | None

    @property
    def type(self) -> str:
        """`ParallelMap`."""
        return _VERSION.sub("", self.kind.strip("_")).removesuffix("Dataset")


@dataclass(frozen=True)
class DatasetGraph:
    """A pipeline as the program made it: its data sets, each before what it reads from; when it was first iterated."""

    time_ns: int
    datasets: tuple[Dataset, ...]


def rows(stages: Sequence[TracedStage], graphs: Sequence[DatasetGraph], window_end_ns: int) -> list[dict[str, Any]]:
    """Rows of the table `input_stages`, but for columns of the process and the window.

    Args:
        stages: Those of a trace.
        graphs: All pipelines that were made.
        window_end_ns: Those that were made later are in no trace that ended then (ns).
    """
    made = []
    for number in sorted({one.pipeline for one in stages}):
        own = [one for one in stages if one.pipeline == number]
        tried = [(placed(own, one), one.time_ns) for one in graphs if one.time_ns <= window_end_ns]
        places, _ = max(tried, key=lambda item: (sum(x is not None for x in item[0]), item[1]), default=([], 0))
        places = places or [None] * len(own)
        for stage, place in zip(own, _inherited(own, places), strict=True):
            row = {_COLUMNS.get(name, name): value for name, value in asdict(stage).items() if name != "is_nested"}
            told = {"file": place.file, "line": place.line, "function": place.function} if place is not None else {}
            made.append({**row, **told})
    return made


def placed(stages: Sequence[TracedStage], graph: DatasetGraph) -> list[Dataset | None]:
    """The data set that each stage is; None: it is none of that pipeline's.

    Both are in the same order: stages that the engine put in, and data sets that it took out, are passed over. Of a
    stage without calls nobody told its data set: it is the next one or none.
    """
    found: list[Dataset | None] = []
    at = 0
    for stage in stages:
        match: Dataset | None = None
        last = len(graph.datasets) if stage.elements else min(at + 1, len(graph.datasets))
        for kind in stage.types():
            place = next((n for n in range(at, last) if graph.datasets[n].type == kind), None)
            if place is not None:
                at, one = place + 1, graph.datasets[place]
                match = one if match is None or one.function is not None else match
        found.append(match)
    return found


def _inherited(stages: Sequence[TracedStage], places: Sequence[Dataset | None]) -> list[Dataset | None]:
    """With the line of its parent for what was made in a function of that one: nobody else's line made it."""
    by_number: dict[int, Dataset | None] = {}
    for stage, place in zip(stages, places, strict=True):
        if place is None and stage.is_nested and stage.parent is not None:
            place = by_number.get(stage.parent)  # noqa: PLW2901
        by_number[stage.stage] = place
    return [by_number[stage.stage] for stage in stages]
