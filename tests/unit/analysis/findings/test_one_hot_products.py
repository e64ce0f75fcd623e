"""One-hot arrays that code of the script's own multiplies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings.diagnose import diagnose
from dlprof.analysis.findings.finding import Diagnosis
from tests.unit import runs
from tests.unit.analysis.findings.cases import (
    BEGIN,
    BUSY,
    Call,
    Tables,
    cpu,
    keep_source,
    on,
    pick,
    quiet,
    sampled,
    slugs,
)
from tests.unit.runs import S

SOURCE = "def call(t):\n    x = tf.one_hot(t, 8000)\n    return tf.tensordot(x, w, 1)\n"
MAKES = {"op": "OneHot", "category": "embedding", "ms": 5}
PRODUCT = {"op": "MatMul", "name": "Tensordot/MatMul:MatMul", "category": "matmul", "direction": "forward", "ms": 2}
BACK = {**PRODUCT, "name": "gradient_tape/Tensordot/MatMul/MatMul:MatMul", "direction": "backward", "ms": 4}
OTHER = {"op": "MatMul", "name": "MatMul_1:MatMul", "category": "matmul", "direction": "forward", "ms": 5}
ROW = {"file": "train.py", "function": "call", "first_line": 1, "line": 1, "hits": 1, "time_ns": 1}
FROM_LINE_2: list[Call] = [("<module>", "train.py", 1), ("call", "train.py", 2)]
FROM_LINE_3: list[Call] = [("<module>", "train.py", 1), ("call", "train.py", 3)]


def told(
    path: Path, kernels: list[dict[str, Any]], source: str = SOURCE, backend: str = "tensorflow", **tables: Any
) -> Diagnosis:
    """What is said of 6 s of steps of 20 ms in a loop without Keras, of which a file was kept."""
    manifest = {**on(backend, asynchronous=backend in ("jax", "mxnet")), "keras": None, **tables.pop("told", {})}
    given: Tables = quiet(**{**runs.window(kernels), "lines": [ROW], **tables})
    run = runs.trained(path / "r", manifest, **given)
    keep_source(run, source)
    return diagnose(run)


def test_making_the_array_and_its_product_forward_and_backward_are_one_cause(tmp_path: Path) -> None:
    """11 of the 20 ms of a step; the other products are none of it."""
    finding = pick(told(tmp_path, [MAKES, PRODUCT, BACK, OTHER]), "costly-operator")

    assert finding.claim.startswith("The one-hot array made in line 2 is multiplied in line 3")
    assert (finding.line, finding.confidence) == (2, 0.82)
    assert finding.at_stake_ns == pytest.approx(0.9 * 11 / 20 * 6 * S, rel=0.01)


def test_where_the_same_function_multiplies_other_arrays_too_only_the_array_is_counted(tmp_path: Path) -> None:
    """5 of 20 ms; that a product comes on top is said."""
    other = f"{SOURCE}def score(h):\n    return tf.tensordot(h, v, 1)\n"
    finding = pick(told(tmp_path, [MAKES, PRODUCT, BACK, OTHER], other), "costly-operator")

    assert finding.claim.startswith("OneHot and its kin have 25 % of the steps")
    assert finding.claim.endswith("the product with it in line 3 comes on top, and it is not told which kernels it is.")


def test_lines_of_kernels_tell_which_product_it_is(tmp_path: Path) -> None:
    """JAX names no function, but the line: 7 of 20 ms."""
    of_line = {"op": "dot_general", "category": "matmul", "direction": "forward", "file": "train.py"}
    products = [{**of_line, "line": 3, "ms": 2}, {**of_line, "line": 9, "ms": 9}]
    finding = pick(told(tmp_path, [MAKES, *products], backend="jax"), "costly-operator")

    assert finding.at_stake_ns == pytest.approx(0.9 * 7 / 20 * 6 * S, rel=0.01)


def test_stacks_tell_what_it_takes_where_python_waits_in_the_line(tmp_path: Path) -> None:
    """PyTorch: 2 s that make it, 0.6 s that multiply it, and as long on the way back."""
    stood = sampled((2, 4, FROM_LINE_2), (4, 4.6, FROM_LINE_3), (4.6, 8, FROM_LINE_3[:1]))
    of_torch = {"op": "aten::mm", "category": "matmul"}
    kernels = [{**of_torch, "direction": "forward", "ms": 6}, {**of_torch, "direction": "backward", "ms": 14}]
    finding = pick(told(tmp_path, kernels, backend="torch", **stood), "costly-operator")

    assert finding.at_stake_ns == pytest.approx(0.9 * (2 + 0.6 + 0.6) * S, rel=0.01)


@pytest.mark.parametrize(("layer", "counted_ms"), [("net0_pairs0_dense0", 11), ("net0_dense0", 5)])
def test_the_only_product_in_the_layer_that_makes_the_array_is_its_product(
    tmp_path: Path, layer: str, counted_ms: int
) -> None:
    """MXNet: a block of Gluon with a Dense layer of its own, 11 of 20 ms; one of another block is not counted."""
    makes = {**MAKES, "op": "one_hot", "layer": "net0_pairs0"}
    dense = {"op": "FullyConnected", "category": "matmul", "layer": layer, "direction": "forward", "ms": 6}
    other = {**dense, "layer": "net0_dense1", "ms": 5}
    source = "project = nn.Dense(64)\ndef call(t):\n    return project(F.one_hot(t, 8000))\n"
    finding = pick(told(tmp_path, [makes, dense, other], source, "mxnet"), "costly-operator")

    assert finding.at_stake_ns == pytest.approx(0.9 * counted_ms / 20 * 6 * S, rel=0.01)


def test_pages_that_such_an_array_touches_are_no_cause_of_their_own(tmp_path: Path) -> None:
    """Said before, and first: that the training waits for memory."""
    process = {**runs.manifest()["process"], "cpu_user_ns": 9 * S, "cpu_system_ns": 3 * S}
    pages = cpu((2.0, BEGIN), (8.0, {**BUSY, "faults_minor": 1_200_000, "rss_bytes": 2 * S}))
    kernels = [{**MAKES, "ms": 10}, PRODUCT, {**BACK, "ms": 8}]
    named = told(tmp_path / "a", kernels, told={"process": process}, **pages)
    alone = told(tmp_path / "b", kernels, "", told={"process": process}, **pages)

    assert slugs(named) == ["costly-operator"]
    assert "memory-pressure" in slugs(alone)
