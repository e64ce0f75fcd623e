"""PyTorch: compilation by torch.compile, ranges that name layers in its traces, and its profiler."""

import os
import sys
from threading import get_ident

from dlprof_probes import wire
from dlprof_probes.inproc import model_memory, uncompiled
from dlprof_probes.inproc.engines import (
    torch_breaks,
    torch_by_hand,
    torch_collectives,
    torch_evaluations,
    torch_loops,
    torch_models,
    torch_repeated,
    torch_saved,
    torch_unused,
    torch_updates,
)
from dlprof_probes.inproc.engines.base import Attachment, Engine, weights_told
from dlprof_probes.inproc.kernels import trace_files
from dlprof_probes.inproc.kernels.tracer import Tracer, quiet
from dlprof_probes.inproc.patching import each_definer

_DYNAMO = "torch._dynamo.convert_frame"
_WITH_ARGUMENTS = (("numpy", "numpy()"), ("cpu", "cpu()"))
_READS = (("__array__", "np.asarray()"), ("__format__", "format()"))
"""What brings values of a tensor to the host: a method, and what it is called in a report."""
_SLOTS = (
    ("item", "item()"), ("tolist", "tolist()"), ("__float__", "float()"), ("__int__", "int()"), ("__bool__", "bool()"),
)  # fmt: skip
"""Those of C without arguments. They warn where gradients are kept, or a function is traced."""
_ANOMALY = "torch.autograd.set_detect_anomaly"
_DETERMINISTIC = "torch.use_deterministic_algorithms"


class TorchTracer(Tracer):
    """torch.profiler, without shapes and stacks, which cost more than the rest together.

    Args:
        names: Function that gives the names that parts of models are to have in the trace, by the `id` of the part; for
            scripts without Keras.
        recorder: `Recorder`, which is told of parts that compute the same again; None: nobody is.
    """

    of_thread = True
    memory_bytes = 2500 * 1000 * 1000
    """An LSTM whose steps start a hundred thousand operators took 2.2 GB, in the middle of what it freed itself."""

    def __init__(self, names=dict, recorder=None):
        self._torch = sys.modules["torch"]
        self._names = names
        self._recorder = recorder
        self._named = None
        self._profiler = None
        self._path = None

    def drain(self):
        """Wait for the GPU, if there is one in use."""
        if self._torch.cuda.is_available() and self._torch.cuda.is_initialized():
            self._torch.cuda.synchronize()

    def start(self, folder):
        """Begin to trace."""
        self._path = os.path.join(folder, "trace.json")
        made = self._torch.profiler.profile(activities=self._activities())
        with quiet():
            made.start()
            self._profiler = made
            # The first range of a process registers its operator, which takes some milliseconds.
            self.annotation("dlprof:start")()
        names = self._names()
        if names:
            self._named = _NamedModules(self._torch, names, self.annotation, self._recorder)

    def _activities(self):
        kinds = self._torch.profiler.ProfilerActivity
        return [kinds.CPU, kinds.CUDA] if self.gpu and self._torch.cuda.is_available() else [kinds.CPU]

    def stop(self):
        """End, write, and name the file."""
        named, profiler, self._named, self._profiler = self._named, self._profiler, None, None
        try:
            if named is not None:
                named.remove()
        finally:
            with quiet():
                profiler.stop()
                with trace_files.SafePath(self._path) as path:
                    profiler.export_chrome_trace(path)
        trace_files.check_json(self._path)
        return [self._path]

    def annotation(self, text):
        """Begin a range around a layer, the optimiser or the loss."""
        made = self._torch.profiler.record_function(text)
        made.__enter__()
        return lambda: made.__exit__(None, None, None)


class _NamedModules(object):
    """Ranges around the forward passes of the parts of models, on the thread that makes it, while it is in place."""

    def __init__(self, torch, names, annotation, recorder):
        self._names = names
        self._repeated = None if recorder is None else torch_repeated.RepeatedCalls(recorder, names)
        self._thread = get_ident()
        self._annotation = annotation
        self._open = []
        hooks = torch.nn.modules.module
        self._handles = [
            hooks.register_module_forward_pre_hook(self._before),
            hooks.register_module_forward_hook(self._after),
        ]

    def _before(self, module, inputs):
        if get_ident() != self._thread:  # a range is to be ended where it began, and the hooks are of all threads
            return
        name = self._names.get(id(module))
        is_again = self._repeated is not None and self._repeated.before(module, inputs)
        self._open.append((is_again, self._annotation("dlprof:layer:" + name) if name else None))

    def _after(self, _module, _inputs, _output):
        if not self._open or get_ident() != self._thread:
            return
        is_again, end = self._open.pop()
        if end is not None:
            end()
        if is_again:
            self._repeated.after(is_again)

    def remove(self):
        """Take it away again."""
        for handle in self._handles:
            handle.remove()
        if self._repeated is not None:
            self._repeated.tell()


