"""Too few batches are made ahead."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.unit.analysis.findings.cases import Planted, diagnosed, pick, slugs
from tests.unit.analysis.findings.loading import FETCH, passes, processes, stood, trained
from tests.unit.runs import MS

RESTING = {"processes": processes(0.1, 0.1), **stood((0.5, FETCH), (0.5, FETCH))}
FEW = [36, 0, 0, 0, 0, 0, 0, 0]
"""One step of eight waits for long."""


def planted() -> Planted:
    """Few long waits, while the workers rest."""
    return Planted(trained(FEW, **RESTING))


def test_few_long_waits_while_the_workers_rest_want_a_longer_queue(tmp_path: Path) -> None:
    """19 steps of 150 wait 36 ms; three of these are the first of an epoch."""
    finding = pick(planted().diagnosis(tmp_path), "small-queue")

    assert finding.at_stake_ns == 345_600_000
    assert finding.remedy is not None
    assert finding.remedy.overrides == {"loader": {"file": "train.py", "line": 5, "prefetch_factor": 8}}


def test_waits_that_all_steps_share_are_no_matter_of_the_queue(tmp_path: Path) -> None:
    """Each step waits for as long."""
    assert "small-queue" not in slugs(diagnosed(tmp_path / "r", **trained([8], **RESTING)))


def test_workers_that_are_always_busy_have_nothing_to_make_ahead(tmp_path: Path) -> None:
    """More of them are wanted."""
    busy = {"processes": processes(0.1, 0.1), **stood((0.95, FETCH), (0.95, FETCH))}

    assert "small-queue" not in slugs(diagnosed(tmp_path / "r", **trained(FEW, **busy)))


def test_the_queue_of_keras_has_its_own_name(tmp_path: Path) -> None:
    """It is one for all workers."""
    keras: dict[str, Any] = {"kind": "PyDataset", "queue": 1, "queue_per_worker": False}
    tables = trained(FEW, **{**RESTING, "loaders": passes(**keras)})
    finding = pick(diagnosed(tmp_path / "r", **tables), "small-queue")

    assert finding.remedy is not None
    assert finding.remedy.overrides["loader"]["max_queue_size"] == 4
    assert finding.at_stake_ns > MS
