"""Callbacks that hold the training up."""

from __future__ import annotations

from pathlib import Path

from tests.unit import runs
from tests.unit.analysis.findings.cases import FIT, KERNELS, Planted, pick, sampled
from tests.unit.runs import S


def planted() -> Planted:
    """A callback of the user's stands in its line for the second of all callbacks."""
    return Planted(
        {
            **sampled((7, 8, [*FIT, ("on_batch_end", "keras/src/callbacks.py", 9), ("on_batch_end", "train.py", 33)])),
            **runs.window(KERNELS),
        }
    )


def test_a_slow_callback_is_named_with_its_line(tmp_path: Path) -> None:
    """Its time is that of the phase."""
    finding = pick(planted().diagnosis(tmp_path), "slow-callback")

    assert (finding.at_stake_ns, finding.file, finding.line) == (S, "train.py", 33)
    assert finding.claim.startswith("Callbacks, most of all on_batch_end in train.py, hold the training up: 1.00 s")
