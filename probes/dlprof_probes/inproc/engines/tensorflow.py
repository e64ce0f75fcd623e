"""TensorFlow 2: tracing of tf.function, making tf.data pipelines, and its profiler."""

import os
import re
import sys
from json import loads

from dlprof_probes import wire
from dlprof_probes.inproc.engines import (
    tensorflow_autograph,
    tensorflow_datasets,
    tensorflow_loops,
    tensorflow_sessions,
)
from dlprof_probes.inproc.engines.base import Engine
from dlprof_probes.inproc.engines.graph_constants import GraphConstants
from dlprof_probes.inproc.engines.loop_invariants import LoopInvariants
from dlprof_probes.inproc.engines.tensorflow_allocations import AllocationRecords
from dlprof_probes.inproc.kernels.tracer import Tracer, quiet, xplanes

_TRACING = "tensorflow.python.eager.polymorphic_function.tracing_compilation"
_AUTOGRAPH = "tensorflow.python.autograph.impl.api"
_DATASET = "tensorflow.python.data.ops.dataset_ops"
_ITERATOR = "tensorflow.python.data.ops.iterator_ops"
_VALUES = (
    ("tensorflow.python.framework.ops", "_EagerTensorBase"),
    ("tensorflow.python.ops.resource_variable_ops", "BaseResourceVariable"),
)
_READS = (
    ("numpy", "numpy()"), ("__array__", "np.asarray()"), ("__float__", "float()"), ("__int__", "int()"),
    ("__bool__", "bool()"),
)  # fmt: skip
"""What brings values of an eager tensor, or of a variable, to the host."""
_SCRIPT_OPS = "tensorflow.python.ops.script_ops"
_FUNC_GRAPH = "tensorflow.python.framework.func_graph"
_NUMERICS = "tensorflow.python.debug.lib.check_numerics_callback"
_EAGER, _CHECKED = "tf.config.run_functions_eagerly", "tf.debugging.enable_check_numerics"
_DETERMINISTIC = "tf.config.experimental.enable_op_determinism"


class TensorFlowTracer(Tracer):
    """TensorFlow's profiler; its options are left alone, because newer versions only warn about them."""

    def __init__(self):
        self._tensorflow = sys.modules["tensorflow"]
        self._profiler = self._tensorflow.profiler.experimental
        self._allocations = AllocationRecords(self._tensorflow)
        self._folder = None

    def drain(self):
        """Wait for the devices; on the CPU functions run synchronously."""
        if self._tensorflow.config.list_logical_devices("GPU"):
            self._tensorflow.test.experimental.sync_devices()

    def start(self, folder):
        """Begin to trace into `folder`, in the layout of TensorBoard."""
        self._folder = folder
        with quiet():
            self._profiler.start(folder)
        self._allocations.begin()

    def stop(self):
        """End, and name the files."""
        self._allocations.end()
        with quiet():
            self._profiler.stop()
        return xplanes(self._folder)


