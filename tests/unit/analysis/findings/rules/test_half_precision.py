"""Models of 16-bit floats on a processor."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings.finding import Diagnosis
from tests.unit import runs
from tests.unit.analysis.findings.cases import Planted, on, pick, quiet, slugs
from tests.unit.runs import S

OF_KERAS = {"training": {"policy": "mixed_bfloat16", "weights": {"dtype": "float32"}}}
KEPT = {
    "training": {"weights": {"dtype": "float32"}},
    "saved_floats": {"bfloat16": 60, "float32": 40},
    "how": "inferred",
}


def trained(told: dict[str, Any], natively: list[str] | None, backend: str = "torch") -> Planted:
    """A training of 6 s of steps, 4.8 s of which are products."""
    machine = {**runs.manifest()["machine"], "half_floats": natively}
    return Planted(quiet(spans=[runs.fit_span(**told)]), {**on(backend), "machine": machine})


def planted() -> Planted:
    """A mixed policy on a processor that has no such products."""
    return trained(OF_KERAS, [])


def diagnosed(folder: Path, *told: Any) -> Diagnosis:
    """What is said of such a training."""
    return trained(*told).diagnosis(folder)


def test_products_cost_most_where_the_processor_has_none_of_such_floats(tmp_path: Path) -> None:
    """0.88 of theirs on PyTorch, and a trial shows it."""
    finding = pick(planted().diagnosis(tmp_path), "half-precision")

    assert finding.at_stake_ns == pytest.approx(0.88 * 4.8 * S, rel=0.01)
    assert finding.remedy is not None
    assert finding.remedy.overrides == {"policy": "float32"}


@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
def test_weights_of_16_bits_tell_it_too(kind: str, tmp_path: Path) -> None:
    """`model.half()`."""
    told = {"training": {"weights": {"dtype": kind}}, "how": "inferred"}

    assert kind in pick(diagnosed(tmp_path, told, []), "half-precision").claim


def test_casts_that_are_automatic_are_told_by_what_is_kept(tmp_path: Path) -> None:
    """The weights have 32 bits there; Keras has no say in it."""
    finding = pick(diagnosed(tmp_path, KEPT, []), "half-precision")

    assert "computes with bfloat16" in finding.claim
    assert finding.remedy is None


@pytest.mark.parametrize(
    ("told", "natively", "backend"),
    [
        (OF_KERAS, ["bfloat16"], "torch"),
        (OF_KERAS, [], "jax"),
        (OF_KERAS, None, "torch"),
        ({**KEPT, "saved_floats": {"bfloat16": 40, "float32": 60}}, [], "torch"),
        ({"training": {"policy": "float32", "weights": {"dtype": "float32"}}}, [], "torch"),
    ],
)
def test_no_claim(told: dict[str, Any], natively: list[str] | None, backend: str, tmp_path: Path) -> None:
    """A processor that has them, an engine that loses nothing, one that is not known, and models of 32 bits."""
    assert "half-precision" not in slugs(diagnosed(tmp_path, told, natively, backend))
