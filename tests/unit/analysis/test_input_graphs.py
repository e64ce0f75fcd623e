"""Input pipelines that the engine runs itself, by stage."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis import input_graphs
from tests.unit import runs
from tests.unit.runs import MS


def window(number: int) -> dict[str, Any]:
    """A window of 5 steps of a training."""
    return {"window": number, "engine": "tensorflow", "loop": "train", "steps": 5, "start_ns": 0, "dur_ns": 100 * MS}


def stages(number: int = 0, **changes: Any) -> list[dict[str, Any]]:
    """A window of a batch, a map on two threads and a source; times in ms: own 1, 40 and 2; the map's function 60."""
    row = {"window": number, "pipeline": 0, "total_ns": 50 * MS, "starting_ns": 0, "asynchronous": False}
    mapped = {"asynchronous": True, "function_ns": 60 * MS, "parallelism": 2, "file": "train.py", "line": 3, **changes}
    return [
        {**row, "stage": 0, "name": "Root", "element_count": 5, "own_ns": 0},
        {**row, "stage": 1, "parent": 0, "name": "BatchV2", "element_count": 5, "own_ns": MS, "batch_size": 8},
        {**row, "stage": 2, "parent": 1, "name": "ParallelMapV2", "element_count": 40, "own_ns": 40 * MS, **mapped},
        {**row, "stage": 3, "parent": 2, "name": "TensorSlice", "element_count": 40, "own_ns": 2 * MS},
    ]


def test_the_slowest_stage_is_that_whose_work_takes_longest_on_its_threads(tmp_path: Path) -> None:
    """Waiting for other threads is no work; those that work are."""
    (graph,) = input_graphs.of_run(runs.make(tmp_path / "r", input_stages=stages(), kernel_windows=[window(0)]))

    slowest = graph.slowest_stage
    assert slowest is not None
    assert (slowest.name, slowest.work_ns, slowest.waiting_ns, slowest.limit_ns) == (
        "ParallelMapV2", 60 * MS, 40 * MS, 30 * MS,
    )  # fmt: skip
    assert (graph.batches, graph.waited_ns, graph.steps) == (5, 50 * MS, 5)
    assert [stage.work_ns for stage in graph.stages] == [0, MS, 60 * MS, 2 * MS]


def test_windows_of_a_loop_are_put_together(tmp_path: Path) -> None:
    """By the shape of the pipeline."""
    rows = [*stages(0), *stages(1, parallelism=4)]
    (graph,) = input_graphs.of_run(runs.make(tmp_path / "r", input_stages=rows, kernel_windows=[window(0), window(1)]))

    assert (graph.batches, graph.steps, graph.windows_ns) == (10, 10, 200 * MS)
    assert (graph.stages[2].work_ns, graph.stages[2].parallelism) == (120 * MS, 4)


def test_a_queue_of_what_others_make_does_no_work(tmp_path: Path) -> None:
    """Nor does a map of which no function was seen."""
    rows = stages(function_ns=None)
    (graph,) = input_graphs.of_run(runs.make(tmp_path / "r", input_stages=rows, kernel_windows=[window(0)]))

    assert (graph.stages[2].work_ns, graph.stages[2].waiting_ns) == (None, 40 * MS)
    assert graph.slowest == 3


def test_no_slowest_is_told_where_a_stage_without_ended_calls_may_have_worked_longer(tmp_path: Path) -> None:
    """In 100 ms it may have worked for what the map below it did not take: 50 ms, more than the 30 ms of the map."""
    rows = stages()
    rows[1].update(element_count=0, total_ns=0, own_ns=0)
    (graph,) = input_graphs.of_run(runs.make(tmp_path / "r", input_stages=rows, kernel_windows=[window(0)]))

    assert (graph.stages[1].work_ns, graph.stages[1].limit_ns, graph.slowest) == (None, None, None)


def test_a_stage_without_ended_calls_that_waited_for_another_one_hides_nothing(tmp_path: Path) -> None:
    """The map below took 90 of 100 ms: what is left is less than the 30 ms of the map's work."""
    rows = stages()
    rows[1].update(element_count=0, total_ns=0, own_ns=0)
    rows[2].update(total_ns=90 * MS)
    (graph,) = input_graphs.of_run(runs.make(tmp_path / "r", input_stages=rows, kernel_windows=[window(0)]))

    assert graph.slowest == 2


def dropping(elements: int, **batch: Any) -> list[dict[str, Any]]:
    """The same with a stage that gives so many elements, behind the map or (with a size of batches) the batch."""
    rows = stages()
    place = {"name": "Shard", "element_count": elements, "file": "train.py", "line": 4, "own_ns": 0, "total_ns": MS}
    return [rows[0], {**rows[1], **place, **batch}, *rows[2:]]


def test_a_stage_that_drops_what_the_slowest_one_makes_is_told_with_how_much(tmp_path: Path) -> None:
    """10 of 40 go on."""
    told = dropping(10, batch_size=None)
    (graph,) = input_graphs.of_run(runs.make(tmp_path / "r", input_stages=told, kernel_windows=[window(0)]))

    found = graph.dropped_behind
    assert found is not None
    assert (found.stage.line, found.share) == (4, 0.75)


def test_elements_on_their_way_and_batches_are_not_dropped(tmp_path: Path) -> None:
    """30 of 40; 10 batches of several."""
    for name, told in {"few": dropping(30, batch_size=None), "batches": dropping(10), "all": stages()}.items():
        (graph,) = input_graphs.of_run(runs.make(tmp_path / name, input_stages=told, kernel_windows=[window(0)]))

        assert graph.dropped_behind is None


@pytest.mark.parametrize("name", ["Shard", "FilterDataset", "FiniteSkip"])
def test_shards_filters_and_skips_drop_elements(tmp_path: Path, name: str) -> None:
    """30 of 40, each of them."""
    told = dropping(10, batch_size=None)
    told[1]["name"] = name
    (graph,) = input_graphs.of_run(runs.make(tmp_path / "r", input_stages=told, kernel_windows=[window(0)]))

    assert graph.dropped_behind is not None


def test_the_pipeline_of_the_training_gives_a_batch_for_each_step(tmp_path: Path) -> None:
    """5 steps; an evaluation between them asked its own for 2 batches, and waited longer."""
    evaluated = [{**row, "pipeline": 1, "line": 9, "total_ns": 500 * MS} for row in stages()]
    evaluated[0].update(element_count=2)
    run = runs.make(tmp_path / "r", input_stages=[*evaluated, *stages()], kernel_windows=[window(0)])

    training = input_graphs.of_training(run)

    assert training is not None
    assert training.batches == 5
    assert [one.batches for one in input_graphs.of_evaluations(run)] == [2]


def test_of_pipelines_that_all_gave_fewer_the_one_that_was_waited_for_longest_trains(tmp_path: Path) -> None:
    """Some engines ask ahead."""
    rows = stages()
    rows[0].update(element_count=4)
    run = runs.make(tmp_path / "r", input_stages=rows, kernel_windows=[window(0)])

    training = input_graphs.of_training(run)

    assert training is not None
    assert training.batches == 4
    assert input_graphs.of_evaluations(run) == ()


def test_a_run_without_stages_has_none(tmp_path: Path) -> None:
    """As one of another engine."""
    assert input_graphs.of_run(runs.make(tmp_path / "r")) == ()
