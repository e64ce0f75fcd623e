"""Stages of input pipelines, and the lines that made them."""

from __future__ import annotations

from dataclasses import replace

from dlprof.ingest.kernels.input_stages import Dataset, DatasetGraph, TracedStage, placed, rows


def stage(number: int, name: str, dataset: str | None, *, is_nested: bool = False) -> TracedStage:
    """Each reads from the next one."""
    parent = number - 1 if number else None
    return TracedStage(0, number, parent, name, dataset, is_nested, 10, 1000, 500, 0, None, False)


MAP = Dataset("_MapDataset", "train.py", 3, "load")
BATCH = Dataset("_BatchDataset", "train.py", 4, None)
SLICES = Dataset("_TensorSliceDataset", "train.py", 2, None)
GRAPH = DatasetGraph(100, (BATCH, MAP, SLICES))


def test_a_stage_is_the_data_set_of_its_type() -> None:
    """Under whatever name the engine runs it; what it put in is nobody's."""
    stages = [
        stage(0, "Root", "inject/prefetch_BatchDatasetV2/_10"),
        stage(1, "Prefetch", "inject/prefetch_BatchDatasetV2/_10"),
        stage(2, "BatchV2", "BatchDatasetV2:2"),
        stage(3, "ParallelMapV2", "MapDataset:1"),
        stage(4, "TensorSlice", "TensorSliceDataset:0"),
    ]

    assert placed(stages, GRAPH) == [None, None, BATCH, MAP, SLICES]


def test_a_stage_without_calls_is_the_next_data_set_or_none() -> None:
    """Nobody told its data set: what the engine put in is not taken for the same further below."""
    unseen = [replace(stage(number, name, None), elements=0) for number, name in ((0, "BatchV2"), (1, "TensorSlice"))]

    assert placed([*unseen, stage(2, "ParallelMapV2", "MapDataset:1")], GRAPH) == [BATCH, None, MAP]


def test_a_stage_that_was_made_of_two_has_the_line_of_the_one_with_a_function() -> None:
    """A map that is run with the batch behind it."""
    fused = stage(0, "MapAndBatch", "fused(MapDataset:1,BatchDatasetV2:2)")

    assert placed([fused, stage(1, "TensorSlice", "TensorSliceDataset:0")], GRAPH) == [MAP, SLICES]


def test_a_data_set_with_a_name_is_told_by_its_stage() -> None:
    """`map(..., name="decode")`."""
    assert placed([stage(0, "Map", "decode")], GRAPH) == [MAP]


def test_what_a_function_made_has_the_line_of_that_stage() -> None:
    """The generator in `from_generator`, which is a `flat_map`."""
    made = Dataset("_FlatMapDataset", "train.py", 9, None)
    stages = [stage(0, "FlatMap", "FlatMapDataset:1"), stage(1, "Generator", "GeneratorDataset:4", is_nested=True)]

    assert [row["line"] for row in rows(stages, [DatasetGraph(0, (made,))], 500)] == [9, 9]


def test_the_pipeline_that_fits_best_is_taken_and_none_that_was_made_later() -> None:
    """Of those that fit alike the last."""
    other = DatasetGraph(50, (Dataset("_BatchDataset", "train.py", 40, None),))
    late = DatasetGraph(900, (BATCH, MAP, Dataset("_TensorSliceDataset", "train.py", 99, None)))
    again = DatasetGraph(200, (BATCH, Dataset("_MapDataset", "train.py", 7, None), SLICES))
    stages = [stage(0, "BatchV2", "BatchDatasetV2:2"), stage(1, "Map", "MapDataset:1")]

    assert [row["line"] for row in rows(stages, [GRAPH, other, late, again], 500)] == [4, 7]


def test_without_a_pipeline_of_the_program_lines_are_not_known() -> None:
    """As in an imported trace."""
    (row,) = rows([stage(0, "Map", "MapDataset:1")], [], 0)

    assert (row["name"], row["element_count"], "file" in row, "is_nested" in row) == ("Map", 10, False, False)
