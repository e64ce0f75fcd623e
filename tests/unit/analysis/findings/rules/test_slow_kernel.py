"""Kernels that take longer than those of the other run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.unit import runs
from tests.unit.analysis.findings.cases import KERNELS, Planted, longer, pick, quiet, slugs
from tests.unit.runs import S


def planted() -> Planted:
    """36 ms against 16 of each step."""
    slow = longer(6, **runs.window([{**KERNELS[0], "ms": 36}], dur_ms=40))
    return Planted(slow.tables, slow.told, against=Planted(quiet()))


def test_a_slower_kernel_is_named_with_layer_and_ratio(tmp_path: Path) -> None:
    """36 ms against 16 of each step."""
    diagnosis = planted().diagnosis(tmp_path)

    assert slugs(diagnosis)[0] == "slow-kernel"
    assert pick(diagnosis, "slow-kernel").at_stake_ns == pytest.approx(6 * S, rel=0.02)
    claim = diagnosis.findings[0].claim
    assert claim.startswith("aten::mm and what goes with it in dense takes 10.8 s, 2.2 x as long as b's (aten::mm)")


def test_a_layer_keeps_the_signs_of_its_name(tmp_path: Path) -> None:
    """Braces are no places to fill in."""
    kernel = {**KERNELS[0], "layer": "block{2}"}
    slow = longer(6, **runs.window([{**kernel, "ms": 36}], dur_ms=40))
    diagnosis = Planted(slow.tables, slow.told, against=Planted(quiet(**runs.window([kernel])))).diagnosis(tmp_path)

    assert pick(diagnosis, "slow-kernel").claim.startswith("aten::mm and what goes with it in block{2} takes 10.8 s")


def test_twice_as_many_steps_are_no_slow_kernel(tmp_path: Path) -> None:
    """Each step takes as long as one of the other run."""
    kernels = runs.window(KERNELS)
    twice = longer(6, **kernels).changed(lambda tables: {**tables, "steps": runs.steps(600)})
    diagnosis = Planted(twice.tables, twice.told, against=Planted(quiet(**kernels))).diagnosis(tmp_path)

    assert "slow-kernel" not in slugs(diagnosis)


def test_the_updates_of_another_optimiser_are_told_as_its_own(tmp_path: Path) -> None:
    """24 against 4 ms of each step: nobody has to look for another operator."""
    update = {"op": "aten::div", "category": "optimiser", "layer": "Adam", "direction": "update"}
    slow = longer(6, **runs.window([{**update, "ms": 24}], dur_ms=40))
    adam = {**slow.tables, "spans": [runs.fit_span(training={"optimizer": {"class": "Adam"}})]}
    fast = quiet(**runs.window([{**update, "layer": "SGD", "op": "aten::add_", "ms": 4}]))
    diagnosis = Planted(adam, slow.told, against=Planted(fast)).diagnosis(tmp_path)

    finding = pick(diagnosis, "slow-kernel")
    assert finding.claim.startswith("The updates of Adam take 7.20 s, those of SGD in the other run 1.20 s:")
    assert finding.at_stake_ns == pytest.approx(6 * S, rel=0.02)
    assert finding.next_step.startswith("Another optimiser does other work")


def sized(weights: int) -> list[dict[str, Any]]:
    """The span of a training of a model with so many weights."""
    return [runs.fit_span(training={"weights": {"count": weights, "dtype": "float32"}})]


def test_a_larger_model_is_told_as_that_and_no_operator_as_slow(tmp_path: Path) -> None:
    """False before: a layer of one name was taken for the same one, 106 times as slow."""
    slow = longer(6, **runs.window([{**KERNELS[0], "ms": 36}], dur_ms=40), spans=sized(2_499_082))
    against = Planted(quiet(spans=sized(399_370)))
    finding = pick(Planted(slow.tables, slow.told, against=against).diagnosis(tmp_path), "slow-kernel")

    assert finding.heading == "The model asks for more than in the other run"
    assert finding.claim.startswith(
        "The models differ: 2,499,082 trainable weights beside 399,370. Kernels, and starting"
    )
    assert finding.at_stake_ns == pytest.approx(6 * S, rel=0.02)


def test_kernels_of_a_smaller_model_are_not_called_slow(tmp_path: Path) -> None:
    """Whose layers do other work."""
    slow = longer(6, **runs.window([{**KERNELS[0], "ms": 36}], dur_ms=40), spans=sized(399_370))
    diagnosis = Planted(slow.tables, slow.told, against=Planted(quiet(spans=sized(2_499_082)))).diagnosis(tmp_path)

    assert "slow-kernel" not in slugs(diagnosis)
    assert "the models differ: 399,370 and 2,499,082 trainable weights" in [one.because for one in diagnosis.abstained]


def test_a_layer_that_is_called_twice_is_not_slow(tmp_path: Path) -> None:
    """Two calls of 16 ms beside one."""
    slow = longer(6, **runs.window([KERNELS[0], KERNELS[0]], dur_ms=40))

    assert "slow-kernel" not in slugs(Planted(slow.tables, slow.told, against=Planted(quiet())).diagnosis(tmp_path))


def test_a_larger_model_takes_longer_also_where_kernels_were_not_traced(tmp_path: Path) -> None:
    """Its steps are one part then."""
    bare: dict[str, Any] = {"kernel_windows": [], "kernel_ops": [], "kernel_events": []}
    slow = longer(6, **bare, spans=sized(2_499_082))
    against = Planted(quiet(**bare, spans=sized(399_370)))
    finding = pick(Planted(slow.tables, slow.told, against=against).diagnosis(tmp_path), "slow-kernel")

    assert finding.claim.startswith(
        "The models differ: 2,499,082 trainable weights beside 399,370. Its steps take 6.00 s"
    )
