"""Each engine, with tiny trainings."""

from __future__ import annotations

from pathlib import Path

from tests.conformance.acts import Signal
from tests.conformance.case import Case
from tests.conformance.world import World

TRAINING = ("mxnet", "tensorflow", "jax", "torch", "tensorflow1", "theano", "cntk")
ALONE = {"native-chainer": "train_chainer.py", "native-lasagne": "train_lasagne.py", "native-gluon": "train_gluon.py",
         "native-torch": "train_torch.py", "openvino": "predict_openvino.py"}  # fmt: skip
QUIET = World(
    # With more threads than free cores those that wait keep the others from computing.
    environment={"TF_CPP_MIN_LOG_LEVEL": "3", "KERAS_HOME": "{place}/keras", "OMP_NUM_THREADS": "1"},
    limits={"RLIMIT_CORE": 0},
)


THEANO = World(
    environment={
        **QUIET.environment,
        "THEANO_FLAGS": f"blas.ldflags=,base_compiledir={Path.home() / '.theano' / 'conformance'}",
    },
    limits=QUIET.limits,
)
"""What it compiles is kept, where no other test compiles; Lasagne, on Theano too, compiles all of it in each home."""

WITHOUT_CACHE = World(environment={**QUIET.environment, "PYTHONDONTWRITEBYTECODE": "1"}, limits=QUIET.limits)
"""What AutoGraph makes has other names each time."""


def _keras(backend: str, how: str, *acts: Signal) -> Case:
    world = THEANO if backend == "theano" else QUIET
    return Case(f"engines/{backend}/{how}", "train_keras.py", (how,), world, acts, backend=backend)


CASES = [
    *(_keras(backend, "plain") for backend in TRAINING),
    *(Case(f"engines/{backend}/plain", script, world=QUIET, backend=backend) for backend, script in ALONE.items()),
    Case("engines/native-torch/compiled", "compiled_torch.py", world=QUIET, backend="native-torch"),
    Case("engines/tensorflow/functions", "graphs_tensorflow.py", world=WITHOUT_CACHE, backend="tensorflow"),
    _keras("mxnet", "interrupted", Signal("SIGINT")),
    _keras("mxnet", "closes"),
    _keras("jax", "fails"),
    _keras("jax", "closes"),
    _keras("jax", "replaces"),
    _keras("jax", "interrupted", Signal("SIGINT", to="group")),
    _keras("torch", "killed"),
    _keras("torch", "interrupted", Signal("SIGINT")),
    _keras("tensorflow", "fails"),
]
