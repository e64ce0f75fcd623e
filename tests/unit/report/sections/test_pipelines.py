"""Input pipelines on a terminal."""

from __future__ import annotations

from dlprof.analysis.input_graphs import GraphStage, InputGraph
from dlprof.report.sections import pipelines
from tests.unit.report.reports import printed, report
from tests.unit.runs import MS

ROOT = GraphStage(
    name="Root", dataset=None, parent=None, elements=5, work_ns=0, waiting_ns=None, starting_ns=0, limit_ns=0,
    parallelism=None, autotuned=None, buffer=None, buffered=None, batch_size=None, file=None, line=None, function=None,
)  # fmt: skip
MAP = GraphStage(
    name="ParallelMapV2", dataset="MapDataset:1", parent=0, elements=40, work_ns=60 * MS, waiting_ns=40 * MS,
    starting_ns=0, limit_ns=30 * MS, parallelism=2, autotuned=True, buffer=None, buffered=1.5, batch_size=None,
    file="train.py", line=3, function="load",
)  # fmt: skip
GRAPH = InputGraph("train", 5, 100 * MS, 5, 50 * MS, (ROOT, MAP), 1)


def test_a_stage_of_the_engines_own_pipeline_is_a_row() -> None:
    """Elements, work, work for a batch, waiting, settings, and the line with the function."""
    lines = printed(pipelines.pipelines, report(input_graphs=(GRAPH,)))

    assert lines[0].startswith("Stages of the input")
    assert lines[1].strip() == "Kernel windows of 5 train steps: 5 batches, 10.0 ms inside of each call for one"
    text = " ".join(lines[-1].split())
    assert text == "ParallelMapV2 <- slowest 40 60.0 ms 6.00 ms 40.0 ms 2 at a time (autotuned) train.py:3 load"


def test_who_asks_is_told_what_is_missing() -> None:
    """Neither a loader nor a window was there."""
    lines = printed(pipelines.all_pipelines, report())

    assert "stages of tf.data are told by kernel windows, and none was" in " ".join(lines)
    assert printed(pipelines.pipelines, report()) == []
