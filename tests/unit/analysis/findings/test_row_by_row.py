"""Layers that go through their rows one by one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings import diagnose
from dlprof.analysis.findings.finding import Finding
from tests.unit import runs
from tests.unit.analysis.findings.cases import KERNELS, Call, diagnosed, keep_source, on, pick, quiet, sampled, slugs
from tests.unit.runs import S


def window(times: int, layer: str = "match") -> dict[str, Any]:
    """A layer that starts a product so many times in each step, beside another one that starts it once."""
    small = {"op": "MatMul", "category": "matmul", "layer": layer, "direction": "forward", "ms": 0.02}
    return runs.window([{**KERNELS[0], "ms": 8}, *[small] * times])


def test_an_operator_that_a_layer_starts_for_each_row_is_named(tmp_path: Path) -> None:
    """100 of 101 operators, nine tenths of 6 s."""
    finding = pick(diagnosed(tmp_path / "r", **quiet(**window(100))), "python-overhead")

    assert finding.heading == "A layer went through its rows one by one"
    assert "match starts MatMul 100 times a step" in finding.claim
    assert finding.at_stake_ns == pytest.approx(0.9 * 6 * S * 100 / 101, rel=0.01)


def test_layers_of_a_few_operators_are_usual(tmp_path: Path) -> None:
    """Twelve heads of attention."""
    assert "python-overhead" not in slugs(diagnosed(tmp_path / "r", **quiet(**window(12))))


def test_recurrent_layers_have_to_go_step_by_step(tmp_path: Path) -> None:
    """An LSTM."""
    fit = runs.fit_span(model={"layers": [{"name": "lstm", "class": "LSTM"}], "models": [], "optimizer": {}})
    tables = quiet(spans=[fit], **window(100, "lstm"))

    assert "python-overhead" not in slugs(diagnosed(tmp_path / "r", **tables))


def test_the_cell_inside_of_a_recurrent_layer_of_keras_is_none_either(tmp_path: Path) -> None:
    """False before: it is a layer of its own, which the list of the model's layers does not have."""
    assert "python-overhead" not in slugs(diagnosed(tmp_path / "r", **quiet(**window(100, "lstm_cell"))))


@pytest.mark.parametrize(
    ("engine", "cell", "fix"),
    [
        ("torch", "nn.LSTMCell", "nn.LSTM over the whole sequence"),
        ("mxnet", "rnn.LSTMCell", "rnn.LSTM(..., layout='NTC') over the whole"),
        ("tensorflow", "tf.contrib.rnn.BasicLSTMCell", "keras.layers.LSTM over the whole sequence"),
        ("chainer", "L.LSTM", "L.NStepLSTM over the whole sequences"),
    ],
)
def test_a_cell_in_a_loop_of_the_script_s_own_is_named_with_the_layer_that_needs_none(
    tmp_path: Path, engine: str, cell: str, fix: str
) -> None:
    """The engine has the same over whole sequences. Those of TensorFlow 1 and Chainer were told to take all at once."""
    text = f"self.cell = {cell}(8, 32)"
    row = {"file": "train.py", "function": "f", "first_line": 1, "line": 9, "hits": 1, "time_ns": 0, "source": text}
    told = {**on(engine), "keras": None}
    run = runs.trained(tmp_path / "r", told, **quiet(lines=[row], **window(100, "cell")))
    keep_source(run, "\n" * 8 + text)

    finding = pick(diagnose.diagnose(run), "python-overhead")

    assert (finding.heading, finding.line) == ("A layer went through time in a loop of Python", 9)
    assert finding.next_step.startswith("Give the whole sequence to the engine's own recurrent layer")
    assert str(finding.fix).startswith(fix)


def test_operators_of_a_prediction_in_the_window_are_not_those_of_the_step(tmp_path: Path) -> None:
    """False before: a callback that predicts gave each layer a hundred products a step."""
    spans = [runs.fit_span(), runs.span("predict", 3.1, 3.15)]

    assert "python-overhead" not in slugs(diagnosed(tmp_path / "r", **quiet(spans=spans, **window(100))))


def in_a_loop(path: Path, text: str) -> Finding:
    """The finding on a layer whose `forward` has a loop of one line, in which the stacks stand."""
    calls: list[Call] = [("<module>", "train.py", 9), ("_call_impl", "torch/nn/modules/module.py", 9)]
    stood = sampled((2, 8, [*calls, ("forward", "train.py", 3), ("forward", "torch/nn/modules/linear.py", 9)]))
    made = {"file": "train.py", "function": "f", "first_line": 1, "line": 9, "hits": 1, "time_ns": 0}
    lines = [{**made, "source": "self.match = match(8)"}]
    run = runs.trained(path, None, **quiet(**window(100), **stood, lines=lines))
    keep_source(run, f"def forward(self, x):\n    for t in range(100):\n        {text}\n")
    return pick(diagnose.diagnose(run), "python-overhead")


def test_what_has_to_go_one_after_the_other_can_save_only_its_start(tmp_path: Path) -> None:
    """False before: that a recurrence could be written for all points in time at once. Of 20 ms 10 are no kernel."""
    finding = in_a_loop(tmp_path / "r", "h = self.cell(x[:, t], h)")

    assert finding.heading == "A layer went through time in a loop of Python"
    assert finding.line == 2
    assert finding.at_stake_ns == pytest.approx(3 * S * 100 / 101, rel=0.01)


def test_a_loop_over_rows_is_named_where_it_is(tmp_path: Path) -> None:
    """Its line was not told before."""
    finding = in_a_loop(tmp_path / "r", "rows.append(self.cell(x[:, t]))")

    assert (finding.heading, finding.line) == ("A layer went through its rows one by one", 2)


@pytest.mark.parametrize(("op", "is_claimed"), [("cond", False), ("mul", True)])
def test_rows_that_choose_between_branches_may_have_to_go_one_by_one(op: str, is_claimed: bool, tmp_path: Path) -> None:
    """False before: over whole arrays, both branches of each would be computed, which took longer."""
    small = {"op": "mul", "category": "elementwise", "layer": "augment", "direction": "forward", "ms": 0.02}
    kernels = runs.window([{**KERNELS[0], "ms": 8}, {**small, "op": op}, *[small] * 100])
    source = "x = jax.lax.map(lambda one: augment(*one), (keys, x))"
    row = {"file": "train.py", "function": "f", "first_line": 1, "line": 56, "hits": 9, "time_ns": 0, "source": source}
    run = runs.trained(tmp_path / "r", on("jax"), **quiet(**kernels, lines=[row]))
    keep_source(run, 55 * "\n" + source + "\n")
    finding = pick(diagnose.diagnose(run), "python-overhead")

    assert finding.line == 56
    assert (finding.confidence >= 0.5) is is_claimed
