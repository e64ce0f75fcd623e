"""Steps of the kernel window's epoch beside those of later ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis import later_epochs
from dlprof.analysis.later_epochs import SlowEpoch
from dlprof.store.run import Run
from tests.unit import runs
from tests.unit.analysis.findings.cases import KERNELS, on
from tests.unit.runs import MS


def trained(path: Path, later_ms: float, told: dict[str, Any] | None = None) -> Run:
    """A hundred steps of 30 ms, ten of which are traced, and a hundred of other length in the second epoch."""
    first = runs.steps(100, dur_ms=30)
    second = runs.steps(100, start_s=5.0, dur_ms=later_ms, epoch=1)
    return runs.held(path, told, **{**runs.training(), **runs.window(KERNELS, dur_ms=30), "steps": [*first, *second]})


def test_an_epoch_that_is_slower_than_those_behind_it_is_told(tmp_path: Path) -> None:
    """30 ms and 12 ms."""
    assert later_epochs.of_window(trained(tmp_path / "r", 12)) == SlowEpoch(0, 30 * MS, 12 * MS)


@pytest.mark.parametrize("later_ms", [30, 25])
def test_epochs_that_are_about_as_fast_are_alike(tmp_path: Path, later_ms: float) -> None:
    """Up to half as fast again."""
    assert later_epochs.of_window(trained(tmp_path / "r", later_ms)) is None


def test_single_steps_say_nothing_where_the_host_runs_ahead(tmp_path: Path) -> None:
    """JAX."""
    assert later_epochs.of_window(trained(tmp_path / "r", 12, on("jax", asynchronous=True))) is None
