"""Maps that are enlarged before a product that goes point by point."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.unit import runs
from tests.unit.analysis.findings.cases import Tables, diagnosed, pick, quiet, slugs
from tests.unit.analysis.findings.test_one_hot import layer
from tests.unit.runs import S

PRODUCT = {"op": "Conv2D", "category": "conv", "layer": "mix", "direction": "forward", "ms": 4}
REST = {"op": "Conv2D", "category": "conv", "layer": "look", "direction": "forward", "ms": 4}


def tables(given: str = "8x16x16x64", made: str = "8x32x32x64", weights: str = "1x1x64x32") -> Tables:
    """A step of 20 ms: 4 for the product forward and 8 backward, 4 for another layer."""
    window = runs.window([PRODUCT, {**PRODUCT, "direction": "backward", "ms": 8}, REST])
    layers = [
        layer("look", "8x16x16x3", given, "3x3x3x64"),
        layer("grow", given, made),
        layer("mix", "8x32x32x64", "8x32x32x32", weights),
    ]
    return {**quiet(), **window, "layers": layers}


@pytest.mark.parametrize("weights", ["1x1x64x32", "64x32"])
def test_a_product_of_enlarged_maps_is_named_with_the_layer_before(tmp_path: Path, weights: str) -> None:
    """A convolution of one point, or a dense layer: of 12 of 20 ms of 6 s three quarters, for there are 4 points of each."""
    finding = pick(diagnosed(tmp_path / "r", **tables(weights=weights)), "wasteful-layer")

    assert finding.claim.startswith(
        "mix multiplies 64 channels to 32, point by point, behind grow, which made 4 points of each "
        "(16 x 16 x 64 to 32 x 32 x 64)"
    )
    assert finding.at_stake_ns == pytest.approx(6 * S * 9 / 20, rel=0.01)
    assert finding.fix == "mix, then grow"


def test_products_behind_several_layers_are_one_claim_with_what_all_of_them_take(tmp_path: Path) -> None:
    """3 of 4 points of 12 ms, and 3 of 4 of 8 ms, of steps of 20 ms, in 6 s."""
    small = {"op": "Conv2D", "category": "conv", "layer": "small", "direction": "forward", "ms": 8}
    window = runs.window([PRODUCT, {**PRODUCT, "direction": "backward", "ms": 8}, small])
    layers = [
        layer("grow", "8x16x16x64", "8x32x32x64"),
        layer("mix", "8x32x32x64", "8x32x32x32", "1x1x64x32"),
        layer("again", "8x32x32x32", "8x64x64x32"),
        layer("small", "8x64x64x32", "8x64x64x8", "1x1x32x8"),
    ]

    finding = pick(diagnosed(tmp_path / "r", **{**quiet(), **window, "layers": layers}), "wasteful-layer")

    assert "; so do small behind again; that they multiply all of these takes" in finding.claim
    assert finding.at_stake_ns == pytest.approx(6 * S * 15 / 20, rel=0.01)


@pytest.mark.parametrize(
    "changed",
    [
        {"weights": "3x3x64x32"},
        {"given": "8x28x28x64"},
        {"given": "8x32x32x64"},
        {"given": "8x16x16x32"},
        {"given": "8x?x?x64"},
        {"made": "8x64x64x64"},
    ],
)
def test_other_layers_before_or_behind_are_as_they_must_be(tmp_path: Path, changed: dict[str, str]) -> None:
    """It looks at neighbours; padding; nothing more; other channels; not known; another one is between."""
    assert "wasteful-layer" not in slugs(diagnosed(tmp_path / "r", **tables(**changed)))


def test_channels_may_come_first(tmp_path: Path) -> None:
    """As PyTorch has them."""
    told = tables()
    told["layers"] = [
        layer("grow", "8x64x16x16", "8x64x32x32"),
        layer("mix", "8x64x32x32", "8x32x32x32", "1x1x64x32"),
    ]

    assert "wasteful-layer" in slugs(diagnosed(tmp_path / "r", **told))


def test_what_is_done_to_each_point_in_between_is_between(tmp_path: Path) -> None:
    """An activation gives the same shape, and may not come last."""
    told = tables()
    told["layers"].insert(2, layer("activation", "8x32x32x64", "8x32x32x64"))

    assert "wasteful-layer" not in slugs(diagnosed(tmp_path / "r", **told))


@pytest.mark.parametrize(
    ("before", "behind"),
    [
        (layer("grow", "8x64x3", "8x64x60"), layer("mix", "8x64x60", "8x64x256", "60x256")),
        (layer("grow", "8x20x1", "8x20x1000"), layer("mix", "8x20x1000", "8x20x64", "1000x64")),
        (layer("grow", "8x16x64", "8x32x64"), layer("mix", "8x32x64", "8x32x32", "64x128", "32x128")),
        (
            {**layer("grow", "8x8x64", "8x16x64"), "class": "ZeroPadding1D"},
            layer("mix", "8x16x64", "8x16x32", "1x64x32"),
        ),
    ],
)
def test_what_mixes_other_things_is_no_such_product(tmp_path: Path, before: Any, behind: Any) -> None:
    """Channels that are made more, a one-hot array, a recurrent layer, zeros around."""
    told = {**tables(), "layers": [before, behind]}

    assert "wasteful-layer" not in slugs(diagnosed(tmp_path / "r", **told))


def test_where_two_layers_give_that_shape_the_one_before_counts(tmp_path: Path) -> None:
    """A U-Net has maps of equal size on both sides."""
    told = tables()
    skip = layer("skip", "8x32x32x16", "8x32x32x64", "3x3x16x64")
    told["layers"] = [told["layers"][1], skip, told["layers"][2]]

    assert "wasteful-layer" not in slugs(diagnosed(tmp_path / "a", **told))
    told["layers"] = [skip, told["layers"][0], told["layers"][2]]
    assert "wasteful-layer" in slugs(diagnosed(tmp_path / "b", **told))
