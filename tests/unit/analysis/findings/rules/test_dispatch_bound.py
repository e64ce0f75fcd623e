"""Steps that are too small."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit import runs
from tests.unit.analysis.findings import foreign
from tests.unit.analysis.findings.cases import SMALL, Planted, diagnosed, in_callbacks, on, pick, quiet
from tests.unit.runs import MS, S


def planted() -> Planted:
    """2 samples a step, and kernels in a tenth of it."""
    return Planted(
        quiet(spans=[runs.fit_span(batch_size=2)], steps=runs.steps(300, samples=2), **runs.window(SMALL)),
        on("tensorflow"),
    )


def test_tiny_batches_are_dispatch_bound(tmp_path: Path) -> None:
    """2 samples a step, and kernels in a tenth of it."""
    finding = pick(planted().diagnosis(tmp_path), "dispatch-bound")

    assert finding.at_stake_ns == pytest.approx(5.4 * S * (1 - 2 / 128), rel=0.01)


def test_saves_between_small_steps_are_no_part_of_starting_them(tmp_path: Path) -> None:
    """Nine tenths of 4 s of steps, of which larger batches save half; 2 s of callbacks save the model."""
    tables = {
        **in_callbacks(("save", "keras/src/saving/saving_api.py", 5)),
        **runs.window(SMALL),
        "steps": runs.steps(200, samples=128),
        "spans": [runs.fit_span(), runs.span("save", 6, 7), runs.span("save", 7, 8)],
    }

    assert pick(diagnosed(tmp_path / "r", on("tensorflow"), **tables), "dispatch-bound").at_stake_ns == pytest.approx(
        1_800 * MS, rel=0.01
    )


def test_a_foreign_trace_with_long_idle_steps_is_not_judged() -> None:
    """A TPU that idles for two thirds of its 57 steps of 0.8 s: nothing tells that these are small."""
    because = foreign.abstained("xprof_tpu_v6e.xplane.pb.gz", "dispatch-bound")

    assert because == "a foreign trace does not tell its batch; gaps of a device tell more: small-kernels, gpu-idle"
