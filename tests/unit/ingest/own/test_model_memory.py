"""What models hold, out of the probe's records."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dlprof.ingest.artifact import ProcessId
from dlprof.ingest.own import model_memory

PROCESS = ProcessId("host", 0, 42, 1_000)


def record(**changes: Any) -> bytes:
    """A dense layer of 3 inputs and 4 outputs, with a momentum."""
    told = {
        "model": 1,
        "loop": 7,
        "name": "net",
        "time_ns": 5_000,
        "variables": [
            ["dense", "dense/kernel", "parameters", [3, 4], "float32", True, None],
            ["norm", "norm/mean", "parameters", [4], "float64", False, None],
            ["dense", "sgd/momentum", "optimizer", [3, 4], "float16", False, None],
        ],
        "outputs": [["dense", [None, 4], "float32"], ["lstm", [None, None, 4], "float32"]],
        "left_out": 0,
        **changes,
    }
    return json.dumps(told).encode()


def rows(payload: bytes, **facts: Any) -> list[tuple[Any, ...]]:
    """Kind, layer, shape, bytes and how of each row."""
    one = model_memory.parse(payload)
    table = model_memory.table({one.model: one}, {7: facts}, PROCESS)
    return [
        (row["kind"], row["layer"], row["shape"], row["bytes"], row["how"], row["direction"])
        for row in table.to_pylist()
    ]


def test_variables_are_exact_and_gradients_an_estimate() -> None:
    """3 x 4 of 4 bytes are 48; what is not trained has no gradient; half precision takes half."""
    assert rows(record(outputs=[])) == [
        ("parameters", "dense", "3x4", 48, "exact", None),
        ("gradients", "dense", "3x4", 48, "estimate", "backward"),
        ("parameters", "norm", "4", 32, "exact", None),
        ("optimizer", "dense", "3x4", 24, "exact", "update"),
    ]


def test_activations_and_input_are_of_a_batch() -> None:
    """What a layer gives for 32 samples; a length that varies is not known, and so are its bytes."""
    data = [{"shape": [1000, 3], "dtype": "float64"}, None]

    assert rows(record(variables=[]), batch_size=32, data=data) == [
        ("activations", "dense", "32x4", 512, "estimate", "forward"),
        ("activations", "lstm", "32x?x4", None, "estimate", "forward"),
        ("input", None, "32x3", 768, "estimate", None),
    ]


def test_without_a_batch_nothing_of_it_is_known() -> None:
    """Not 0."""
    assert rows(record(variables=[], outputs=[["dense", [None, 4], "float32"]])) == [
        ("activations", "dense", "?x4", None, "estimate", "forward")
    ]


def test_gradients_that_are_arrays_are_not_estimated_again() -> None:
    """PyTorch has them."""
    variables = [
        ["a", "a.weight", "parameters", [2], "float32", True, "cpu"],
        ["a", "a.weight", "gradients", [2], "float32", False, "cpu"],
    ]

    assert [row[0::4] for row in rows(record(variables=variables, outputs=[]))] == [
        ("parameters", "exact"),
        ("gradients", "exact"),
    ]


def test_what_was_left_out_is_counted() -> None:
    """Its bytes are not known."""
    assert rows(record(variables=[], outputs=[], left_out=9)) == [("other", None, None, None, "estimate", None)]


@pytest.mark.parametrize(
    ("shape", "dtype", "expected"),
    [((), "int64", 8), ((2, 3), "bfloat16", 12), ((2,), "exotic", None), ((1 << 40, 1 << 40), "float32", None)],
)
def test_bytes_of_an_array(shape: tuple[int, ...], dtype: str, expected: int | None) -> None:
    """None for a type that is not known, and for more than any machine has."""
    assert model_memory.size(shape, dtype) == expected


@pytest.mark.parametrize("changes", [{"model": -1}, {"variables": [["a", "b", "nonsense", [1], "int8", True, None]]}])
def test_a_damaged_record_is_refused(changes: dict[str, Any]) -> None:
    """Numbers that no column holds, words that nobody knows."""
    with pytest.raises(ValueError, match=r"."):
        model_memory.parse(record(**changes))


def layers(*told: list[Any], batch: int | None = 128) -> list[dict[str, Any]]:
    """Rows of the table of layers."""
    model = model_memory.parse(record(layers=list(told)))
    facts = {model.loop: {"batch_size": batch}}
    found: list[dict[str, Any]] = model_memory.layers({1: model}, facts, PROCESS).to_pylist()
    return found


DENSE = ["dense", "Dense", [[None, 8]], [None, 4], "float32", 1, True, True, [["kernel", [8, 4]]]]
POOL = ["pool", "MaxPooling2D", [[None, 8, 8, 2]], [None, 4, 4, 2], "", 1, False, False, []]


def test_layers_have_the_batch_and_the_shapes_of_their_weights() -> None:
    """As text."""
    (row,) = layers(DENSE)

    assert (row["inputs"], row["output"], row["bytes_per_value"]) == (["128x8"], "128x4", 4)
    assert (row["weight_names"], row["weights"], row["first"]) == (["kernel"], ["8x4"], True)


def test_a_layer_that_tells_no_type_has_that_of_the_others() -> None:
    """Keras on MXNet knows that of weights alone."""
    assert [row["dtype"] for row in layers(POOL, DENSE)] == ["float32", "float32"]


def test_without_a_batch_a_shape_is_not_known() -> None:
    """Not one of 0."""
    assert layers(DENSE, batch=None)[0]["output"] == "?x4"


def test_what_is_made_of_a_batch_is_of_the_largest_that_the_model_was_trained_with() -> None:
    """A model is told once, and `fit` called again with more; another model, and predictions, do not count."""
    one = model_memory.parse(record(variables=[], outputs=[["dense", [None, 4], "float32"]]))
    told = {"training": {}, "model": {"models": ["net"]}}
    facts = {
        7: {**told, "batch_size": 32},
        8: {**told, "batch_size": 256},
        9: {"training": {}, "model": {"models": ["other"]}, "batch_size": 4096},
        10: {"model": {"models": ["net"]}, "batch_size": 8192},
    }

    (row,) = model_memory.table({1: one}, facts, PROCESS).to_pylist()

    assert (row["shape"], row["bytes"]) == ("256x4", 4096)


def test_what_a_layer_gives_that_tells_no_type_is_of_that_of_the_others() -> None:
    """Keras 2 knows it of the first layer only."""
    outputs = [["dense", [None, 4], "float16"], ["dropout", [None, 4], ""]]

    assert [row[3] for row in rows(record(variables=[], outputs=outputs), batch_size=32)] == [256, 256]
