"""What a training step asks of layers."""

from __future__ import annotations

from dlprof.analysis import layer_work
from dlprof.analysis.layer_flops import Layer
from dlprof.schema.vocabulary import Direction

FORWARD = 2 * 128 * 784 * 512
MOVED = 4 * (128 * 784 + 784 * 512 + 128 * 512)


def dense(**changes: object) -> Layer:
    """A layer that makes 512 values of 784."""
    known: dict[str, object] = {
        "name": "dense", "kind": "Dense", "inputs": ((128, 784),), "output": (128, 512), "weights": {"kernel": (784, 512)}
    }  # fmt: skip
    return Layer(**{**known, **changes})  # type: ignore[arg-type]


def flops(one: Layer) -> dict[Direction, float | None]:
    """Operations by direction."""
    return {work.direction: work.flops for work in layer_work.of_step([one])}


def test_gradients_take_twice_as_much_as_the_layer() -> None:
    """One product for the weights, one for the input."""
    assert flops(dense()) == {Direction.FORWARD: FORWARD, Direction.BACKWARD: 2 * FORWARD}


def test_nobody_asks_for_the_gradient_of_data() -> None:
    """The first layer has that of its weights alone."""
    assert flops(dense(is_first=True))[Direction.BACKWARD] == FORWARD


def test_weights_that_stay_as_they_are_have_no_gradient() -> None:
    """The input still has one."""
    assert flops(dense(is_trained=False))[Direction.BACKWARD] == FORWARD


def test_a_first_layer_that_is_not_trained_is_not_gone_back_to() -> None:
    """There is nothing to be had from it."""
    assert list(flops(dense(is_trained=False, is_first=True))) == [Direction.FORWARD]


def test_a_layer_that_is_called_twice_works_twice() -> None:
    """With the same weights."""
    assert flops(dense(calls=2))[Direction.FORWARD] == 2 * FORWARD


def test_inputs_weights_and_outputs_are_moved_once() -> None:
    """Values of four bytes."""
    work = layer_work.of_step([dense()])[0]

    assert work.bytes == MOVED


def test_of_an_embedding_only_what_is_looked_up_is_moved() -> None:
    """Not all of its rows."""
    table = dense(kind="Embedding", inputs=((4, 10),), output=(4, 10, 16), weights={"embeddings": (10**6, 16)})

    assert layer_work.of_step([table])[0].bytes == 4 * 2 * 4 * 10 * 16


def test_a_layer_that_only_sees_its_input_in_another_shape_moves_nothing() -> None:
    """It has no kernel of its own."""
    flat = dense(kind="Flatten", inputs=((4, 8, 8),), output=(4, 64), weights={})

    assert layer_work.of_step([flat])[0].bytes == 0
