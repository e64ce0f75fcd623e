"""Pipelines of tf.data, as the stream tells them."""

from __future__ import annotations

import json

import msgspec
import pytest

from dlprof.ingest.file_names import FileNames
from dlprof.ingest.kernels.input_stages import Dataset, DatasetGraph
from dlprof.ingest.own import datasets

TOLD = {"time_ns": 1000, "datasets": [["_MapDataset", "/home/me/train.py", 7, "load"], ["_RangeDataset", "", 0, None]]}


def test_a_pipeline_is_put_on_the_runs_timeline() -> None:
    """With the short names of files; a line that is not known is none."""
    one = datasets.parse(json.dumps(TOLD).encode())

    assert datasets.graphs([one], 900, FileNames("/home/me")) == (
        DatasetGraph(100, (Dataset("_MapDataset", "train.py", 7, "load"), Dataset("_RangeDataset", None, None, None))),
    )


def test_how_many_data_sets_one_reads_from_is_told_since_then() -> None:
    """Runs of old do not have it."""
    one = datasets.parse(
        b'{"time_ns": 0, "datasets": [["_ZipDataset", "", 0, null, 2], ["_RangeDataset", "", 0, null]]}'
    )

    (graph,) = datasets.graphs([one], 0, FileNames("/"))

    assert [told.inputs for told in graph.datasets] == [2, None]


@pytest.mark.parametrize("odd", [{"time_ns": -1}, {"datasets": [["_MapDataset"]]}, {"datasets": None}])
def test_a_pipeline_that_makes_no_sense_is_refused(odd: dict[str, object]) -> None:
    """Whatever it is."""
    with pytest.raises((ValueError, msgspec.ValidationError)):
        datasets.parse(json.dumps({**TOLD, **odd}).encode())
