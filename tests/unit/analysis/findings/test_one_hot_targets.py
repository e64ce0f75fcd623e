"""Targets that are one-hot arrays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings import diagnose, one_hot_targets
from dlprof.analysis.findings.case import Case
from tests.unit import runs
from tests.unit.analysis.findings.cases import (
    BEGIN,
    BUSY,
    FIT,
    cpu,
    keep_source,
    pick,
    quiet,
    sampled,
    waiting_for_input,
)
from tests.unit.runs import S


def wide(columns: list[int], loss: str, outputs: int = 6000) -> dict[str, Any]:
    """The span of a training that is given arrays of such widths."""
    weights = {"count": 192_000, "dtype": "float32", "sums": [[186_000, 1.0, 2.0], [outputs, 0.0, 0.0]]}
    span = runs.fit_span(training={"loss": loss, "weights": weights})
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


@pytest.mark.parametrize(
    ("source", "are_named"), [("return x, to_categorical(y, 6000)", True), ("return crop(x), numbers", False)]
)
def test_new_memory_of_the_line_that_makes_them_is_theirs(source: str, are_named: bool, tmp_path: Path) -> None:
    """Of another line it is that of large arrays in general."""
    spans = [wide([6000], "categorical_crossentropy")]
    stalled = cpu((2.5, BEGIN), (5.5, BUSY), stall_memory_ns=S)
    calls = [*FIT, ("__next__", "keras/src/iterator.py", 3), ("__getitem__", "train.py", 1)]
    run = runs.trained(tmp_path / "r", None, **waiting_for_input(spans=spans, **sampled((6, 8, calls)), **stalled))
    keep_source(run, source + "\n")
    finding = pick(diagnose.diagnose(run), "memory-pressure")

    assert ("one-hot arrays of 6,000 columns" in finding.next_step) is are_named
    assert (finding.fix == one_hot_targets.FIX) is are_named


def test_wide_arrays_that_the_model_has_no_outputs_for_are_inputs(tmp_path: Path) -> None:
    """Words as one-hot rows, of which one of ten classes is told."""
    spans = [wide([6000], "categorical_crossentropy", outputs=10)]

    assert one_hot_targets.said(Case(runs.trained(tmp_path / "r", None, **quiet(spans=spans)))) is None