class Torch(Engine):
    """PyTorch. Its compiler is a part that may be loaded long after the rest, or never."""

    name = module = "torch"
    tracer_class = TorchTracer
    workers = (("torch.utils.data._utils.worker", "DataLoader worker"),)
    switches = (
        (_ANOMALY, lambda torch: torch.is_anomaly_enabled()),
        ("torch.backends.mkldnn.enabled = False", lambda torch: not torch.backends.mkldnn.enabled),
        (_DETERMINISTIC, lambda torch: torch.are_deterministic_algorithms_enabled()),
    )

    def __init__(self, probe):
        super(Torch, self).__init__(probe)
        self._models = []
        self._compiles = False
        self._updates = torch_updates.CompiledUpdates(self)
        self._kept = torch_saved.SavedTensors(probe)
        self.growing = None
        self.unused = torch_unused.UnusedGradients(self)
        self.by_hand = torch_by_hand.TorchByHand(self, self.unused)

    def is_ready(self, modules):
        """Whether torch is loaded to its end."""
        return hasattr(modules["torch"], "compile") and hasattr(modules["torch"], "profiler")

    def attachments(self):
        """Torch, its optimisers, its loaders and its compiler."""
        waiting = super(Torch, self).attachments()
        waiting.extend(torch_loops.attachments(self))
        waiting.extend(torch_collectives.attachments(self.probe))
        waiting.append(self._updates.attachment())
        waiting.append(Attachment(_DYNAMO, lambda modules: hasattr(modules[_DYNAMO], "_compile"), self.attach_compiler))
        return waiting

    def attach(self, module):
        """Count where the program asks for values, and what autograd keeps of a step."""
        super(Torch, self).attach(module)
        if hasattr(module, "autograd"):
            self._kept.watch(module)
            self.by_hand.watch(module)
        syncs = self.probe.syncs
        syncs.watching(self.module)
        syncs.watch(module.Tensor, _READS)
        syncs.watch(module.Tensor, _SLOTS, slots=True)
        is_traced = getattr(getattr(module, "_C", None), "_get_tracing_state", None)
        syncs.watch(module.Tensor, _WITH_ARGUMENTS, is_off=is_traced)
        if hasattr(module, "cuda"):
            syncs.watch(module.cuda, (("synchronize", "torch.cuda.synchronize()"),))

    def attach_compiler(self, dynamo):
        """Hook the compilation of graphs, and the guards that tell why one is compiled again."""
        probe = self.probe
        ours = uncompiled.codes(torch_collectives, torch_saved, torch_by_hand, torch_unused)
        _leave_out(ours + uncompiled.codes_in(type(probe).guard))
        probe.graph_compile(dynamo, "_compile", self._code_name, signature=_code, stage="trace")
        _time_compilers(probe, torch_updates.of_output_graph())
        self._updates.watch_graphs(torch_updates.of_output_graph())
        hook = probe.guard(lambda reasons, _args: _tell_guards(probe.recorder, reasons))
        name = "get_and_maybe_log_recompilation_reasons"
        probe.replace(dynamo, name, lambda f: probe.wrappers.after(f, hook))
        torch_breaks.watch(probe, dynamo)

    def _code_name(self, args):
        self._compiles = True
        if self.growing is not None:
            self.growing.over()
        return "torch.compile %s" % getattr(args[0], "co_name", "")

    # -- kernels ---------------------------------------------------------------------------------------

    def make_tracer(self):
        """Its profiler, which names the parts of the model that a script without Keras tells."""
        return TorchTracer(self._part_names, self.probe.recorder)

    def _part_names(self):
        """None where a graph was compiled: it would be compiled again for the hooks that name parts."""
        return {} if self._compiles else torch_models.part_names(self._models)

    def named_layers(self, model):
        """The parts of a `torch.nn.Module`."""
        if not callable(getattr(model, "named_modules", None)):
            return None
        self._models = [("", torch_models.held(model))]
        return torch_models.layers(self._models)

    def updated(self, optimizer):
        """An optimiser of Keras was applied."""
        self.by_hand.optimiser_made()
        super(Torch, self).updated(optimizer)

    def trained_layers(self, optimizer, frames):
        """The parts of the models that the script has at hand where it trains, if one of them is trained."""
        if not self.wants_kernels or not hasattr(optimizer, "param_groups"):
            self.unused.training(())
            return None  # one of Keras, whose layers have their names already
        self._models = torch_models.at_hand(sys.modules["torch"].nn.Module, optimizer, frames)
        self.unused.training(self._models)
        return torch_models.layers(self._models)

    def after_training(self):
        """Gradients that nobody used, and the types of floats that were kept for the way back."""
        return {"unused_gradients": self.unused.facts(), "saved_floats": dict(self._kept.floats) or None}

    def memory_of(self, optimizer, frames):
        """Parameters, gradients and slots of an optimiser of torch, with the names of a model at hand."""
        if not hasattr(optimizer, "param_groups"):
            return super(Torch, self).memory_of(optimizer, frames)
        models = torch_models.at_hand(sys.modules["torch"].nn.Module, optimizer, frames)
        return model_memory.of_torch(optimizer, torch_models.parameter_names(models))

    def allocated(self, module):
        """What autograd kept of a step, and what its allocator of GPUs counts, where it was used."""
        kept = self._kept.bytes
        told = {} if kept is None else {"step_bytes": kept, "step_how": torch_saved.HOW}
        cuda = getattr(module, "cuda", None)
        if cuda is not None and cuda.is_initialized():
            devices = range(cuda.device_count())
            told["live_bytes"] = sum(cuda.memory_allocated(number) for number in devices)
            told["peak_bytes"] = sum(cuda.max_memory_allocated(number) for number in devices)
        return told or None

    def trained_weights(self, optimizer):
        """Numbers and type of the parameters."""
        groups = getattr(optimizer, "param_groups", ())
        weights = (weight for group in groups for weight in group["params"])
        return weights_told((weight.numel(), str(weight.dtype).replace("torch.", "")) for weight in weights)

    def under_keras(self, keras):
        """Name layers, optimiser, loss and metrics in the traces: torch itself does not know them."""
        self.take_windows()
        probe = self.probe
        torch_evaluations.watch_keras(probe, sys.modules["torch"], keras.layer)
        if not self.wants_kernels:
            return
        probe.annotated(keras.layer, "__call__", lambda args: "dlprof:layer:%s" % args[0].name)
        for owner in each_definer([keras.module.optimizers.Optimizer], "apply"):
            probe.annotated(owner, "apply", lambda args: "dlprof:optimizer:%s" % getattr(args[0], "name", ""))
        for method in ("compute_loss", "_compute_loss"):
            self._annotate(keras.models, method, lambda _model: "dlprof:loss:")
        self._annotate(keras.models, "compute_metrics", lambda _model: "dlprof:metrics:")
        self._annotate(keras.models, "zero_grad", lambda model: "dlprof:optimizer:%s" % _optimizer_name(model))

    def _annotate(self, models, method, label):
        for owner in each_definer(models, method):
            self.probe.annotated(owner, method, lambda args: label(args[0]))

    # -- facts and settings ----------------------------------------------------------------------------

    def threads(self, module):
        """Threads of one operation."""
        return module.get_num_threads()

    def is_settable(self, module):
        """Whether its settings are there; versions without torch.compile have them, too."""
        return hasattr(module, "set_num_threads")

    def array_types(self, module):
        return (module.Tensor,)

    def apply(self, module, settings):
        """Threads, and switches for debugging."""
        count = settings.get("threads")
        if count:
            module.set_num_threads(count)
            self.set_always(module, "set_num_threads", count)
        off = settings.get("flags_off", ())
        if _ANOMALY in off:
            for name in ("set_detect_anomaly", "detect_anomaly"):
                self.stub(module.autograd, name, _Nothing)
        if _DETERMINISTIC in off:
            self.set_always(module, "use_deterministic_algorithms", False)


