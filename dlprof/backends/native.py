"""The frameworks without Keras: their scripts tell their phases by marks. Most share a backend's environment."""

from dataclasses import replace

from dlprof.backends import cntk, jax, mxnet, tensorflow, tensorflow1, theano, torch
from dlprof.backends.base import BackendSpec

PREFIX = "native-"
"""What names of native backends begin with."""


def _native(name: str, title: str, base: BackendSpec, *, asynchronous: bool = False) -> BackendSpec:
    return replace(
        base, name=PREFIX + name, title=title, keras_backend="", environment_of=base.name,
        asynchronous_dispatch=asynchronous, input_inside_step=False,
    )  # fmt: skip


SPECS = (
    _native("tensorflow", "TensorFlow 2.21, without Keras", tensorflow.SPEC),
    _native("tensorflow1", "TensorFlow 1.15, without Keras", tensorflow1.SPEC),
    _native("jax", "JAX 0.10, without Keras", jax.SPEC, asynchronous=True),
    _native("torch", "PyTorch 2.13, without Keras", torch.SPEC),
    _native("gluon", "Gluon (MXNet 1.9), without Keras", mxnet.SPEC, asynchronous=True),
    _native("theano", "Theano 1.0, without Keras", theano.SPEC),
    _native("cntk", "CNTK 2.7, without Keras", cntk.SPEC),
)
