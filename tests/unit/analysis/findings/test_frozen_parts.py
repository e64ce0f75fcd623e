"""Parts of a torch model that a loop of the script's own computes again in each epoch, and does not train."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings.finding import Finding
from tests.unit import runs
from tests.unit.analysis.findings.cases import diagnosed, quiet
from tests.unit.runs import S

BACKBONE: dict[str, Any] = {"name": "backbone.0", "class": "Conv2d", "trained": False}
LAYERS: tuple[dict[str, Any], ...] = (
    BACKBONE,
    {"name": "backbone.1", "class": "ReLU"},
    {"name": "head", "class": "Linear", "trained": True},
)


def kernel(layer: str, direction: str, ms: float, category: str = "conv") -> dict[str, Any]:
    """An operator of each traced step."""
    return {"op": f"{layer} {direction}", "category": category, "layer": layer, "direction": direction, "ms": ms}


FORWARD = (kernel("backbone.0", "forward", 11), kernel("backbone.1", "forward", 1))
HEAD = (kernel("head", "forward", 2), kernel("head", "backward", 2))


def finetuned(
    folder: Path,
    *kernels: dict[str, Any],
    layers: tuple[dict[str, Any], ...] = LAYERS,
    epochs: int = 5,
    data: str | None = "TensorDataset",
    other: float = 0.0,
) -> list[Finding]:
    """What is said of 6 s of steps, whose kernels take 16 of 20 ms; a second training may have a share of them."""
    first = int(300 * (1 - other))
    steps = runs.steps(300)
    for row in steps[first:]:
        row["loop_id"] = 2
    detail = json.dumps({"how": "inferred", "model": {"layers": list(layers)}})
    middle = 2 + 6 * (1 - other)
    spans = [runs.span("fit", 2, middle, name="fit", span_id=1, line=9, detail=detail)]
    if other:
        spans.append(runs.span("fit", middle, 8, name="fit", span_id=2, line=20, detail="{}"))
    loader = {"loader": 1, "kind": "DataLoader", "dataset": data, "start_ns": 3 * S, "open_ns": 1, "dur_ns": S}
    tables = quiet(
        **runs.window([*(kernels or FORWARD), *HEAD]),
        steps=steps,
        spans=spans,
        epochs=[{"loop_id": 1, "epoch": n, "start_ns": 2 * S + n, "dur_ns": 1, "steps": 60} for n in range(epochs)],
        loaders=[{**loader, "item_count": 60, "workers": 0}] if data else [],
    )
    found = diagnosed(folder / "r", runs.manifest(keras=None), **tables).findings
    return [one for one in found if one.slug == "frozen-forward"]


def test_a_backbone_that_stays_as_it_is_is_computed_once_too_often_in_each_epoch_but_one(tmp_path: Path) -> None:
    """12 of 16 ms of kernels, which take 4.8 s, in four of five epochs; what has no weights counts with it."""
    (finding,) = finetuned(tmp_path)

    assert finding.at_stake_ns == pytest.approx(4.8 * S * 0.75 * 0.8, rel=0.01)
    assert finding.claim.startswith(
        "1 layer whose weights stay as they are computes the same for each row in each of 5"
    )
    assert (finding.line, finding.is_question) == (9, False)


def test_each_training_is_looked_at_by_itself(tmp_path: Path) -> None:
    """All of the model is trained in a second one, which has half of the steps."""
    (finding,) = finetuned(tmp_path, other=0.5)

    assert finding.at_stake_ns == pytest.approx(4.8 * S * 0.75 * 0.8 / 2, rel=0.01)


@pytest.mark.parametrize("data", ["Augmented", None])
def test_of_data_that_may_differ_it_is_asked(data: str | None, tmp_path: Path) -> None:
    """A data set of the script's own may turn its images; rows may come from anywhere."""
    (finding,) = finetuned(tmp_path, data=data)

    assert finding.is_question


def test_where_the_loop_itself_draws_numbers_it_is_asked(tmp_path: Path) -> None:
    """Noise on each batch, or only an order."""
    noise = {"op": "randn", "category": "random", "layer": None, "direction": "forward", "ms": 0.1}
    (finding,) = finetuned(tmp_path, *FORWARD, noise)

    assert finding.is_question


@pytest.mark.parametrize(
    "more",
    [
        {"layers": (*LAYERS[1:], {**BACKBONE, "trained": True})},
        {"layers": ({**BACKBONE, "varies": True}, *LAYERS[1:])},
        {"layers": (BACKBONE, {**LAYERS[1], "varies": True}, LAYERS[2])},
        {"epochs": 1},
    ],
    ids=["trained", "batch norm", "dropout", "one epoch"],
)
def test_what_differs_each_time_or_comes_once_is_not_computed_again(more: dict[str, Any], tmp_path: Path) -> None:
    """Also a part without gradients that is trained by other means."""
    assert finetuned(tmp_path, **more) == []


@pytest.mark.parametrize(
    "kernels",
    [
        (*FORWARD, kernel("backbone.0", "backward", 2)),
        (kernel("backbone.0", "forward", 1),),
        (*FORWARD, kernel("backbone.1", "forward", 0.1, category="random")),
    ],
    ids=["gradients go through it", "little of the time", "chance in its own code"],
)
def test_kernels_tell_whether_once_would_do(kernels: tuple[dict[str, Any], ...], tmp_path: Path) -> None:
    """Adapters between frozen layers; an embedding; a dropout that is no layer."""
    assert finetuned(tmp_path, *kernels) == []
