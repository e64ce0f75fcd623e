"""A layer that is given whole maps, flattened."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.analysis.findings import flattened_maps, heavy_weights
from dlprof.analysis.findings.case import Case
from tests.unit import runs
from tests.unit.analysis.findings.rules.test_wasteful_layer import tables
from tests.unit.runs import S


def found(path: Path, inputs: str = "128x16x16x32") -> flattened_maps.FlattenedMaps | None:
    """What is found in a run whose layer is given maps of these lengths."""
    case = Case(runs.trained(path / "r", **tables(inputs)))
    return flattened_maps.found(case, heavy_weights.largest(case))


def test_its_products_and_its_part_of_the_update_are_what_it_takes(tmp_path: Path) -> None:
    """16 of 20 ms, but one of 256 positions is needed."""
    maps = found(tmp_path)

    assert maps is not None
    assert maps.positions == 256
    assert sum(maps.kernels.values()) == pytest.approx(4.8 * S * 255 / 256, rel=0.01)
    assert maps.share == pytest.approx(0.8, rel=0.02)


def test_few_positions_are_none(tmp_path: Path) -> None:
    """2 by 2."""
    assert found(tmp_path, "128x2x2x2048") is None


def test_without_weights_nothing_is_found(tmp_path: Path) -> None:
    """They were not told."""
    assert flattened_maps.found(Case(runs.trained(tmp_path / "r", **tables())), None) is None
