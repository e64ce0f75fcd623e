"""Name scopes of TensorFlow and JAX."""

from __future__ import annotations

import dataclasses

import pytest

from dlprof.ingest.attribution import paths
from dlprof.ingest.attribution.labels import Model

MODEL = Model(("dense_1", "dense_2", "dense_1_1"), ("sequential",), ("rm_sprop", "RMSprop"))


@pytest.mark.parametrize(
    ("path", "label"),
    [
        ("StatefulPartitionedCall/sequential_1/dense_2_1/MatMul", ("dense_2", "forward")),
        ("StatefulPartitionedCall/sequential_1/dense_1_1/MatMul", ("dense_1_1", "forward")),
        ("StatefulPartitionedCall/gradient_tape/sequential_1/dense_2_1/MatMul/MatMul", ("dense_2", "backward")),
        ("StatefulPartitionedCall/rm_sprop/Square_2", ("rm_sprop", "update")),
        ("StatefulPartitionedCall/compile_loss/categorical_crossentropy/Sum", ("loss", "forward")),
        ("StatefulPartitionedCall/gradient_tape/compile_loss/mul", ("loss", "backward")),
        ("jit(train_step)/jvp(dense_1)/dot_general", ("dense_1", "forward")),
        ("jit(train_step)/transpose(jvp(dense_2))/dot_general", ("dense_2", "backward")),
        ("jit(train_step)/jvp(dense_1)/jit(_bernoulli)/jit(_uniform)/while", ("dense_1", "forward")),
        ("jit(train_step)/mul;jit(train_step)/transpose(jvp(dense_1))/dot_general", ("dense_1", "backward")),
        ("jit(update)/mul;jit(update)/add", (None, None)),
        ("StatefulPartitionedCall/ArgMax", (None, None)),
    ],
)
def test_name_scopes_tell_layer_and_direction(path: str, label: tuple[str | None, str | None]) -> None:
    """TensorFlow's and JAX's; a layer that is really called dense_1_1 is not taken for dense_1."""
    assert paths.label(path, MODEL) == label


@pytest.mark.parametrize(
    ("path", "label"),
    [
        ("StatefulPartitionedCall/ArgMax", ("metrics", "forward")),
        ("StatefulPartitionedCall/gradient_tape/mul", (None, "backward")),
        ("StatefulPartitionedCall/sequential_1/mul", (None, None)),
        ("StatefulPartitionedCall/Add_3/ReadVariableOp:ReadVariableOp", ("metrics", "forward")),
        ("StatefulPartitionedCall/sequential_1/Add/ReadVariableOp", (None, None)),
        ("StatefulPartitionedCall/sequential_1/ReadVariableOp", (None, None)),
        ("ArgMax", (None, None)),
        ("", (None, None)),
    ],
)
def test_what_has_no_scope_in_a_step_of_keras_own_is_the_metrics(
    path: str, label: tuple[str | None, str | None]
) -> None:
    """An operator outside the compiled step is not: it may be anything."""
    assert paths.label(path, dataclasses.replace(MODEL, keras_steps=True)) == label


@pytest.mark.parametrize(
    ("path", "label"),
    [
        ("replica_4/bert/encoder/layer_5/dropout_1/GreaterEqual", ("bert/encoder/layer_5/dropout_1", "forward")),
        ("training/RMSprop/gradients/dense_3/BiasAdd_grad/BiasAddGrad", ("dense_3", "backward")),
        ("training/RMSprop/mul_3", ("RMSprop", "update")),
        ("jit(f)/jit(relu)/max", (None, None)),
        ("while/body/_1/while/MatMul", (None, None)),
        ("lstm/while/body/_23/lstm/while/MatMul", ("lstm", "forward")),
        ("StatefulPartitionedCall/dense/MatMul/ReadVariableOp", ("dense", "forward")),
        ("StatefulPartitionedCall/dense/ReadVariableOp", ("dense", "forward")),
    ],
)
def test_without_a_model_the_scope_stands_for_the_layer(path: str, label: tuple[str | None, str | None]) -> None:
    """Plumbing of the engine is left out of it."""
    found = paths.label(path, Model())

    assert found == label
