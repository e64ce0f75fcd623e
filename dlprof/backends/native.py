"""The frameworks without Keras: their scripts tell their phases by marks. Most share the environment of a backend."""

from msgspec.structs import replace

from dlprof.backends import cntk, jax, mxnet, tensorflow, tensorflow1, theano, torch
from dlprof.backends.base import COMPAT, LOCKS, BackendSpec

PREFIX = "native-"
"""What names of native backends begin with."""


def _native(name: str, title: str, base: BackendSpec) -> BackendSpec:
    return replace(base, name=PREFIX + name, title=title, keras_backend="", environment_of=base.name)


SPECS = (
    _native("tensorflow", "TensorFlow 2.21, without Keras", tensorflow.SPEC),
    _native("tensorflow1", "TensorFlow 1.15, without Keras", tensorflow1.SPEC),
    _native("jax", "JAX 0.10, without Keras", jax.SPEC),
    _native("torch", "PyTorch 2.13, without Keras", torch.SPEC),
    _native("gluon", "Gluon (MXNet 1.9), without Keras", mxnet.SPEC),
    _native("theano", "Theano 1.0, without Keras", theano.SPEC),
    _native("cntk", "CNTK 2.7, without Keras", cntk.SPEC),
    BackendSpec(
        name="native-lasagne",
        title="Lasagne 0.1 on Theano 1.0",
        lock=LOCKS / "lasagne.txt",
        python=">=3.11,<3.12",
        keras_backend="",
        engine="theano",
        source_packages=("theano", "lasagne"),
        build_lock=LOCKS / "build.txt",
        environment=theano.SPEC.environment,
        site_files=(COMPAT / "dlprof_compat_keras2.py", COMPAT / "dlprof_compat_keras2.pth"),
    ),
    BackendSpec(
        name="native-chainer",
        title="Chainer 7.8",
        lock=LOCKS / "chainer.txt",
        python=">=3.11,<3.12",
        keras_backend="",
        engine="chainer",
        source_packages=("chainer",),
        build_lock=LOCKS / "build.txt",
    ),
    BackendSpec(
        name="native-caffe2",
        title="Caffe2 (in PyTorch 1.8; 1.7 GB, only on demand)",
        lock=LOCKS / "caffe2.txt",
        python=">=3.8,<3.9",
        keras_backend="",
        engine="caffe2",
        on_demand=True,
        how_to_get_python="uv python install 3.8",
    ),
)
