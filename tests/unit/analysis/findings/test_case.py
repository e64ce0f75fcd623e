"""The time that rules may claim, and what they are told of the run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import StepPart
from tests.unit import runs
from tests.unit.analysis.findings.cases import Planted, compared, longer, on, parts, quiet
from tests.unit.runs import S


def case(path: Path, told: dict[str, Any] | None = None, **tables: Any) -> Case:
    """The case of one run."""
    return Case(runs.trained(path / "r", told, **tables))


def test_of_one_run_all_of_its_time_may_be_claimed(tmp_path: Path) -> None:
    """5 s of steps and 1 s of callbacks are fit's."""
    run = case(tmp_path)

    assert (run.time(Tree.FIT), run.own(Tree.FIT), run.time(Tree.FIT_CALLBACKS)) == (6 * S, 6 * S, S)
    assert run.whole_ns == 10 * S


def test_of_a_pair_only_what_one_run_spends_more_may_be_claimed(tmp_path: Path) -> None:
    """Steps of 12 s against 6; equal imports are nobody's fault."""
    slow, fast = longer(6), Planted(quiet())
    comparison = compared(slow, fast, tmp_path)
    pair = Case(comparison.a.runs[0], comparison)

    assert (pair.own(Tree.FIT), pair.time(Tree.FIT), pair.time(Tree.IMPORT)) == (12 * S, 6 * S, 0)
    assert pair.whole_ns == 6 * S
    assert pair.other is not None
    assert pair.other.own(Tree.FIT) == 6 * S


def test_a_share_is_taken_of_each_leaf_below_a_path(tmp_path: Path) -> None:
    """A quarter of 2 s and of 1 s."""
    phases = parts(fit_steps=2, fit_callbacks=1, evaluate=1)

    assert case(tmp_path, phases=phases, steps=[]).takes(Tree.FIT, share=0.25) == {
        Tree.FIT_STEPS: S // 2,
        Tree.FIT_CALLBACKS: S // 4,
    }


def test_no_rule_takes_dlprofs_own_time(tmp_path: Path) -> None:
    """It has a rule of its own."""
    assert case(tmp_path, phases=parts(dlprof=1, fit_steps=7)).takes(Tree.OWN, Tree.TRACING) == {}


def test_time_of_a_phase_is_spread_over_its_leaves(tmp_path: Path) -> None:
    """Kernels take 16 of each 20 ms of the steps."""
    spread = case(tmp_path, **quiet()).spread({Tree.FIT_STEPS: S})

    assert spread[Tree.FIT_STEPS / StepPart.KERNELS / "matmul"] == pytest.approx(0.8 * S, rel=0.01)
    assert sum(spread.values()) == pytest.approx(S, abs=10)


def test_a_path_that_is_none_is_refused(tmp_path: Path) -> None:
    """Mypy refuses it, too."""
    with pytest.raises(AttributeError):
        case(tmp_path).time("fit/stepz")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (on("jax"), "jax"),
        (on("of my own"), ""),
        (runs.manifest(keras={"backend": "tensorflow", "version": "2.2.5"}), "tensorflow1"),
        (runs.manifest(keras={"backend": "tensorflow", "version": "3.15.0"}), "tensorflow"),
        (runs.manifest(keras=None, engine={"name": "tensorflow", "version": "1.15.5"}), "tensorflow1"),
        (runs.manifest(keras=None, engine={"name": "mxnet"}), "mxnet"),
        (runs.manifest(keras=None, engine=None), "torch"),
    ],
)
def test_the_engine_is_known_by_keras_or_by_itself(tmp_path: Path, told: dict[str, Any], expected: str) -> None:
    """Of one that nobody knows the usual is assumed."""
    assert case(tmp_path, told).engine.name == expected


def test_a_run_without_phases_is_no_case(tmp_path: Path) -> None:
    """Nothing can be claimed of it."""
    with pytest.raises(Abstain, match="the run has no phases"):
        Case(runs.make(tmp_path / "r"))
