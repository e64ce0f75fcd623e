"""Models of PyTorch that are made or loaded again and again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit import runs
from tests.unit.analysis.findings.cases import Call, Tables, diagnosed, parts, pick, quiet, sampled, slugs
from tests.unit.runs import S

OWN = runs.manifest(keras=None, engine={"name": "torch", "version": "2.13"})
LINE: list[Call] = [("<module>", "train.py", 23), ("answer", "train.py", 15)]
MAKES: list[Call] = [*LINE, ("__init__", "torch/nn/modules/linear.py", 9), ("kaiming_uniform_", "torch/nn/init.py", 6)]
EMPTY: list[Call] = MAKES[:-1]
LOADS: list[Call] = [*LINE[:1], ("answer", "train.py", 16), ("load", "torch/serialization.py", 16)]
RUNS: list[Call] = [*LINE[:1], ("answer", "train.py", 19), ("_call_impl", "torch/nn/modules/module.py", 17)]


def serving(*turn: list[Call], times: int = 6) -> Tables:
    """A script of 6 s that goes through these stacks so many times."""
    each = 6 / (times * len(turn))
    stood = [(2 + n * each, 2 + (n + 1) * each, turn[n % len(turn)]) for n in range(times * len(turn))]
    intervals = runs.intervals(("import", 0, 2), ("script", 2, 8), ("teardown", 8, 10))
    line = {"file": "train.py", "function": "answer", "first_line": 14, "line": 15, "hits": times, "time_ns": S}
    when = {"phases": parts(script=6, teardown=2), "phase_intervals": intervals}
    return quiet(steps=[], spans=[], lines=[line], **when, **sampled(*stood))


def test_a_model_that_is_made_and_loaded_for_each_request_is_named_with_its_line(tmp_path: Path) -> None:
    """Two thirds of 6 s; to read its file is a part of it."""
    diagnosis = diagnosed(tmp_path / "r", OWN, **serving(MAKES, LOADS, RUNS))
    finding = pick(diagnosis, "retracing")

    assert (finding.heading, finding.line) == ("Models were set up again and again", 15)
    assert finding.at_stake_ns == pytest.approx(4 * S, rel=0.01)
    assert "io-bound" not in slugs(diagnosis)


@pytest.mark.parametrize(
    "tables", [serving(MAKES, RUNS, times=4), serving(MAKES, EMPTY), serving(LOADS), serving(RUNS, EMPTY)]
)
def test_a_few_models_or_one_of_many_parts_are_no_cause(tmp_path: Path, tables: Tables) -> None:
    """A large model takes long to make, once; so do the models of a search."""
    assert "retracing" not in slugs(diagnosed(tmp_path / "r", OWN, **tables))
