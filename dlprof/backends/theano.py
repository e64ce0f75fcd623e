"""Keras 2.3 on Theano, on a modern interpreter with the help of a shim."""

from dlprof.backends.base import COMPAT, LOCKS, BackendSpec

SPEC = BackendSpec(
    name="theano",
    title="Keras 2.3 on Theano 1.0 (CPU; wants g++)",
    lock=LOCKS / "theano.txt",
    python=">=3.11,<3.12",
    keras_backend="theano",
    engine="theano",
    source_packages=("theano",),
    build_lock=LOCKS / "build.txt",
    # Left to itself, Theano asks NumPy for a BLAS in a way that newer NumPys do not answer.
    environment={"THEANO_FLAGS": "blas.ldflags="},
    site_files=(COMPAT / "dlprof_compat_keras2.py", COMPAT / "dlprof_compat_keras2.pth"),
)
