"""Keras 3 on TensorFlow."""

from dlprof.backends.base import LOCKS, BackendSpec

SPEC = BackendSpec(
    name="tensorflow",
    title="Keras 3.15 on TensorFlow 2.21 (CPU)",
    lock=LOCKS / "tensorflow.txt",
    python=">=3.11,<3.13",
    keras_backend="tensorflow",
    engine="tensorflow",
)
