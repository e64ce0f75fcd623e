"""Layers that are not trained, in each epoch again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit import runs
from tests.unit.analysis.findings.cases import Planted, Tables, diagnosed, pick, quiet, slugs
from tests.unit.runs import S

TOLD = runs.manifest()


def layer(name: str, *, trained: bool, weights: tuple[str, ...] = ("3x3",)) -> dict[str, Any]:
    """A row of `layers`."""
    return {
        "model": 1, "layer": name, "class": "Conv2D", "inputs": [], "output": "4", "dtype": "float32", "calls": 1,
        "trained": trained, "first": False, "weight_names": ["kernel"][: len(weights)], "weights": list(weights),
        "bytes_per_value": 4,
    }  # fmt: skip


def kernel(name: str, direction: str, ms: float) -> dict[str, Any]:
    """A kernel of each step."""
    return {"op": "Conv", "category": "conv", "layer": name, "direction": direction, "ms": ms}


def frozen(
    *more: dict[str, Any],
    epochs: int = 4,
    random: str = "",
    backbone_is_trained: bool = False,
    behind: tuple[dict[str, Any], ...] = (),
) -> Tables:
    """A backbone of 12 of 16 ms of kernels in each of 300 steps of 20 ms, and a head that is trained."""
    kernels = [kernel("backbone", "forward", 12), kernel("head", "forward", 2), kernel("head", "backward", 2), *more]
    model = {"layers": [{"name": random, "class": "RandomFlip"}] if random else [], "models": []}
    data = [{"shape": [320, 64], "dtype": "float32"}]
    detail = json.dumps({"model": model, "data": data})
    return quiet(
        **runs.window(kernels),
        layers=[
            *([layer(random, trained=False, weights=())] if random else []),
            layer("backbone", trained=backbone_is_trained),
            layer("head", trained=True),
            *behind,
        ],
        epochs=[{"loop_id": 1, "epoch": n, "start_ns": 2 * S + n, "dur_ns": 1, "steps": 75} for n in range(epochs)],
        spans=[runs.span("fit", 2, 8, name="fit", span_id=1, detail=detail)],
    )


def planted() -> Planted:
    """Three quarters of the kernels."""
    return Planted(frozen(), TOLD)


def test_all_epochs_of_the_frozen_layers_but_one_are_at_stake(tmp_path: Path) -> None:
    """Kernels have 16 of 20 ms of a step: 4.8 of 6 s; of these three quarters, in three of four epochs."""
    finding = pick(planted().diagnosis(tmp_path), "frozen-forward")

    assert finding.at_stake_ns == pytest.approx(4.8 * S * 0.75 * 0.75, rel=0.01)
    assert "1 layers whose weights stay as they are" in finding.claim


@pytest.mark.parametrize(
    "tables",
    [
        frozen(epochs=1),  # each row is gone through once
        frozen(backbone_is_trained=True),  # its way back ran under another's name
        frozen(kernel("backbone", "backward", 3)),  # the way back goes through it, to layers before
        frozen(kernel("flip", "forward", 0.1), random="flip"),  # it is given other rows each time
    ],
)
def test_layers_that_are_trained_or_given_other_rows_are_nothing(tables: Tables, tmp_path: Path) -> None:
    """Neither is a single epoch."""
    assert "frozen-forward" not in slugs(diagnosed(tmp_path / "r", TOLD, **tables))


def test_what_is_behind_a_trained_layer_changes_with_it(tmp_path: Path) -> None:
    """A layer that only goes forward there is not counted, and one that draws random numbers there is no hindrance."""
    noisy = frozen(kernel("drop", "forward", 4), behind=(layer("drop", trained=False, weights=()),))
    finding = pick(diagnosed(tmp_path / "r", TOLD, **noisy), "frozen-forward")

    assert "60 % of the kernels' time" in finding.claim


def test_a_training_of_which_no_layers_were_recorded_is_not_said_to_have_no_frozen_ones(tmp_path: Path) -> None:
    """A script's own loop tells the names of layers, not which of them are trained."""
    diagnosis = diagnosed(tmp_path / "r", TOLD, **{**frozen(), "layers": []})

    reasons = [one.because for one in diagnosis.abstained if one.slug == "frozen-forward"]
    assert reasons == ["which layers are trained was not recorded, as in loops that are a script's own"]
