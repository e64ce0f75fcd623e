"""Keras 3 under the probe."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.contracts import keras_training
from tests.contracts.keras_contract import KerasContract
from tests.stand_ins import keras_versions


class TestKeras3(KerasContract):
    """The loop fetches the batches, as on PyTorch."""

    @classmethod
    def run(cls, folder: Path) -> None:
        """On the stand-in."""
        with keras_versions.loaded("3") as keras:
            keras_training.run(keras, str(folder))


class TestKeras3OnJax(KerasContract):
    """The step function fetches them."""

    @classmethod
    def run(cls, folder: Path) -> None:
        """On the stand-in."""
        with pytest.MonkeyPatch.context() as patch, keras_versions.loaded("3") as keras:
            patch.setenv("KERAS_BACKEND", "jax")
            keras_training.run(keras, str(folder))