class _Nothing(object):
    """Does nothing, also as a context."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


def _code(args):
    """The function that is compiled; what differs is told by the guards that failed."""
    return args[0], getattr(args[0], "co_name", ""), {}


def _time_compilers(probe, module):
    """Tell what the compiler takes of a graph, AOTAutograd and Inductor, from what tracing it takes."""
    graph = getattr(module, "OutputGraph", None)
    if hasattr(graph, "call_user_compiler"):
        recorder = probe.recorder

        def enter(_args):
            span = recorder.begin(wire.SpanKind.GRAPH_STAGE, "compile", None)
            recorder.detail(span, {"graph": {"stage": "compile"}})
            return span

        def leave(span, _args):
            if span is not None:
                recorder.end(span)

        probe.around(graph, "call_user_compiler", enter, leave)


def _tell_guards(recorder, reasons):
    """The guards that failed: why an earlier compilation does not do."""
    spans = [number for number, kind in recorder.stack() if kind == wire.SpanKind.GRAPH_COMPILE]
    if spans and reasons:
        causes = [{"argument": None, "what": "guard", "before": None, "now": str(one)[:300]} for one in reasons[:3]]
        recorder.detail(spans[-1], {"guards": causes})


def _optimizer_name(model):
    return getattr(getattr(model, "optimizer", None), "name", "")


def _leave_out(codes):
    """Have Dynamo pass over code that it would compile else, in the middle of the program's."""
    skip = getattr(sys.modules.get("torch._dynamo.eval_frame"), "skip_code", None)
    for code in codes if skip is not None else ():
        skip(code)
