"""What makes two runs comparable that are not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis import parity_advice
from dlprof.store.run import Run
from tests.unit import runs


def run(path: Path, engine: str, version: str, keras: str | None = None) -> Run:
    """A run of an engine, under that version of Keras; None: without it."""
    told: dict[str, Any] = {"engine": {"name": engine, "version": version}}
    told["keras"] = {"backend": engine, "version": keras} if keras else None
    return runs.held(path, runs.manifest(**told))


@pytest.mark.parametrize(
    ("engine", "version", "keras", "how"),
    [
        ("torch", "2.13", "3.15.0", "call keras.utils.set_random_seed(0)"),
        ("torch", "2.13", None, "call torch.manual_seed(0)"),
        ("jax", "0.10", None, "draw them from jax.random.key(0)"),
        ("tensorflow", "1.15.5", "2.3.1", "call numpy.random.seed(0) and tf.set_random_seed(0)"),
        ("theano", "1.0.5", "2.3.1", "call numpy.random.seed(0)"),
        ("mxnet", "1.9.1", "2.2.4.3", "call numpy.random.seed(0) and mxnet.random.seed(0)"),
    ],
)
def test_one_seed_gives_both_the_same_weights(
    tmp_path: Path, engine: str, version: str, keras: str | None, how: str
) -> None:
    """By the call of the Keras or the engine that the scripts use."""
    a, b = (run(tmp_path / name, engine, version, keras) for name in "ab")

    assert parity_advice.of_weights(a, b) == (
        f"initial weights: {how}, in both scripts before the model is made, and trace both again."
    )


def test_no_seed_gives_two_engines_the_same_weights(tmp_path: Path) -> None:
    """They are to be kept."""
    a, b = run(tmp_path / "a", "torch", "2.13", "3.15.0"), run(tmp_path / "b", "jax", "0.10", "3.15.0")

    assert "Start both from the same saved weights" in parity_advice.of_weights(a, b)


def test_an_engine_whose_seed_is_not_known_gets_no_call(tmp_path: Path) -> None:
    """Nothing is made up."""
    a, b = (run(tmp_path / name, "openvino", "2026.4") for name in "ab")

    assert parity_advice.of_weights(a, b).startswith("initial weights: seed what they are drawn from, in both scripts")
