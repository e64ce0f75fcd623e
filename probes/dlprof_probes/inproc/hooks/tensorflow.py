"""TensorFlow: graph compilation (tracing of tf.function) and making tf.data pipelines."""

import re

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
        probe.graph_compile(tracing, "_create_concrete_function", _function_name, signature=_signature)
        _watch_first_runs(probe, tracing)
    else:
        probe.missing.append("tf.function tracing")
    dataset = sys.modules[_DATASET].DatasetV2
    for name in ("from_tensor_slices", "from_tensors", "from_generator"):
        probe.span(dataset, name, wire.SpanKind.DATA, "tf.data." + name, outermost=True)
    iterator = getattr(sys.modules.get(_ITERATOR), "OwnedIterator", None)
    if iterator is not None:
        probe.on_batch(iterator, "__next__", "tf.data")


def _watch_first_runs(probe, tracing):
    """Note how long the first call of each traced function takes: TensorFlow optimizes its graph only then."""
    watch = probe.guard(lambda function: _watch_first_run(probe, function))

    def make(original):
        def create(*args, **kwargs):
            function = original(*args, **kwargs)
            watch(function)
            return function

        return create

    probe.replace(tracing, "_create_concrete_function", make, again=True)


def _watch_first_run(probe, function):
    recorder = probe.recorder
    if probe.current_loop() is not None or any(kind == wire.SpanKind.GRAPH_COMPILE for _, kind in recorder.stack()):
        return  # a step, whose time is known, or a part of another graph
    run, name = function._call_flat, "first run of %s" % getattr(function, "name", "a graph")
    begin, end = probe.guard(recorder.begin), probe.guard(recorder.end)

    def first(*args, **kwargs):
        vars(function).pop("_call_flat", None)
        span = begin(wire.SpanKind.FIRST_RUN, name)
        try:
            return run(*args, **kwargs)
        finally:
            if span is not None:
                end(span)

    function._call_flat = first


def _function_name(args):
    for value in args:
        name = getattr(value, "name", None)
        if isinstance(name, str):
            return "trace " + name
    return "trace"


_SPEC = re.compile(r"TensorSpec\(shape=([^=]*), dtype=tf\.(\w+)(?:, name=[^)]*)?\)")
_LITERAL = re.compile(r"^Literal\[(.*)\]$", re.DOTALL)


def _signature(args):
    """The function that is traced, and the types of its arguments; `Literal[...]` are values of Python."""
    options = args[3]
    function = getattr(options, "python_function", None)
    types = {}
    for name, parameter in args[0].parameters.items():
        text = _SPEC.sub(lambda match: "%s%s" % (match.group(2), match.group(1)), str(parameter.type_constraint))
        types[name] = _LITERAL.sub(lambda match: match.group(1), text)
    return (function or options.name), str(options.name), types
