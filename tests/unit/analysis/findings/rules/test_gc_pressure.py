"""Collections of garbage in the user's work."""

from __future__ import annotations

from pathlib import Path

from tests.unit import runs
from tests.unit.analysis.findings.cases import FIT, KERNELS, Planted, diagnosed, pick, quiet, sampled, slugs
from tests.unit.runs import MS, S


def planted() -> Planted:
    """Ten collections of 80 ms in callbacks."""
    gc = [{"start_ns": 7 * S + n * 100 * MS, "dur_ns": 80 * MS, "generation": 2, "collected": 5} for n in range(10)]
    calls = [*FIT, ("on_batch_end", "keras/src/callbacks.py", 9), ("on_batch_end", "train.py", 33)]
    return Planted({"gc": gc, **sampled((7, 8, calls)), **runs.window(KERNELS)})


def test_collections_in_callbacks_are_not_slow_callbacks(tmp_path: Path) -> None:
    """0.8 s of the callbacks' second are the collector's."""
    diagnosis = planted().diagnosis(tmp_path)

    assert pick(diagnosis, "gc-pressure").at_stake_ns == 800 * MS
    assert pick(diagnosis, "slow-callback").at_stake_ns == 200 * MS


def test_collections_of_imports_are_nobodys_fault(tmp_path: Path) -> None:
    """Every framework has them."""
    gc = [{"start_ns": S, "dur_ns": 800 * MS, "generation": 2, "collected": 5}]

    assert slugs(diagnosed(tmp_path / "r", **quiet(gc=gc))) == []
