"""OpenVINO: the compilation of models, and stand-ins for compiled models that count; it only does inference."""

import os
import weakref
from sys import _getframe

from dlprof_probes import wire
from dlprof_probes.inproc import own_files
from dlprof_probes.inproc.clock import now
from dlprof_probes.inproc.engines.base import Engine
from dlprof_probes.inproc.kernels.tracer import Tracer

FORMAT = "dlprof.openvino/1"


class OpenVINOTracer(Tracer):
    """Has models that count run in a window.

    Args:
        models: `Models`.
    """

    def __init__(self, models):
        self.zero_ns = 0
        self._models = models
        self._folder = None

    def start(self, folder):
        """Begin to collect."""
        self._folder = folder
        self._models.collect()

    def stop(self):
        """End, write, and name the file."""
        calls = self._models.collected()
        if not calls:
            raise RuntimeError("no model ran in the window")
        path = os.path.join(self._folder, "nodes.json")
        nodes = {node[0] for _, _, nodes in calls for node in nodes}
        owner = dict((name, layer) for name, layer in self._models.owner.items() if name in nodes)
        own_files.save(path, wire.json_payload({"format": FORMAT, "owner": owner, "calls": calls}))
        return [path]


class OpenVINO(Engine):
    """OpenVINO. Its own counters tell how long each node of a compiled model took, but not when."""

    name = module = "openvino"
    tracer_class = OpenVINOTracer

    def __init__(self, probe):
        super(OpenVINO, self).__init__(probe)
        self._models = None

    def is_ready(self, modules):
        """Whether OpenVINO is loaded to its end."""
        return hasattr(modules["openvino"], "compile_model") and hasattr(modules["openvino"], "__version__")

    def version(self, module):
        """Without the build."""
        return str(module.__version__).split("-")[0]

    def attach(self, module):
        """Hook compilation; Keras also compiles something to read a weight, which does not count."""
        self.note_version(module)
        label = "openvino.compile_model"
        self.probe.graph_compile(module, "compile_model", lambda _args: label, in_loops=True, signature=_signature)
        if self.wants_kernels:
            self._models = Models()
            self.probe.replace(module, "compile_model", self._models.compiling, again=True)

    def make_tracer(self):
        """The counters of the models that Keras compiled; None where they could not be watched."""
        return OpenVINOTracer(self._models) if self._models is not None else None

    def under_keras(self, keras):
        """Remember which nodes each layer made, for the traces."""
        if self._models is not None:
            self.take_windows()
            self.watch_layers(keras, self._models.called)

    def alone(self):
        """Nothing: only the models that Keras compiles are watched."""


def _signature(args):
    """The shapes of a model's inputs. Keras has no name for the model; those with as many inputs are taken for one."""
    shapes = dict(
        ("input %d" % number, "%s%s" % (one.get_element_type().get_type_name(), one.get_partial_shape()))
        for number, one in enumerate(args[0].inputs)
    )
    return ("model", len(shapes)), "model", shapes


class Models(object):
    """The models that Keras compiled; while it collects, each call of one leaves the times of its nodes.

    Attributes:
        owner: Name of a node to the name of the layer that made it.
    """

    def __init__(self):
        self.owner = {}
        self._known = weakref.WeakSet()

    def compiling(self, original):
        """Stands for `compile_model`; what others than Keras compile is left alone."""

        def compile_model(model, device_name="AUTO", config=None):
            made = original(model, device_name, config)
            if not str(_getframe(1).f_globals.get("__name__", "")).startswith("keras."):
                return made
            counted = dict(config or {}, PERF_COUNT=True)
            stand_in = _Compiled(made, lambda: original(model, device_name, counted))
            self._known.add(stand_in)
            return stand_in

        return compile_model

    def called(self, layer, result):
        """A layer was called: the nodes behind its result that are new are its own."""
        output = getattr(result, "output", None)
        waiting = [output.get_node()] if hasattr(output, "get_node") else []
        while waiting:
            node = waiting.pop()
            name = node.get_friendly_name()
            if name in self.owner or node.get_type_name() == "Parameter":
                continue
            self.owner[name] = layer.name
            waiting.extend(value.get_node() for value in node.input_values())

    def collect(self):
        """Begin to collect; models that count are compiled now, not in the window."""
        for model in list(self._known):
            model.count()

    def collected(self):
        """End, and give what was collected: (begin, end, nodes) of each call."""
        return sorted(call for model in list(self._known) for call in model.counted())


class _Compiled(object):
    """Stands for a compiled model; all but calling goes to the real one."""

    def __init__(self, made, compile_counting):
        self._made = made
        self._compile_counting = compile_counting
        self._twin = None
        self._calls = []

    def count(self):
        """Have a model that counts run from here on."""
        self._twin = self._compile_counting()

    def counted(self):
        """End that; the calls that it counted."""
        calls, self._calls, self._twin = self._calls, [], None
        return calls

    def __call__(self, *args, **kwargs):
        if self._twin is None:
            return self._made(*args, **kwargs)
        begin = now()
        result = self._twin(*args, **kwargs)
        end = now()
        self._calls.append(
            (
                begin,
                end,
                [
                    [one.node_name, one.node_type, one.exec_type, int(one.real_time.total_seconds() * 1e9)]
                    for one in self._twin._infer_request.get_profiling_info()
                    if one.real_time
                ],
            )
        )
        return result

    def __getattr__(self, name):
        return getattr(self._made, name)
