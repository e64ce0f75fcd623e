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
_UNTOLD = ("is_nested", "input")
_ROOT = "Root"
"""What tf.data puts around a pipeline, under the name of its last data set."""
_VERSION = re.compile(r"V\d+$")
INJECTED = "inject/"
"""How the names of data sets begin that the engine put in."""


@dataclass(frozen=True)
class TracedStage:
    """A stage of a pipeline, as summed over a trace.

    Attributes:
        pipeline: Number of the pipeline in the trace.
        stage: Number in the pipeline: each stage before those that it reads from.
        parent: Number of the stage that reads from it; None: it is the outermost.
        name: As the engine calls it: `ParallelMapV2`.
        dataset: Name of its data set: `MapDataset:1`; None: not told, or there are several.
        is_nested: A function of a stage around it has made it, such as the files of an `interleave`.
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
        input: Which of its parent's inputs it is, from 0; None: the parent has one.
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
    input: int | None = None

    def types(self) -> tuple[str, ...]:
        """What the program asked for: `Map`, `Batch`; several, outermost first, where the engine made one of them."""
        if self.name == _ROOT:
            return ()
        if not self.elements:
            return (_VERSION.sub("", self.name),)
        if self.dataset is None or self.dataset.startswith(INJECTED):
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
        inputs: Data sets that it reads from; None: not told, as in runs of old.
    """

    kind: str
    file: str | None
    line: int | None
    function: str | None
    inputs: int | None = None

    @property
    def type(self) -> str:
        """`ParallelMap`."""
        return _VERSION.sub("", self.kind.strip("_")).removesuffix("Dataset")


@dataclass(frozen=True)
class DatasetGraph:
    """A pipeline as the program made it: its data sets, each before what it reads from; when it was first iterated."""

    time_ns: int
    datasets: tuple[Dataset, ...]

    def inputs(self) -> list[list[range]]:
        """Of each data set the places of all that each of its inputs is made of; without their number it has one."""
        found: list[list[range]] = [[] for _ in self.datasets]
        ends = [0] * len(self.datasets)
        for place in reversed(range(len(self.datasets))):
            count, at = self.datasets[place].inputs, place + 1
            while len(found[place]) < (1 if count is None else count) and at < len(ends):
                found[place].append(range(at, ends[at]))
                at = ends[at]
            ends[place] = at
        return found


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
            row = {_COLUMNS.get(name, name): value for name, value in asdict(stage).items() if name not in _UNTOLD}
            told = {"file": place.file, "line": place.line, "function": place.function} if place is not None else {}
            made.append({**row, **told})
    return made


def placed(stages: Sequence[TracedStage], graph: DatasetGraph) -> list[Dataset | None]:
    """The data set that each stage is; None: it is none of that pipeline's.

    Both are in the same order: stages that the engine put in, and data sets that it took out, are passed over. What a
    stage reads from is among what its data set reads from.
    """
    placing = _Placing(graph)
    return [placing.place(stage) for stage in stages]


class _Placing:
    """Puts the stages of a pipeline to its data sets, one after the other."""

    def __init__(self, graph: DatasetGraph) -> None:
        self._datasets = graph.datasets
        self._inputs = graph.inputs()
        self._at = 0
        """What was passed is not looked at again."""
        self._within: dict[int, range] = {}
        """Stage to the data sets that it may read from."""
        self._by_input: dict[int, list[range]] = {}
        """The same by input, of those that are a data set."""
        self._numbered: dict[str, tuple[Dataset, int]] = {}
        """Name of a data set to where it was put: a cache has two stages."""

    def place(self, stage: TracedStage) -> Dataset | None:
        """The data set that the next stage is; None: none, or it is in what a function made."""
        where = self._where(stage)
        told = _TYPE.search(stage.dataset or "")
        again = self._numbered.get(told.string) if told else None
        match, last = (None, None) if stage.is_nested else again or self._found(stage, where)
        self._within[stage.stage] = where
        if match is None or last is None:
            return None
        if told:
            self._numbered[told.string] = match, last
        inputs = self._inputs[last]
        self._by_input[stage.stage] = inputs
        self._within[stage.stage] = range(last + 1, inputs[-1].stop if inputs else last + 1)
        return match

    def _where(self, stage: TracedStage) -> range:
        """The data sets among which a stage is."""
        if stage.parent is None:
            return range(len(self._datasets))
        by_input = self._by_input.get(stage.parent)
        if by_input is None or stage.input is None:
            return self._within[stage.parent]
        return by_input[stage.input] if stage.input < len(by_input) else range(0)

    def _found(self, stage: TracedStage, where: range) -> tuple[Dataset | None, int | None]:
        """The data set of a stage, and the innermost one where the engine made one stage of several."""
        match: Dataset | None = None
        last: int | None = None
        for kind in stage.types():
            ahead = range(max(where.start, self._at), where.stop)
            if not stage.elements:
                ahead = ahead[:1]  # Nobody told its data set: it is the next one or none.
            place = next((place for place in ahead if self._datasets[place].type == kind), None)
            if place is not None:
                one, last, self._at = self._datasets[place], place, place + 1
                match = one if match is None or one.function is not None else match
        return match, last


def _inherited(stages: Sequence[TracedStage], places: Sequence[Dataset | None]) -> list[Dataset | None]:
    """With the line of its parent for what was made in a function of that one: nobody else's line made it."""
    by_number: dict[int, Dataset | None] = {}
    for stage, place in zip(stages, places, strict=True):
        if place is None and stage.is_nested and stage.parent is not None:
            place = by_number.get(stage.parent)  # noqa: PLW2901
        by_number[stage.stage] = place
    return [by_number[stage.stage] for stage in stages]
