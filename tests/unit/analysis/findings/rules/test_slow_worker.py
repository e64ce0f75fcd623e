"""One worker holds the others up."""

from __future__ import annotations

from pathlib import Path

from tests.unit.analysis.findings.cases import Planted, diagnosed, pick, slugs
from tests.unit.analysis.findings.loading import FETCH, processes, stood, trained

SLOW = [*FETCH[:-1], ("Images.__getitem__", "train.py", 33)]


def planted() -> Planted:
    """One of three that is busy for 95 % of its time, the others for 31 %."""
    tables = trained([20], processes=processes(0.5, 0.1, 0.1), **stood((0.95, SLOW), (0.31, FETCH), (0.31, FETCH)))
    for row in tables["loaders"]:
        row["workers"] = 3
    return Planted(tables)


def test_a_worker_that_is_busy_while_the_others_rest_is_slow(tmp_path: Path) -> None:
    """Busy for 95 %, 31 % and 31 % of their time: of 3 s of waits what an equal share of the work would save."""
    finding = pick(planted().diagnosis(tmp_path), "slow-worker")

    assert (finding.file, finding.line) == ("train.py", 33)
    assert "Worker 0" in finding.claim
    assert 1_300_000_000 < finding.at_stake_ns < 1_400_000_000


def test_workers_that_are_equally_busy_are_not_slow(tmp_path: Path) -> None:
    """Each for most of its time."""
    tables = trained([20], processes=processes(0.5, 0.5), **stood((0.95, SLOW), (0.85, FETCH)))

    assert "slow-worker" not in slugs(diagnosed(tmp_path / "r", **tables))


def test_a_slow_worker_that_nobody_waits_for_is_none(tmp_path: Path) -> None:
    """The queue bridges it."""
    tables = trained([0], processes=processes(0.5, 0.1), **stood((0.95, SLOW), (0.3, FETCH)))

    assert "slow-worker" not in slugs(diagnosed(tmp_path / "r", **tables))
