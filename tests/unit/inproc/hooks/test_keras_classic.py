"""Multi-backend Keras, 2.2 and 2.3, under the probe."""

from __future__ import annotations

from pathlib import Path

from tests.contracts import keras_training
from tests.contracts.keras_contract import KerasContract
from tests.stand_ins import keras_versions


class TestKeras22(KerasContract):
    """Batches of training are told by two methods; evaluation has no callbacks."""

    @classmethod
    def run(cls, folder: Path) -> None:
        """On the stand-in."""
        with keras_versions.loaded("2.2") as keras:
            keras_training.run(keras, str(folder))


class TestKeras23(KerasContract):
    """Batches of all loops go through one method."""

    @classmethod
    def run(cls, folder: Path) -> None:
        """On the stand-in."""
        with keras_versions.loaded("2.3") as keras:
            keras_training.run(keras, str(folder))
