"""TensorFlow: graph compilation (tracing of tf.function) and making tf.data pipelines."""

from dlprof_probes import wire
from dlprof_probes.inproc.hooks import tensorflow1

_TRACING = "tensorflow.python.eager.polymorphic_function.tracing_compilation"
_DATASET = "tensorflow.python.data.ops.dataset_ops"
_ITERATOR = "tensorflow.python.data.ops.iterator_ops"


def ready(modules):
    """Whether TensorFlow is loaded far enough."""
    return _DATASET in modules and hasattr(modules["tensorflow"], "__version__")


def attach(probe, module):
    """Hook the tracing of functions and the pipelines of tf.data."""
    import sys

    probe.recorder.meta({"engine": "tensorflow", "engine_version": str(module.__version__)})
    if str(module.__version__).startswith("1."):
        probe.sessions = tensorflow1.attach(probe)
        return
    tracing = sys.modules.get(_TRACING)
    if tracing is not None and hasattr(tracing, "_create_concrete_function"):
        probe.graph_compile(tracing, "_create_concrete_function", _function_name)
    else:
        probe.missing.append("tf.function tracing")
    dataset = sys.modules[_DATASET].DatasetV2
    for name in ("from_tensor_slices", "from_tensors", "from_generator"):
        probe.span(dataset, name, wire.SpanKind.DATA, "tf.data." + name, outermost=True)
    iterator = getattr(sys.modules.get(_ITERATOR), "OwnedIterator", None)
    if iterator is not None:
        probe.on_batch(iterator, "__next__", "tf.data")


def _function_name(args):
    for value in args:
        name = getattr(value, "name", None)
        if isinstance(name, str):
            return "trace " + name
    return "trace"
