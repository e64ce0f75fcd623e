"""Who worked for a loader, and at what."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.analysis import input_pipeline
from tests.unit import runs
from tests.unit.analysis.findings.cases import sampled
from tests.unit.analysis.findings.loading import ASKS, COLLATE, FETCH, passes, processes, stood, trained


def test_workers_have_stages_lines_and_cpu_time_of_all_passes(tmp_path: Path) -> None:
    """Worker 0 makes items for half of its time, worker 1 collates for a quarter."""
    tables = trained([4], processes=processes(0.5, 0.25), **stood((0.5, FETCH), (0.25, COLLATE)))
    (pipeline,) = input_pipeline.of_run(runs.trained(tmp_path / "r", None, **tables))

    first, second = pipeline.workers
    assert [(one.stage.value, one.share) for one in first.stages] == [("making items", 0.5), ("waiting for work", 0.5)]
    assert (first.cpu_ns, first.busy, second.busy) == (1_500_000_000, 0.5, 0.25)
    assert [(line.file, line.line, line.share) for line in first.lines] == [("train.py", 21, 1.0)]
    assert second.lines == ()
    assert pipeline.lines[0].share == pytest.approx(2 / 3)


def test_without_workers_what_asks_makes_the_batches(tmp_path: Path) -> None:
    """It is the calling thread."""
    loaders = passes(workers=0, persistent=None, queue=None)
    (pipeline,) = input_pipeline.of_run(
        runs.trained(tmp_path / "r", None, **trained([20], loaders=loaders, **sampled((2, 5, ASKS))))
    )

    assert pipeline.workers == ()
    assert pipeline.calling is not None
    assert pipeline.calling.busy == 1.0


def test_what_is_not_known_is_said(tmp_path: Path) -> None:
    """Nothing was sampled, and no process was seen."""
    tables = trained([4], **sampled((8, 9, [("main", "train.py", 1)])))
    (pipeline,) = input_pipeline.of_run(runs.trained(tmp_path / "r", None, **tables))

    assert pipeline.untold == (
        "2 of 2 workers were not sampled: what they did is not known",
        "no process of its workers was seen: their CPU time is not known",
    )
    assert pipeline.workers[0].busy is None


def test_nobody_is_waited_for_without_workers(tmp_path: Path) -> None:
    """Indices are drawn there."""
    draws = [*ASKS[:-2], ("__iter__", "torch/utils/data/sampler.py", 9)]
    loaders = passes(workers=0, persistent=None, queue=None)
    (pipeline,) = input_pipeline.of_run(
        runs.trained(tmp_path / "r", None, **trained([20], loaders=loaders, **sampled((2, 5, draws))))
    )

    assert pipeline.calling is not None
    assert [one.stage.value for one in pipeline.calling.stages] == ["making items"]
