"""One run of a pair did more steps."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.analysis.findings.case import Case
from dlprof.schema.tree_paths import Tree
from tests.unit import runs
from tests.unit.analysis.findings.cases import KERNELS, Planted, compared, lasting, longer, parts, pick, quiet, slugs
from tests.unit.runs import S


def planted() -> Planted:
    """600 steps of 20 ms beside 300."""
    twice = longer(6, **runs.window(KERNELS)).changed(lambda tables: {**tables, "steps": runs.steps(600)})
    return Planted(twice.tables, twice.told, against=Planted(quiet()))


def test_twice_the_steps_are_told_as_that(tmp_path: Path) -> None:
    """12 s beside 6, and no step takes longer."""
    diagnosis = planted().diagnosis(tmp_path)
    finding = pick(diagnosis, "more-steps")

    assert slugs(diagnosis) == ["more-steps"]
    assert finding.at_stake_ns == pytest.approx(6 * S, rel=0.01)
    assert finding.claim.startswith(
        "a did 600 steps of training, 300 in b. At what one takes in b, those more take 6.00 s"
    )


def test_more_steps_of_smaller_batches_are_no_more_work(tmp_path: Path) -> None:
    """The same data in twice as many batches: that these are small is the cause."""
    slow, fast = ({"spans": [runs.fit_span(batch_size=size)]} for size in (32, 64))
    twice = planted().changed(lambda tables: {**tables, **slow})
    one = Planted(quiet(**fast))

    assert "more-steps" not in slugs(Planted(twice.tables, twice.told, against=one).diagnosis(tmp_path))


def test_what_each_step_takes_longer_is_left_to_other_causes(tmp_path: Path) -> None:
    """600 steps of 30 ms beside 300 of 20: 6 s of 12 are more steps, and 6 s are longer ones."""
    phases = parts(fit_steps=18, teardown=2)
    intervals = runs.intervals(("import", 0, 2), ("fit.steps", 2, 20), ("teardown", 20, 22))
    kernels = runs.window([{**KERNELS[0], "ms": 26}], dur_ms=30)
    slow = quiet(phases=phases, phase_intervals=intervals, steps=runs.steps(600, dur_ms=30), **kernels)
    pair = compared(Planted(slow, lasting(22)), Planted(quiet()), tmp_path)
    case = Case(pair.a.runs[0], pair)

    assert sum(case.more_steps.values()) == pytest.approx(6 * S, rel=0.02)
    assert case.time(Tree.FIT_STEPS) == pytest.approx(6 * S, rel=0.02)


def test_engines_that_name_the_same_work_otherwise_have_it_in_what_takes_longer(tmp_path: Path) -> None:
    """Twice the steps of another engine, whose kernels are the other's Python: 6 s more steps all the same."""
    twice = longer(6, **runs.window([{**KERNELS[0], "ms": 1}])).changed(lambda one: {**one, "steps": runs.steps(600)})
    other = runs.manifest(backend={**runs.manifest()["backend"], "name": "tensorflow"})
    finding = pick(Planted(twice.tables, twice.told, against=Planted(quiet(), other)).diagnosis(tmp_path), "more-steps")

    assert finding.at_stake_ns == pytest.approx(6 * S, rel=0.02)


def test_fewer_steps_are_no_cause(tmp_path: Path) -> None:
    """What takes longer with half of the steps is not for these."""
    half = longer(6).changed(lambda tables: {**tables, "steps": runs.steps(150, dur_ms=80)})

    assert "more-steps" not in slugs(Planted(half.tables, half.told, against=Planted(quiet())).diagnosis(tmp_path))
