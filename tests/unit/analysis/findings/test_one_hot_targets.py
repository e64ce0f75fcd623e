"""Targets that are one-hot arrays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings import one_hot_targets
from dlprof.analysis.findings.case import Case
from tests.unit import runs
from tests.unit.analysis.findings.cases import BEGIN, BUSY, cpu, diagnosed, pick, quiet
from tests.unit.runs import S


def wide(columns: list[int], loss: str) -> dict[str, Any]:
    """The span of a training that is given arrays of such widths."""
    span = runs.fit_span(training={"loss": loss})
    return {**span, "detail": json.dumps({**json.loads(span["detail"]), "one_hot": columns})}


@pytest.mark.parametrize(
    ("columns", "loss", "are_told"),
    [
        ([6000], "categorical_crossentropy", True),
        ([100], "categorical_crossentropy", False),
        ([], "categorical_crossentropy", False),
        ([6000], "sparse_categorical_crossentropy", False),
        ([6000], "mse", False),
    ],
)
def test_wide_targets_of_a_loss_that_takes_integers_as_well(
    columns: list[int], loss: str, are_told: bool, tmp_path: Path
) -> None:
    """With another loss such an array is something else, and few columns cost little."""
    told = one_hot_targets.said(Case(runs.trained(tmp_path / "r", None, **quiet(spans=[wide(columns, loss)]))))

    assert (told is not None) is are_told


def test_new_memory_that_they_take_is_theirs(tmp_path: Path) -> None:
    """Not that of large arrays in general: the width and the loss that takes numbers of classes are named."""
    spans = [wide([6000], "categorical_crossentropy")]
    stalled = cpu((2.5, BEGIN), (7.5, BUSY), stall_memory_ns=2 * S)
    finding = pick(diagnosed(tmp_path / "r", **quiet(spans=spans, **stalled)), "memory-pressure")

    assert "one-hot arrays of 6,000 columns" in finding.next_step
    assert finding.fix == one_hot_targets.FIX
