"""Gradients of one loss that are taken one variable at a time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit import runs
from tests.unit.analysis.findings.cases import Planted, Tables, diagnosed, pick, quiet, sampled, slugs
from tests.unit.runs import S

TOLD = runs.manifest(keras=None, engine={"name": "tensorflow", "version": "2.21"})


def taking(losses: int, calls: int, more_ns: int) -> Tables:
    """300 steps of 6 s, in a loop that takes gradients of so many losses, so often, and so long beside the longest."""
    told = {"losses": losses, "calls": calls, "more_ns": more_ns, "line": 30}
    detail = json.dumps({"how": "inferred", "same_loss": told})
    return quiet(spans=[runs.span("fit", 2, 8, name="fit", span_id=1, detail=detail)])


def planted() -> Planted:
    """18 in each step: half of the time."""
    return Planted(taking(300, 5400, 3 * S), TOLD)


def test_what_the_calls_beside_the_longest_take_is_at_stake(tmp_path: Path) -> None:
    """With the line, and how all are taken in one call on that engine."""
    finding = pick(planted().diagnosis(tmp_path), "repeated-backward")

    assert finding.at_stake_ns == pytest.approx(3 * S, rel=0.01)
    assert "taken 18 times in a step" in finding.claim
    assert (finding.line, finding.fix) == (
        30,
        "gradients = tape.gradient(loss, variables), with all variables in one list",
    )


@pytest.mark.parametrize(
    ("losses", "calls", "more_ns"),
    [
        (300, 600, 3 * S),  # two: for two groups of variables, each with an optimiser of its own
        (30, 540, 3 * S),  # in one step of ten: somebody looks at gradients now and then
        (300, 5400, S // 10),  # next to nothing
    ],
)
def test_a_few_gradients_of_one_loss_are_nothing(losses: int, calls: int, more_ns: int, tmp_path: Path) -> None:
    """Neither is what costs nothing."""
    assert "repeated-backward" not in slugs(diagnosed(tmp_path / "r", TOLD, **taking(losses, calls, more_ns)))


def test_a_loop_that_takes_each_gradient_once_is_not_judged(tmp_path: Path) -> None:
    """Nothing was told of it."""
    assert "repeated-backward" not in slugs(diagnosed(tmp_path / "r", TOLD, **quiet()))


def going_back(times: int, text: str = "loss.backward(retain_graph=True)") -> Planted:
    """300 steps of 6 s, all below line 3, in whose window a convolution goes back so often for each time forward."""
    conv = {"op": "aten::mkldnn_convolution", "category": "conv", "layer": "body", "direction": "forward", "ms": 2}
    back = {**conv, "op": "aten::convolution_backward", "direction": "backward", "ms": 14 / times}
    stood = sampled((2, 8, [("step", "train.py", 3), ("_engine_run_backward", "torch/autograd/graph.py", 9)]))
    row = {"file": "train.py", "function": "step", "first_line": 1, "line": 3, "hits": None, "time_ns": S}
    source = f"def step(losses):\n    for loss in losses:\n        {text}\n"
    return Planted(quiet(**runs.window([conv, *[back] * times]), **stood, lines=[row]), source=source)


def test_losses_that_go_back_one_by_one_leave_one_of_their_ways(tmp_path: Path) -> None:
    """Seven: six sevenths of 6 s, at the line that keeps the graph."""
    finding = pick(going_back(7).diagnosis(tmp_path), "repeated-backward")

    assert finding.heading == "Each of several losses went back through the same graph"
    assert finding.at_stake_ns == pytest.approx(6 / 7 * 6 * S, rel=0.01)
    assert (finding.line, "7 losses of a step" in finding.claim) == (3, True)


@pytest.mark.parametrize(
    ("times", "text"),
    [(2, "loss.backward(retain_graph=True)"), (7, "loss.backward()")],
    ids=["two-models-in-turn", "graphs-of-their-own"],
)
def test_a_graph_that_is_kept_once_or_not_at_all_is_none(times: int, text: str, tmp_path: Path) -> None:
    """Two losses may be for two models; parts of a batch that go back one by one save memory."""
    assert "repeated-backward" not in slugs(going_back(times, text).diagnosis(tmp_path))


def on_one_tape(times: int, made: str) -> Planted:
    """300 compiled steps of 6 s, in whose window a convolution goes back so often for each time forward."""
    conv = {"op": "_FusedConv2D", "category": "conv", "layer": "model/body", "direction": "forward", "ms": 2}
    back = {**conv, "op": "Conv2DBackpropFilter", "layer": "model/body/convolution", "direction": "backward"}
    row = {"file": "train.py", "function": "step", "first_line": 1, "line": 1, "hits": None, "time_ns": S}
    source = (
        f"with tf.{made} as tape:\n    losses = heads(x)\nfor loss in losses:\n    tape.gradient(loss, variables)\n"
    )
    kernels = [conv, *[{**back, "ms": 14 / times}] * times]
    return Planted(quiet(spans=[runs.fit_span()], **runs.window(kernels), lines=[row]), TOLD, source=source)


def test_losses_whose_gradients_are_taken_of_one_tape_leave_one_of_their_ways(tmp_path: Path) -> None:
    """Seven, in 14 of the 16 ms of operators of a step of 20: six sevenths of these, at the line that takes them."""
    finding = pick(on_one_tape(7, "GradientTape(persistent=True)").diagnosis(tmp_path), "repeated-backward")

    assert finding.at_stake_ns == pytest.approx(6 / 7 * 14 / 20 * 6 * S, rel=0.01)
    assert (finding.line, "goes back 7 times" in finding.claim) == (4, True)


@pytest.mark.parametrize(
    ("times", "made"), [(2, "GradientTape(persistent=True)"), (7, "GradientTape()")], ids=["two", "tapes-of-their-own"]
)
def test_a_tape_that_is_asked_twice_or_once_is_none(times: int, made: str, tmp_path: Path) -> None:
    """Two losses may be for two models."""
    assert "repeated-backward" not in slugs(on_one_tape(times, made).diagnosis(tmp_path))
