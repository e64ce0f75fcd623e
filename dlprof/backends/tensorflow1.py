"""Keras 2.3 on TensorFlow 1, the pair that most published comparisons measured."""

from dlprof.backends.base import LOCKS, BackendSpec

SPEC = BackendSpec(
    name="tensorflow1",
    title="Keras 2.3 on TensorFlow 1.15 (CPU)",
    lock=LOCKS / "tensorflow1.txt",
    python=">=3.7,<3.8",
    keras_backend="tensorflow",
    engine="tensorflow1",
    source_packages=("gast",),
    build_lock=LOCKS / "build-py37.txt",
    how_to_get_python="pyenv install 3.7.17 (or conda create -p DIR python=3.7, and DLPROF_PYTHONS=DIR/bin/python)",
)
