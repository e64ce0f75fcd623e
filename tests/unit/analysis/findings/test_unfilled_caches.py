"""Caches that keep nothing for the next epoch."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.analysis.findings.finding import Finding
from tests.unit import runs
from tests.unit.analysis.findings.cases import FIT, diagnosed, pick, sampled, waiting_for_input
from tests.unit.runs import MS, S

MADE = sampled((6, 8, [*FIT, ("__next__", "keras/src/iterator.py", 3), ("batches", "train.py", 21)]))
"""The script's generator works between the steps."""


def cached(path: Path, *, last_ms: float = 20.0, begins_s: float = 3.0, ran: bool = True, behind: str = "FiniteTake",
           work_ms: int = 100) -> Finding:  # fmt: skip
    """Two epochs of 100 steps from 2 s and 4 s on, those of the first of 20 ms; a window of ten batches.

    Args:
        path: Where the run is made.
        last_ms: How long steps of the second epoch take.
        begins_s: When the window begins.
        ran: Whether what stands in front of the cache ran in it.
        behind: The stage behind the cache.
        work_ms: What that takes for a batch.
    """
    row = {"window": 0, "pipeline": 0, "starting_ns": 0, "total_ns": S, "asynchronous": False, "file": "train.py"}
    maps = {"name": "Map", "element_count": 10 * ran, "own_ns": 10 * work_ms * MS * ran, "function": "mel", "line": 33}
    stages = [
        {**row, "stage": 0, "name": "Root", "element_count": 10, "own_ns": 0, "file": None},
        {**row, "stage": 1, "parent": 0, "name": behind, "element_count": 10, "own_ns": 0, "line": 35},
        {**row, "stage": 2, "parent": 1, "name": "MemoryCache", "element_count": 10, "own_ns": 0, "line": 34},
        {**row, "stage": 3, "parent": 2, **maps},
    ]
    begins = {"start_ns": int(begins_s * S), "dur_ns": S}
    window = {"window": 0, "engine": "tensorflow", "loop": "train", "steps": 10, **begins}
    steps = [*runs.steps(100), *runs.steps(100, start_s=4, dur_ms=last_ms, epoch=1)]
    tables = waiting_for_input(steps=steps, input_stages=stages, kernel_windows=[window], **MADE)
    return pick(diagnosed(path, **tables), "input-bound")


@pytest.mark.parametrize(("last_ms", "never_full"), [(20.0, True), (5.0, False)])
def test_a_cache_whose_epochs_all_take_as_long_is_never_full(last_ms: float, never_full: bool, tmp_path: Path) -> None:
    """What stands behind it stops before all of it was read; where it is full, later epochs take less."""
    finding = cached(tmp_path / "r", last_ms=last_ms)

    assert ("The cache at line 34 keeps nothing for the next epoch" in finding.next_step) == never_full
    assert (finding.fix == ".cache() behind .take(...), not in front of it (line 34)") == never_full


@pytest.mark.parametrize(
    ("behind", "work_ms"), [("Shuffle", 100), ("FiniteTake", 4)], ids=["nothing-stops", "steps-compute"]
)
def test_a_cache_may_work_though_epochs_take_as_long(behind: str, work_ms: int, tmp_path: Path) -> None:
    """Nothing stops before its end; or steps of 20 ms are not held up by the 4 ms that a batch takes to make."""
    finding = cached(tmp_path / "r", behind=behind, work_ms=work_ms)

    assert "The cache at line 34" not in finding.next_step
    assert "behind .take(...)" not in str(finding.fix)


@pytest.mark.parametrize("ran", [True, False])
def test_what_runs_in_front_of_a_cache_in_a_later_epoch_tells_that_it_is_not_full(ran: bool, tmp_path: Path) -> None:
    """Whatever the steps take, and whether or not it is known what stops; nothing ran: it is full."""
    finding = cached(tmp_path / "r", behind="Shuffle", begins_s=4.5, ran=ran, last_ms=5)

    told = "What goes into the cache at line 34 was made again in a later epoch"
    assert (told in finding.next_step) == ran
    assert "behind .take(...)" not in str(finding.fix)