class TensorFlow(Engine):
    """TensorFlow, from version 2 on."""

    name = module = "tensorflow"
    tracer_class: type = TensorFlowTracer
    switches = (
        (_EAGER, lambda tf: tf.config.functions_run_eagerly()),
        (_CHECKED, lambda _tf: hasattr(sys.modules[_NUMERICS]._state, "check_numerics_callback")),
        (
            _DETERMINISTIC,
            lambda _tf: sys.modules["tensorflow.python.framework.config"].is_op_determinism_enabled(),
        ),
        (
            "TF_ENABLE_ONEDNN_OPTS=0",
            lambda _tf: os.environ.get("TF_ENABLE_ONEDNN_OPTS", "").lower() in ("0", "false"),
        ),
    )

    def __init__(self, probe):
        super(TensorFlow, self).__init__(probe)
        self._graphs = None

    def take_windows(self):
        """Its profiler traces this process; a worker of several has ended by SIGSEGV while it ran (TensorFlow 2.21)."""
        if is_one_of_several(os.environ.get("TF_CONFIG")):
            self.probe.windows.decline("TensorFlow's profiler is not started in one of several workers (TF_CONFIG)")
        else:
            super(TensorFlow, self).take_windows()

    def updated(self, optimizer):
        """An optimiser of Keras was applied: in a graph, which then counts as often as it is called, or at once."""
        if self._graphs is not None:
            self._graphs.by_hand.optimiser_applied()
        if self._graphs is not None and tensorflow_loops.is_in_graph(sys.modules["tensorflow"]):
            self._graphs.traced_update()
        else:
            self.probe.own_loops.update(self, optimizer)

    def speaks_of(self, module):
        """Every version but the first; what does not tell its own yet is taken for one."""
        return not str(getattr(module, "__version__", "2")).startswith("1.")

    def is_ready(self, modules):
        """Whether TensorFlow is loaded far enough."""
        return _DATASET in modules and hasattr(modules["tensorflow"], "__version__")

    def attach(self, module):
        """Hook the tracing of functions and the pipelines of tf.data."""
        self.note_version(module)
        probe = self.probe
        tracing = sys.modules.get(_TRACING)
        if tracing is not None and hasattr(tracing, "_create_concrete_function"):
            probe.graph_compile(
                tracing, "_create_concrete_function", _function_name, signature=_signature, stage="trace"
            )
            self._time_first_runs(tracing)
        else:
            probe.missing.append("tf.function tracing")
        tensorflow_autograph.see_through(probe, sys.modules.get(_AUTOGRAPH))
        self._watch_graphs(sys.modules.get(_FUNC_GRAPH))
        dataset = sys.modules[_DATASET].DatasetV2
        for name in ("from_tensor_slices", "from_tensors", "from_generator"):
            probe.span(dataset, name, wire.SpanKind.DATA, "tf.data." + name, outermost=True)
        iterator = getattr(sys.modules.get(_ITERATOR), "OwnedIterator", None)
        if iterator is not None:
            probe.on_batch(iterator, "__next__", "tf.data")
        tensorflow_datasets.watch(probe, dataset, iterator)
        self._graphs = tensorflow_loops.watch(self, module)
        watch_callbacks(probe, sys.modules.get(_SCRIPT_OPS))
        probe.syncs.watching(self.module)
        for name, owner in _VALUES:
            found = getattr(sys.modules.get(name), owner, None)
            if found is not None:
                probe.syncs.watch(found, _READS)
        tensorflow_sessions.watch(self)

    def _watch_graphs(self, graphs):
        """Look at the nodes of each graph that was traced."""
        name = "func_graph_from_py_func"
        if hasattr(graphs, name):
            looks = GraphConstants(self.probe).of_tensorflow, LoopInvariants(self.probe).of_tensorflow
            hook = self.probe.guard(lambda graph, _args: [look(graph) for look in looks])
            self.probe.replace(graphs, name, lambda f: self.probe.wrappers.after(f, hook))

    def _time_first_runs(self, tracing):
        """Note how long the first call of each traced function takes: TensorFlow optimizes its graph only then."""
        hook = self.probe.guard(self._traced)
        wrappers = self.probe.wrappers
        self.probe.replace(tracing, "_create_concrete_function", lambda f: wrappers.after(f, hook), again=True)

    def _traced(self, function, args):
        if self._graphs is not None:
            self._graphs.traced(function.graph)
        time_first_run(self.probe, function, str(args[3].name))

    def trained_weights(self, optimizer):
        """Numbers and type of what an optimiser of Keras 3, a loop, or a function that holds its step changes."""
        weights = getattr(optimizer, "_trainable_variables", None)
        if weights:
            return tensorflow_loops.weights_of(weights)
        return self._graphs.told_of(optimizer) if self._graphs is not None else None

    def under_keras(self, keras):
        """Take the windows; a Keras of the old kind runs in sessions, which this tracer does not see."""
        if not keras.is_classic:
            self.take_windows()
            if self._graphs is not None:
                tensorflow_loops.watch_keras(self.probe, self._graphs, keras.layer)

    def allocated(self, module):
        """What the allocators of its GPUs count; that of the CPU counts nothing."""
        config = module.config
        infos = [config.experimental.get_memory_info(one.name) for one in config.list_logical_devices("GPU")]
        if not infos:
            return None
        return {"live_bytes": sum(one["current"] for one in infos), "peak_bytes": sum(one["peak"] for one in infos)}

    def threads(self, module):
        """Threads of one operation; 0: it decides by itself."""
        return module.config.threading.get_intra_op_parallelism_threads()

    def is_settable(self, module):
        """Whether its settings are there."""
        return hasattr(module, "debugging")

    def array_types(self, module):
        return (module.Tensor, module.Variable)

    def apply(self, module, settings):
        """Threads, tuning of input pipelines, and switches for debugging."""
        count, off = settings.get("threads"), settings.get("flags_off", ())
        if count:
            self.set_always(module.config.threading, "set_intra_op_parallelism_threads", count)
        if settings.get("autotune") is False:
            self._untune(module)
        if _EAGER in off:
            self.set_always(module.config, "run_functions_eagerly", False)
        if _CHECKED in off:
            self.stub(module.debugging, "enable_check_numerics")
        if _DETERMINISTIC in off:
            self.stub(module.config.experimental, "enable_op_determinism")

    def _untune(self, module):
        options = module.data.Options()
        options.autotune.enabled = False
        make = lambda f: lambda self_: f(self_.with_options(options))  # noqa: E731
        self.probe.replace(module.data.Dataset, "__iter__", make, again=True)


def is_one_of_several(config):
    """Whether TF_CONFIG (its text; None: it is not there) tells of more tasks than one."""
    try:
        return sum(len(tasks) for tasks in loads(config or "{}")["cluster"].values()) > 1
    except (ValueError, KeyError, TypeError, AttributeError):
        return False


def watch_callbacks(probe, script_ops):
    """Tell when `py_function` and its kin, and generators of tf.data, run: on threads of TensorFlow's own."""
    registry = getattr(script_ops, "FuncRegistry", None)
    if registry is None or not probe.replace(registry, "__call__", probe.native_calls.wrap):
        probe.missing.append("tf.py_function")


def time_first_run(probe, function, name):
    """Record a span around the first call of `function` that is made outside of steps and of other graphs.

    Args:
        probe: `Probe`.
        function: What was traced.
        name: Of the function of Python that it was traced from.
    """
    recorder = probe.recorder
    if probe.current_loop() is not None or any(kind == wire.SpanKind.GRAPH_COMPILE for _, kind in recorder.stack()):
        return  # a step, whose time is known, or a part of another graph
    run, text = function._call_flat, "first run of %s" % getattr(function, "name", "a graph")
    begin, end = probe.guard(recorder.begin), probe.guard(recorder.end)
    tell = probe.guard(recorder.detail)

    def first(*args, **kwargs):
        vars(function).pop("_call_flat", None)
        span = begin(wire.SpanKind.FIRST_RUN, text)
        if span is not None:
            tell(span, {"graph": {"stage": "first_run", "function": name}})
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
