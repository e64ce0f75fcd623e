"""Workers that cost more than they save."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.unit.analysis.findings.cases import Planted, diagnosed, pick, slugs
from tests.unit.analysis.findings.loading import FETCH, passes, processes, stood, trained
from tests.unit.runs import MS

EIGHT: dict[str, Any] = {"workers": 8, "open_ns": 160 * MS, "last_wait_ns": 80 * MS, "first_wait_ns": 80 * MS}


def planted() -> Planted:
    """Eight that compute, on two cores."""
    workers = {"processes": processes(*[0.45] * 8), **stood(*[(0.3, FETCH)] * 8)}
    return Planted(trained([8], loaders=passes(**EIGHT), **workers))


def test_workers_that_compute_and_are_more_than_the_cores_are_too_many(tmp_path: Path) -> None:
    """Eight on two cores: three quarters of starting and stopping them, and of the first waits."""
    finding = pick(planted().diagnosis(tmp_path), "too-many-workers")

    assert (finding.at_stake_ns, finding.line) == (720 * MS, 5)
    assert finding.remedy is not None
    assert finding.remedy.overrides == {"loader": {"file": "train.py", "line": 5, "num_workers": 2}}


def test_sleeping_workers_may_be_more_than_the_cores(tmp_path: Path) -> None:
    """Eight are as many as keep up with the steps."""
    workers = {"processes": processes(*[0.02] * 8), **stood(*[(0.9, FETCH)] * 8)}

    assert "too-many-workers" not in slugs(
        diagnosed(tmp_path / "r", **trained([8], loaders=passes(**EIGHT), **workers))
    )


def test_workers_that_hardly_work_are_too_many_where_their_start_takes_long(tmp_path: Path) -> None:
    """One would do what eight sleep for."""
    workers = {"processes": processes(*[0.01] * 8), **stood(*[(0.02, FETCH)] * 8)}
    finding = pick(diagnosed(tmp_path / "r", **trained([8], loaders=passes(**EIGHT), **workers)), "too-many-workers")

    assert finding.remedy is not None
    assert finding.remedy.overrides["loader"]["num_workers"] == 1


def test_two_workers_on_two_cores_are_not_too_many(tmp_path: Path) -> None:
    """Whatever they do."""
    workers = {"processes": processes(1.8, 1.8), **stood((0.95, FETCH), (0.95, FETCH))}

    assert "too-many-workers" not in slugs(diagnosed(tmp_path / "r", **trained([20], **workers)))


def test_starting_them_again_is_left_to_workers_that_would_last_where_that_saves_more(tmp_path: Path) -> None:
    """Two, of which one would do: half of all starts would be saved, or all but the first: two of three."""
    workers = {"processes": processes(0.01, 0.01), **stood((0.02, FETCH), (0.02, FETCH))}
    found = diagnosed(tmp_path / "r", **trained([8], loaders=passes(**{**EIGHT, "workers": 2}), **workers))

    assert pick(found, "workers-restarted").at_stake_ns == 480 * MS
    assert sum(one.at_stake_ns for one in found.findings if one.slug == "too-many-workers") <= 120 * MS
