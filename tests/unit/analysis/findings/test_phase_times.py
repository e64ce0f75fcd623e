"""Which stretches of time fall into which phases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings.phase_times import PhaseTimes
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Phase
from tests.unit import runs
from tests.unit.runs import MS, S


def phases(path: Path, **tables: Any) -> PhaseTimes:
    """Those of a run of 10 s: import to 2 s, steps to 7 s, callbacks to 8 s, teardown."""
    return PhaseTimes(runs.trained(path / "r", **tables), 10 * S)


def test_a_stretch_is_cut_by_phase(tmp_path: Path) -> None:
    """From 1.5 s to 3 s: half a second of the import and one of the steps."""
    assert phases(tmp_path).of([(3 * S // 2, 3 * S)]) == {Tree.IMPORT: S // 2, Tree.FIT_STEPS: S}


def test_several_stretches_are_summed(tmp_path: Path) -> None:
    """Twice a quarter of a second of callbacks."""
    assert phases(tmp_path).of([(7 * S, 7 * S + S // 4), (15 * S // 2, 31 * S // 4)]) == {Tree.FIT_CALLBACKS: S // 2}


@pytest.mark.parametrize(
    ("at_ms", "expected"), [(2005, Tree.FIT_STEPS), (2016, Tree.FIT_CALLBACKS), (2025, Tree.FIT_INPUT)]
)
def test_inside_the_steps_callbacks_and_input_are_told_by_the_step(tmp_path: Path, at_ms: int, expected: str) -> None:
    """Steps of 20 ms every 30, the last 5 of them callbacks; before each 10 ms of waiting."""
    steps = [
        {**row, "dur_ns": 20 * MS, "callbacks_ns": 5 * MS, "input_ns": 10 * MS} for row in runs.steps(100, dur_ms=30)
    ]

    assert phases(tmp_path, steps=steps).of([(at_ms * MS, at_ms * MS + MS)]) == {expected: MS}


def test_the_training_goes_from_the_first_step_to_the_end_of_the_last(tmp_path: Path) -> None:
    """250 steps of 20 ms from 2 s on."""
    assert phases(tmp_path).training_span == (2 * S, 7 * S)


def test_without_steps_the_training_is_the_whole_run(tmp_path: Path) -> None:
    """There is nothing better."""
    assert phases(tmp_path, steps=[]).training_span == (0, 10 * S)


def test_the_hosts_time_is_that_of_the_phase(tmp_path: Path) -> None:
    """Whatever the device did meanwhile."""
    assert (phases(tmp_path).host(Phase.FIT_CALLBACKS), phases(tmp_path / "x").host(Phase.SAVE)) == (S, 0)


def test_a_phase_that_nobody_knows_is_none_of_the_others(tmp_path: Path) -> None:
    """A damaged table may hold any text."""
    intervals = runs.intervals(("fit.stepz", 0, 5), ("script", 5, 10))

    assert phases(tmp_path, phase_intervals=intervals).of([(4 * S, 6 * S)]) == {Tree.UNATTRIBUTED: S, Tree.SCRIPT: S}
