"""Stages of input pipelines, and the lines that made them."""

from __future__ import annotations

from dataclasses import replace

from dlprof.ingest.kernels.input_stages import Dataset, DatasetGraph, TracedStage, placed, rows


def stage(number: int, name: str, dataset: str | None, *, is_nested: bool = False) -> TracedStage:
    """Each reads from the next one."""
    parent = number - 1 if number else None
    return TracedStage(0, number, parent, name, dataset, is_nested, 10, 1000, 500, 0, None, False)


def below(parent: int, number: int, name: str, dataset: str, *, at: int | None = None) -> TracedStage:
    """One that a certain stage reads from, as its first input, or second."""
    return replace(stage(number, name, dataset), parent=parent, input=at)


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


def test_inputs_of_a_stage_are_those_of_its_data_set() -> None:
    """`zip` of a mapped one and of an opaque one: the range of the second is nobody's, the map of the third is found."""
    opaque = Dataset("_VariantDataset", "train.py", 5, None, 0)
    last = Dataset("_MapDataset", "train.py", 6, "scale", 1)
    numbers = Dataset("_RangeDataset", "train.py", 6, None, 0)
    zipped = Dataset("_ZipDataset", "train.py", 7, None, 3)
    graph = DatasetGraph(0, (zipped, replace(MAP, inputs=1), replace(SLICES, inputs=0), opaque, last, numbers))
    stages = [
        stage(0, "Zip", "ZipDataset:9"),
        below(0, 1, "ParallelMapV2", "MapDataset:2", at=0),
        below(1, 2, "TensorSlice", "TensorSliceDataset:1"),
        below(0, 3, "ParallelMapV2", "MapDataset:4", at=1),
        below(3, 4, "Range", "RangeDataset:3"),
        below(0, 5, "ParallelMapV2", "MapDataset:6", at=2),
    ]

    found = placed(stages, graph)

    assert [one.line if one else None for one in found] == [7, 3, 2, None, None, 6]


def test_the_two_stages_of_a_cache_are_one_data_set() -> None:
    """One is there for the first pass only; what is below it is not the cache's."""
    cache = Dataset("CacheDataset", "train.py", 5, None, 1)
    stages = [
        stage(0, "MemoryCache", "CacheDatasetV2:2"),
        stage(1, "MemoryCacheImpl", "CacheDatasetV2:2"),
        stage(2, "ParallelMapV2", "MapDataset:1"),
    ]

    assert placed(stages, DatasetGraph(0, (cache, MAP, SLICES))) == [cache, cache, MAP]


def test_data_sets_of_one_name_are_not_one() -> None:
    """`name="decode"`, twice."""
    again = Dataset("_MapDataset", "train.py", 9, "again")

    assert placed([stage(0, "Map", "decode"), stage(1, "Map", "decode")], DatasetGraph(0, (MAP, again))) == [MAP, again]


def test_a_map_in_a_function_is_not_one_of_the_pipelines() -> None:
    """`interleave(lambda file: lines(file).map(parse))`: the map before it is another."""
    interleave = Dataset("_ParallelInterleaveDataset", "train.py", 8, "<lambda>")
    stages = [
        stage(0, "ParallelInterleaveV4", "ParallelInterleaveDatasetV4:5"),
        stage(1, "Map", None, is_nested=True),
        below(0, 2, "ParallelMapV2", "MapDataset:1"),
    ]

    (*_, row) = made = rows(stages, [DatasetGraph(0, (interleave, MAP, SLICES))], 500)

    assert [one["line"] for one in made] == [8, 8, 3]
    assert "input" not in row


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
