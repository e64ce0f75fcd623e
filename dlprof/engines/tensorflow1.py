"""TensorFlow 1: graphs that run in sessions."""

from msgspec.structs import replace

from dlprof.engines import tensorflow
from dlprof.engines.base import Dispatch

SPEC = replace(
    tensorflow.SPEC,
    name="tensorflow1",
    title="TensorFlow 1",
    seeding="call tf.set_random_seed(0)",
    series="<2",
    keras_series="<2.4",
    under_keras=Dispatch(),
    window_format="tf1-steps",
    waits_are_idle=False,
    session_functions=("_call_tf_sessionrun",),
    eager_files=(),
    compile_with="",
)
