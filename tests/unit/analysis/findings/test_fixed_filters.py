"""Convolutions that no layer makes and no gradient goes through."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim
from dlprof.analysis.findings.fixed_filters import claims
from dlprof.schema.vocabulary import Ground
from tests.unit import runs
from tests.unit.analysis.findings.cases import KERNELS, keep_source, on, quiet
from tests.unit.runs import S

_LINE = "wet = F.conv1d(padded, kernel, groups=n)"
_CONV = {"op": "aten::mkldnn_convolution", "category": "conv", "layer": None, "direction": "forward", "ms": 12}


def told(path: Path, *kernels: dict[str, Any], text: str = _LINE) -> list[Claim]:
    """The claims of 6 s of steps of 20 ms with these kernels."""
    run = runs.trained(path, on("torch"), **quiet(**runs.window(list(kernels))))
    keep_source(run, text)
    return list(claims(Case(run)))


def test_such_a_convolution_is_asked_about_at_its_line(tmp_path: Path) -> None:
    """Nine tenths of 12 of 20 ms, of 6 s; how long the filter is nobody says."""
    (claim,) = told(tmp_path / "r", _CONV, {**KERNELS[0], "ms": 4})

    assert "takes 12.0 ms of a step" in claim.sentence.before
    assert claim.line == ("train.py", 1)
    assert sum(claim.takes.values()) == pytest.approx(0.9 * 3.6 * S, rel=0.01)
    assert claim.support is not None
    assert claim.support.ground is Ground.MODEL


@pytest.mark.parametrize(
    "kernels",
    [
        ({**_CONV, "layer": "encoder"}, {**KERNELS[0], "ms": 4}),
        (_CONV, {**_CONV, "direction": "backward", "ms": 3}, {**KERNELS[0], "ms": 1}),
        ({**_CONV, "ms": 3}, {**KERNELS[0], "ms": 13}),
        (_CONV, {**KERNELS[0], "layer": None, "ms": 4}),
    ],
)
def test_what_is_learned_is_short_or_may_be_of_a_layer_is_none(tmp_path: Path, kernels: Any) -> None:
    """Of an engine that tells no layers it is not known."""
    assert told(tmp_path / "r", *kernels) == []


def test_where_no_line_has_one_nothing_is_said(tmp_path: Path) -> None:
    """It may be in a library."""
    assert told(tmp_path / "r", _CONV, {**KERNELS[0], "ms": 4}, text="y = augment(x)") == []
