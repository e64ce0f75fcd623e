"""Input pipelines that the engine runs itself (tf.data), by stage, as its profiler told them in kernel windows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dlprof.schema.vocabulary import Loop
from dlprof.store.run import Run

_SUMS = ("element_count", "total_ns", "own_ns", "starting_ns", "function_ns")
_ROOT = "Root"
"""What the engine puts around a pipeline."""
_KEEPS = "Cache"
"""In the names of stages that keep what they have read."""
_DROPS = ("Shard", "Filter", "Skip")
"""In the names of stages that let only some elements through."""
_LEAST_DROPPED = 0.3
"""Of the elements that were made: less may be those that were on their way when the window began or ended."""


@dataclass(frozen=True)
class GraphStage:
    """A stage of a pipeline, in all windows of its loop.

    Attributes:
        name: As the engine calls it: `ParallelMapV2`.
        dataset: Name of its data set: `MapDataset:1`; None: not told.
        parent: Place of the stage that reads from it; None: it is the outermost.
        elements: Elements that it was asked for in calls that began and ended in a window; 0: no call did.
        work_ns: Time in which threads made elements (ns); None: it is a queue of what others make, or was not seen.
        waiting_ns: Time in which its calls waited for other threads (ns); None: it makes its elements in the call, or
            none was seen.
        starting_ns: In which it made iterators of what it reads from, as at the beginning of a pass (ns).
        limit_ns: The least that its work takes with as many threads as it may have (ns); None: as `work_ns`, or nothing
            told how many these are.
        parallelism: Elements that may be made at a time; None: one, or not told.
        autotuned: Whether the engine chooses that, or the length of its queue; None: not told.
        buffer: Elements that it may hold; None: none, or not told.
        buffered: How many it held, on average; None: not told.
        batch_size: Of batches; None: it makes none.
        file, line: The user's line that made it; None: the engine put it in, or it is not known.
        function: The user's function that it calls; None: none, or not known.
    """

    name: str
    dataset: str | None
    parent: int | None
    elements: int
    work_ns: int | None
    waiting_ns: int | None
    starting_ns: int
    limit_ns: int | None
    parallelism: int | None
    autotuned: bool | None
    buffer: int | None
    buffered: float | None
    batch_size: int | None
    file: str | None
    line: int | None
    function: str | None


@dataclass(frozen=True)
class InputGraph:
    """A pipeline, as it ran in kernel windows.

    Attributes:
        loop: The loop whose steps were traced: `train`, ...; None: not told, as in an imported trace.
        steps: Steps in the windows; None: not told.
        windows_ns: How long the windows were (ns).
        batches: Batches that were asked for.
        waited_ns: Time in the calls for them, which the engine may make ahead of the step (ns).
        stages: Each before those that it reads from.
        slowest: Place of the stage with the largest `limit_ns`; None: none is known, or one whose calls were longer
            than a window may have worked longer.
    """

    loop: str | None
    steps: int | None
    windows_ns: int
    batches: int
    waited_ns: int
    stages: tuple[GraphStage, ...]
    slowest: int | None

    @property
    def slowest_stage(self) -> GraphStage | None:
        """That stage."""
        return self.stages[self.slowest] if self.slowest is not None else None

    @property
    def kept_before(self) -> GraphStage | None:
        """The stage that keeps for the next pass what the slowest one reads, not what it makes; None: none does."""
        behind = {self.slowest} if self.slowest is not None else set()
        for place, stage in enumerate(self.stages):
            if stage.parent in behind:
                behind.add(place)
                if _KEEPS in stage.name and stage.line:
                    return stage
        return None

    @property
    def kept_behind(self) -> GraphStage | None:
        """The stage that keeps for the next pass what the slowest one makes, or would; None: none does."""
        place = self.stages[self.slowest].parent if self.slowest is not None else None
        while place is not None:
            stage = self.stages[place]
            if _KEEPS in stage.name and stage.line:
                return stage
            place = stage.parent
        return None

    @property
    def batch_behind(self) -> int | None:
        """Elements of the slowest stage in a batch that a stage behind it makes; None: none does, or several do."""
        place, sizes = self.stages[self.slowest].parent if self.slowest is not None else None, []
        while place is not None:
            stage = self.stages[place]
            sizes += [stage.batch_size] if stage.batch_size else []
            place = stage.parent
        return sizes[0] if len(sizes) == 1 else None

    @property
    def dropped_behind(self) -> Dropping | None:
        """The stage that lets only some of what the slowest one makes through; None: none does, or few are dropped."""
        if self.slowest is None:
            return None
        made = next((one.elements for one in self.stages if one.parent == self.slowest), 0)
        place = self.stages[self.slowest].parent
        while place is not None and self.stages[place].batch_size is None:
            stage = self.stages[place]
            dropped = 1 - stage.elements / made if stage.elements and made else 0.0
            if any(word in stage.name for word in _DROPS) and stage.line and dropped >= _LEAST_DROPPED:
                return Dropping(stage, dropped)
            place = stage.parent
        return None


@dataclass(frozen=True)
class Dropping:
    """A stage that drops what was made for it.

    Attributes:
        stage: The stage.
        share: Of the elements that were made, how many it drops: 0 to 1.
    """

    stage: GraphStage
    share: float


def of_run(run: Run) -> tuple[InputGraph, ...]:
    """The pipelines, those that were waited for longest first."""
    windows = {(row["host"], row["rank"], row["window"]): row for row in run.rows("kernel_windows")}
    pipelines: dict[Any, list[dict[str, Any]]] = defaultdict(list)
    for row in run.rows("input_stages"):
        pipelines[row["host"], row["rank"], row["window"], row["pipeline"]].append(row)
    alike: dict[Any, list[tuple[Mapping[str, Any], Sequence[Mapping[str, Any]]]]] = defaultdict(list)
    for (host, rank, window, _), rows in pipelines.items():
        rows.sort(key=lambda row: row["stage"])
        around = windows.get((host, rank, window), {})
        shape = tuple((row["parent"], row["name"], row["file"], row["line"]) for row in rows)
        alike[host, rank, around.get("loop"), shape].append((around, rows))
    made = [_graph(key[2], group) for key, group in alike.items()]
    return tuple(sorted(made, key=lambda one: -one.waited_ns))


def of_training(run: Run) -> InputGraph | None:
    """The pipeline that gives the steps of the training their batches.

    An evaluation between two steps of a window reads from its own, and may wait for that longer than the steps do.

    Returns:
        None: none was traced that gave a batch.
    """
    return _that_trains(of_run(run))


def _that_trains(graphs: Sequence[InputGraph]) -> InputGraph | None:
    known = [one for one in graphs if one.loop == Loop.TRAIN and one.batches]
    return next((one for one in known if one.batches >= (one.steps or 0)), known[0] if known else None)


def of_evaluations(run: Run) -> tuple[InputGraph, ...]:
    """The pipelines that gave others than the training batches, those that were waited for longest first."""
    graphs = of_run(run)
    training = _that_trains(graphs)
    return tuple(one for one in graphs if one.batches and one is not training)


def _graph(loop: str | None, group: Sequence[tuple[Mapping[str, Any], Sequence[Mapping[str, Any]]]]) -> InputGraph:
    stages = tuple(_stage([rows[place] for _, rows in group]) for place in range(len(group[0][1])))
    steps = [window.get("steps") for window, _ in group]
    roots = [row for _, rows in group for row in rows if row["parent"] is None]
    windows_ns = sum(window.get("dur_ns") or 0 for window, _ in group)
    called_ns = [sum(rows[place]["total_ns"] for _, rows in group) for place in range(len(stages))]
    return InputGraph(
        loop=loop,
        steps=sum(one or 0 for one in steps) if all(one is not None for one in steps) else None,
        windows_ns=windows_ns,
        batches=sum(row["element_count"] for row in roots),
        waited_ns=sum(row["total_ns"] for row in roots),
        stages=stages,
        slowest=_slowest(stages, called_ns, windows_ns),
    )


def _slowest(stages: Sequence[GraphStage], called_ns: Sequence[int], windows_ns: int) -> int | None:
    """Place of the stage whose work takes longest on its threads; None: none is known, or an unseen one may.

    Args:
        stages: All stages.
        called_ns: Time in the calls of each (ns).
        windows_ns: How long it was traced (ns): a stage none of whose calls ended may have worked so long, less what
            it waited for those that it asks.
    """
    limits = [(stage.limit_ns, -place) for place, stage in enumerate(stages) if stage.limit_ns and stage.name != _ROOT]
    if not limits:
        return None
    longest, place = max(limits)
    for number, stage in enumerate(stages):
        if stage.elements or stage.limit_ns is not None or stage.name == _ROOT:
            continue
        waited = sum(ns for other, ns in zip(stages, called_ns, strict=True) if other.parent == number)
        if windows_ns - waited > longest:
            return None
    return -place


def _stage(rows: Sequence[Mapping[str, Any]]) -> GraphStage:
    """One stage of all windows: sums, and what was told last."""
    sums = {name: sum(row[name] or 0 for row in rows) for name in _SUMS}
    known = any(row["function_ns"] is not None for row in rows)
    asynchronous = any(row["asynchronous"] for row in rows)
    seen = sums["element_count"] > 0
    in_calls = sums["own_ns"] if seen else None
    work = (sums["function_ns"] if known else None) if asynchronous else in_calls
    told = {name: value for row in rows for name, value in row.items() if value is not None}
    parallelism = told.get("parallelism")
    threads = max(1, parallelism or 1) if asynchronous else 1
    return GraphStage(
        name=rows[0]["name"],
        dataset=told.get("dataset"),
        parent=rows[0]["parent"],
        elements=sums["element_count"],
        work_ns=work,
        waiting_ns=in_calls if asynchronous else None,
        starting_ns=sums["starting_ns"],
        limit_ns=work // threads if work is not None and (seen or parallelism) else None,
        parallelism=parallelism,
        autotuned=told.get("autotuned"),
        buffer=told.get("buffer"),
        buffered=told.get("buffered_count"),
        batch_size=told.get("batch_size"),
        file=told.get("file"),
        line=told.get("line"),
        function=told.get("function"),
    )
