"""Operators that a step seldom needs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings.diagnose import diagnose
from tests.unit import runs
from tests.unit.analysis.findings.cases import KERNELS, Planted, Tables, diagnosed, keep_source, on, pick, quiet, slugs
from tests.unit.analysis.findings.test_one_hot import layer
from tests.unit.runs import S

SVD = {"op": "aten::_linalg_svd", "category": "other"}
SORT = {"op": "sort", "category": "reduction"}
COPY = {"op": "copy", "category": "data movement"}
TEXT = {"op": "StringSplitV2", "category": "data movement"}
ONE_HOT = {"op": "one_hot", "category": "data movement"}


def beside(operator: dict[str, Any], ms: float) -> Tables:
    """Steps of 20 ms, 16 of them in kernels; so much of that is the operator's."""
    return quiet(**runs.window([{**KERNELS[0], "ms": 16 - ms}, {**operator, "ms": ms}]))


def planted() -> Planted:
    """Half of the step."""
    return Planted(beside(SVD, 10))


@pytest.mark.parametrize(
    ("operator", "title"),
    [
        (SVD, "Matrices were decomposed in the steps"),
        (SORT, "Sorting took much of the steps"),
        (ONE_HOT, "One-hot arrays were made in the steps"),
        (TEXT, "Texts were taken apart in the steps"),
    ],
)
def test_nine_tenths_of_what_the_operator_takes_are_at_stake(
    operator: dict[str, Any], title: str, tmp_path: Path
) -> None:
    """10 of the 20 ms of a step: 3 of 6 s."""
    finding = pick(diagnosed(tmp_path / "r", **beside(operator, 10)), "costly-operator")

    assert finding.title is not None
    assert finding.title.text == title
    assert finding.at_stake_ns == pytest.approx(2.7 * S, rel=0.01)


@pytest.mark.parametrize(
    "operator",
    [
        {**SVD, "op": "aten::leaky_relu"},
        {**SORT, "op": "UnsortedSegmentSum"},
        {**SORT, "op": "aten::pixel_shuffle"},
        {**TEXT, "op": "BoostedStringSplit"},
        COPY,
    ],
)
def test_other_operators_are_none(operator: dict[str, Any], tmp_path: Path) -> None:
    """Names that have a part of theirs; and copies where Keras runs the steps, or the engine is not JAX."""
    diagnosis = diagnosed(tmp_path / "r", **beside(operator, 10))

    assert not [one for one in diagnosis.findings if one.slug == "costly-operator"]


def test_one_hot_arrays_of_known_layers_are_for_another_rule(tmp_path: Path) -> None:
    """It knows whose product they are in, and with which weights."""
    told = {**beside(ONE_HOT, 10), "layers": [layer("dense", "64x100", "64x10", "100x10")]}

    assert "costly-operator" not in slugs(diagnosed(tmp_path / "r", **told))


def test_a_little_of_it_is_none(tmp_path: Path) -> None:
    """3 of the 20 ms: a sixth of the step is no cause."""
    diagnosis = diagnosed(tmp_path / "r", **beside(SVD, 3))

    assert not [one for one in diagnosis.findings if one.slug == "costly-operator"]


def test_copies_of_an_own_loop_of_jax_are_named_where_an_array_is_changed(tmp_path: Path) -> None:
    """XLA works on while Python goes on: no stack tells the line, but the source does."""
    told = {**on("jax", asynchronous=True), "keras": None}
    row = {"file": "train.py", "function": "loop", "first_line": 9, "line": 9, "hits": 3, "time_ns": 1}
    run = runs.trained(tmp_path / "r", told, **beside(COPY, 10), lines=[row])
    keep_source(run, "def put(state, row, new):\n    return state.at[row].set(new)\n")

    finding = pick(diagnose(run), "costly-operator")

    assert finding.line == 2
    assert finding.at_stake_ns == pytest.approx(2.4 * S, rel=0.01)


ROWS = {"op": "TensorScatterUpdate", "category": "embedding"}
PRODUCT = {"op": "Cumprod", "category": "reduction", "direction": "backward"}
BROADCAST = {"op": "_backward_broadcast_div", "category": "elementwise", "direction": "backward"}


@pytest.mark.parametrize(
    ("operator", "written", "title", "at_stake_s"),
    [
        (ROWS, "tf.tensor_scatter_nd_update(x, ids, new)", "A whole array was copied to change some of its rows", 2.7),
        (PRODUCT, "1 - ops.prod(1 - x, axis=1)", "The gradient of a product over an axis took long", 2.7),
        (BROADCAST, "F.broadcast_div(x, y)", "Gradients of what was broadcast took much of the steps", 2.4),
    ],
)
def test_what_does_more_than_its_line_says_is_named_where_it_is_written(
    operator: dict[str, Any], written: str, title: str, at_stake_s: float, tmp_path: Path
) -> None:
    """10 of the 20 ms of a step, 3 of 6 s."""
    row = {"file": "train.py", "function": "loop", "first_line": 9, "line": 9, "hits": 3, "time_ns": 1}
    run = runs.trained(tmp_path / "r", **beside(operator, 10), lines=[row])
    keep_source(run, f"def head(x):\n    return {written}\n")

    finding = pick(diagnose(run), "costly-operator")

    assert finding.title is not None
    assert (finding.title.text, finding.line) == (title, 2)
    assert finding.at_stake_ns == pytest.approx(at_stake_s * S, rel=0.01)


