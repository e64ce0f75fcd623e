"""Convolutions whose gradients take far longer than they do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim
from dlprof.analysis.findings.slow_gradients import claims
from tests.unit import runs
from tests.unit.analysis.findings.cases import keep_source, on, quiet
from tests.unit.runs import S

PRODUCT = {"op": "aten::mm", "category": "matmul", "direction": "forward", "layer": "fc"}


def convolution(there: float, back: float, layer: str | None = None) -> list[dict[str, Any]]:
    """A convolution and its gradients, in so many ms."""
    both = {"category": "conv", "layer": layer}
    return [
        {**both, "op": "aten::mkldnn_convolution", "direction": "forward", "ms": there},
        {**both, "op": "aten::convolution_backward", "direction": "backward", "ms": back},
    ]


def told(path: Path, *kernels: dict[str, Any]) -> list[Claim]:
    """The claims of 6 s of steps of 20 ms whose window has these kernels."""
    run = runs.trained(path, **quiet(**runs.window(list(kernels))))
    keep_source(run, "def wet(x, filter):\n    return F.conv1d(x, filter)\n")
    return list(claims(Case(run)))


def test_gradients_of_six_times_the_way_there_are_asked_about(tmp_path: Path) -> None:
    """12 ms against 2, of 20: what is more than two and a half times is at stake; its line is where it is written."""
    (claim,) = told(tmp_path / "r", *convolution(2, 12), {**PRODUCT, "ms": 4})

    assert "take 6 times as long as the way there" in claim.sentence.before
    assert claim.line == ("train.py", 2)
    assert sum(claim.takes.values()) == pytest.approx(6 * S * (12 - 5) / 20, rel=0.02)


def test_nine_times_is_usual_on_tensorflow(tmp_path: Path) -> None:
    """Its own kernels for gradients take as long, whatever the script does; 13 times is more than that."""
    gradients = [{**row, "op": "Conv2D"} for row in convolution(1, 9)]
    usual = runs.trained(tmp_path / "a", on("tensorflow"), **quiet(**runs.window(gradients)))
    more = [{**row, "op": "Conv2D"} for row in convolution(1, 13)]
    unusual = runs.trained(tmp_path / "b", on("tensorflow"), **quiet(**runs.window(more)))

    assert list(claims(Case(usual))) == []
    assert len(list(claims(Case(unusual)))) == 1


def test_layers_are_named(tmp_path: Path) -> None:
    """Those whose gradients are slow."""
    (claim,) = told(tmp_path / "r", *convolution(1, 12, "conv3d"), *convolution(2, 4, "head"))

    assert "Gradients of conv3d take 12 times" in claim.sentence.before


@pytest.mark.parametrize(("there", "back", "rest"), [(4, 12, 4), (1, 6, 13), (0, 16, 4)])
def test_usual_gradients_few_of_them_and_those_without_a_way_there_are_none(
    tmp_path: Path, there: float, back: float, rest: float
) -> None:
    """Three times as long; a third of the kernels; a way there that is part of another kernel."""
    kernels = [one for one in convolution(there, back) if one["ms"]]

    assert told(tmp_path / "r", *kernels, {**PRODUCT, "ms": rest}) == []


def test_gradients_that_are_taken_more_often_are_another_cause(tmp_path: Path) -> None:
    """Seven losses that go back through one convolution."""
    there, back = convolution(2, 2)

    assert told(tmp_path / "r", there, *[back] * 7) == []
