"""Workers that are made anew for each epoch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.unit.analysis.findings.cases import Planted, diagnosed, pick, slugs
from tests.unit.analysis.findings.loading import FETCH, passes, processes, stood, trained
from tests.unit.runs import MS

WORKERS = {"processes": processes(0.5, 0.5), **stood((0.5, FETCH), (0.5, FETCH))}


def planted() -> Planted:
    """Three passes of 150 ms to begin and 50 to end."""
    return Planted(trained([4], loaders=passes(open_ns=150 * MS, last_wait_ns=50 * MS), **WORKERS))


def test_beginnings_and_ends_of_passes_but_the_first_and_the_last_are_at_stake(tmp_path: Path) -> None:
    """Three passes of 150 ms to begin and 50 to end: two of each."""
    finding = pick(planted().diagnosis(tmp_path), "workers-restarted")

    assert (finding.at_stake_ns, finding.file, finding.line) == (400 * MS, "train.py", 5)
    assert "6 processes" in finding.claim
    assert finding.remedy is not None
    assert finding.remedy.overrides == {"loader": {"file": "train.py", "line": 5, "persistent_workers": True}}


def test_workers_that_last_are_not_restarted(tmp_path: Path) -> None:
    """They were told to."""
    loaders = passes(open_ns=150 * MS, last_wait_ns=50 * MS, persistent=True)

    assert "workers-restarted" not in slugs(diagnosed(tmp_path / "r", **trained([4], loaders=loaders, **WORKERS)))


def test_one_pass_restarts_nothing(tmp_path: Path) -> None:
    """There is no second epoch."""
    loaders = passes(1, open_ns=150 * MS, last_wait_ns=50 * MS, dur_ns=5_900 * MS)

    assert "workers-restarted" not in slugs(diagnosed(tmp_path / "r", **trained([4], loaders=loaders, **WORKERS)))


def test_threads_of_keras_are_restarted_without_a_remedy(tmp_path: Path) -> None:
    """Keras offers no setting for it."""
    threads: dict[str, Any] = {"kind": "PyDataset", "uses_processes": False, "open_ns": MS, "last_wait_ns": 200 * MS}
    finding = pick(diagnosed(tmp_path / "r", **trained([4], loaders=passes(**threads))), "workers-restarted")

    assert (finding.at_stake_ns, finding.remedy) == (402 * MS, None)


@pytest.mark.parametrize(("uses_processes", "at_stake"), [(True, 416 * MS), (False, None)])
def test_first_batches_that_come_late_are_for_workers_that_import(
    uses_processes: bool, at_stake: int | None, tmp_path: Path
) -> None:
    """0.2 s for the first of 50, where 8 ms a step leave two workers 16 ms for one, in two of three passes.

    Threads import nothing: their 16 ms of beginnings and ends are too little to be told.
    """
    late = {"open_ns": 4 * MS, "first_wait_ns": 216 * MS, "waited_ns": 300 * MS, "dur_ns": 616 * MS}
    loaders = passes(**late, uses_processes=uses_processes)
    found = diagnosed(tmp_path / "r", **trained([4], loaders=loaders, **WORKERS)).findings

    assert next((one.at_stake_ns for one in found if one.slug == "workers-restarted"), None) == at_stake
