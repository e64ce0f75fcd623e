"""Metrics that take as long as the model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings import diagnose
from dlprof.analysis.findings.finding import Finding
from tests.unit import runs
from tests.unit.analysis.findings.cases import KERNELS, Planted, Tables, diagnosed, keep_source, pick, quiet, slugs
from tests.unit.runs import S

METRIC = {"op": "Greater", "category": "elementwise", "layer": "metrics", "direction": "forward"}


def beside(ms: float, **changes: Any) -> Tables:
    """Steps of 20 ms, of which so much is the metrics'."""
    return quiet(**runs.window([{**KERNELS[0], "ms": 16 - ms}, {**METRIC, **changes, "ms": ms}]))


def planted() -> Planted:
    """Half of the step."""
    return Planted(beside(10))


def test_nine_tenths_of_what_metrics_compute_are_at_stake(tmp_path: Path) -> None:
    """10 of 20 ms, of 6 s."""
    finding = pick(planted().diagnosis(tmp_path), "costly-metric")

    assert finding.at_stake_ns == pytest.approx(2.7 * S, rel=0.01)
    assert "has 50 % of the steps" in finding.claim


@pytest.mark.parametrize(("ms", "changes"), [(2, {}), (10, {"layer": "loss"})])
def test_a_mean_and_the_loss_are_none(ms: float, changes: dict[str, Any], tmp_path: Path) -> None:
    """A tenth of the step; half of it for the loss."""
    assert "costly-metric" not in slugs(diagnosed(tmp_path / "r", **beside(ms, **changes)))


def written(path: Path, *lines: str) -> Finding:
    """The finding on a script of these lines."""
    run = runs.trained(path, None, **beside(10))
    keep_source(run, "\n".join(lines))
    return pick(diagnose.diagnose(run), "costly-metric")


def test_thresholds_that_are_listed_are_told_apart_from_even_ones(tmp_path: Path) -> None:
    """Each output is compared with each of them."""
    listed = written(tmp_path / "a", "metrics=[", "  metrics.AUC(thresholds=grid),", "]")
    even = written(tmp_path / "b", "model.compile(", "  metrics=[metrics.AUC(num_thresholds=200)])")

    assert (listed.line, listed.fix) == (2, "num_thresholds=... in place of thresholds=[...], or fewer of them")
    assert (even.line, even.fix) == (2, None)