@pytest.mark.parametrize(
    ("direction", "written"),
    [
        ("backward", "tf.math.cumprod(1 - x, axis=1)"),
        ("backward", "tf.math.cumprod(1 - x, axis=np.prod(shape))"),
        ("forward", "tf.math.cumprod(1 - x, axis=1) * tf.reduce_prod(x)"),
    ],
)
def test_running_products_that_a_script_asks_for_are_none_of_a_gradient(
    direction: str, written: str, tmp_path: Path
) -> None:
    """It has no product of arrays over an axis, or they are on the way there."""
    row = {"file": "train.py", "function": "loop", "first_line": 9, "line": 9, "hits": 3, "time_ns": 1}
    run = runs.trained(tmp_path / "r", **beside({**PRODUCT, "direction": direction}, 10), lines=[row])
    keep_source(run, f"def seen(x):\n    return {written}\n")

    assert "costly-operator" not in slugs(diagnose(run))


@pytest.mark.parametrize(("written", "line"), [("tape.jacobian(y, x)", 3), ("tape.batch_jacobian(y, x)", None)])
def test_a_jacobian_of_a_whole_batch_is_named_where_it_is_written(
    tmp_path: Path, written: str, line: int | None
) -> None:
    """Its rows are worked on at once, 10 of the 20 ms of a step; one for each sample is as it should be."""
    row = {"file": "train.py", "function": "loop", "first_line": 9, "line": 9, "hits": 3, "time_ns": 1}
    of_rows = {"op": "MatMul", "category": "matmul", "layer": "net/dense/MatMul/pfor"}
    run = runs.trained(tmp_path / "r", **beside(of_rows, 10), lines=[row])
    keep_source(run, f"def slope(x):\n    y = net(x)\n    return {written}\n")

    found = [one for one in diagnose(run).findings if one.slug == "costly-operator"]

    assert [one.line for one in found] == ([] if line is None else [line])
    assert all(one.claim.startswith("Operators that run once for each of its rows have 50 %") for one in found)


SLICES = {
    "op": "autograd::engine::evaluate_function: SelectBackward0",
    "category": "elementwise",
    "direction": "backward",
}


def slicing(times: int, ms: float) -> Tables:
    """Steps of 20 ms, 16 of them in kernels; so many gradients of slices have so much of them together."""
    return quiet(**runs.window([{**KERNELS[0], "ms": 16 - ms}, *[{**SLICES, "ms": ms / times}] * times]))


def test_gradients_of_slices_that_are_taken_one_by_one_are_named_with_their_line(tmp_path: Path) -> None:
    """10 of the 16 ms of kernels, in 40 of them."""
    row = {"file": "train.py", "function": "loop", "first_line": 1, "line": 2, "hits": 3, "time_ns": 1}
    run = runs.trained(tmp_path / "r", **slicing(40, 10), lines=[row])
    keep_source(run, "def forward(x):\n    for t in range(40):\n        state = state + x[:, t]\n")

    finding = pick(diagnose(run), "costly-operator")

    assert (finding.title.text if finding.title else "", finding.line) == (
        "Slices were taken of an array one by one",
        3,
    )
    assert finding.at_stake_ns == pytest.approx(0.9 * 10 / 16 * 4.8 * S, rel=0.01)
    assert finding.fix == "for part in x.unbind(1): ..., in place of x[:, t]"


def test_slices_that_a_layer_of_keras_takes_are_none_of_the_script_s(tmp_path: Path) -> None:
    """False for a day: `TimeDistributed` takes an array apart, and a line that made data was named."""
    taken = {**SLICES, "layer": "time_distributed_2", "ms": 10 / 40}
    tables = quiet(**runs.window([{**KERNELS[0], "ms": 6}, *[taken] * 40]))

    assert "costly-operator" not in slugs(diagnosed(tmp_path / "r", **tables))


def test_a_few_slices_are_none(tmp_path: Path) -> None:
    """The gates of a cell are four."""
    assert "costly-operator" not in slugs(diagnosed(tmp_path / "r", **slicing(4, 10)))


def test_a_line_that_only_has_such_a_word_in_it_asks_for_nothing(tmp_path: Path) -> None:
    """`add_weight` is no `eigh`: where a graph runs, the line is the one that is written."""
    row = {"file": "train.py", "function": "call", "first_line": 1, "line": 1, "hits": 3, "time_ns": 1}
    run = runs.trained(tmp_path / "r", **beside({**SVD, "op": "Eigh"}, 10), lines=[row])
    keep_source(run, "w = self.add_weight(shape)\nvalues, _ = ops.linalg.eigh(w)\n")

    assert pick(diagnose(run), "costly-operator").line == 2
