"""PyTorch: versions, compilation by torch.compile, and ranges that name layers in its traces."""

from dlprof_probes import wire
from dlprof_probes.inproc.hooks import keras_common as common

DYNAMO = "torch._dynamo.convert_frame"


def ready(modules):
    """Whether torch is loaded to its end."""
    return hasattr(modules["torch"], "compile") and hasattr(modules["torch"], "profiler")


def attach(probe, module):
    """Note the version."""
    probe.recorder.meta({"engine": "torch", "engine_version": str(module.__version__)})


def dynamo_ready(modules):
    """Whether the compiler of torch is loaded, which may be long after torch itself."""
    return hasattr(modules[DYNAMO], "_compile")


def attach_dynamo(probe, module):
    """Hook the compilation of graphs, and the guards that tell why one is compiled again."""
    probe.graph_compile(module, "_compile", _code_name, signature=_code)
    hook = probe.guard(lambda reasons, _args: _reasons(probe, reasons))
    name = "get_and_maybe_log_recompilation_reasons"
    probe.replace(module, name, lambda f: probe.wrappers.after(f, hook))


def _code_name(args):
    return "torch.compile %s" % getattr(args[0], "co_name", "")


def _code(args):
    """The function that is compiled; what differs is told by the guards that failed."""
    return args[0], getattr(args[0], "co_name", ""), {}


def _reasons(probe, reasons):
    """The guards that failed: why an earlier compilation does not do."""
    spans = [number for number, kind in probe.recorder.stack() if kind == wire.SpanKind.GRAPH_COMPILE]
    if spans and reasons:
        causes = [{"argument": None, "what": "guard", "before": None, "now": str(one)[:300]} for one in reasons[:3]]
        probe.recorder.detail(spans[-1], {"guards": causes})


def annotate(probe, keras, models):
    """Name layers, optimiser, loss and metrics in the traces: torch itself does not know them."""
    if probe.windows.folder is None:
        return
    probe.annotated(keras.layers.Layer, "__call__", lambda args: "dlprof:layer:%s" % args[0].name)
    for owner in common.each_definer([keras.optimizers.Optimizer], "apply"):
        probe.annotated(owner, "apply", lambda args: "dlprof:optimizer:%s" % getattr(args[0], "name", ""))
    for name, text in (
        ("compute_loss", "dlprof:loss:"), ("_compute_loss", "dlprof:loss:"), ("compute_metrics", "dlprof:metrics:"),
    ):  # fmt: skip
        for owner in common.each_definer(models, name):
            probe.annotated(owner, name, lambda _args, text=text: text)
    for owner in common.each_definer(models, "zero_grad"):
        probe.annotated(owner, "zero_grad", lambda args: "dlprof:optimizer:%s" % _optimizer(args[0]))


def _optimizer(model):
    return getattr(getattr(model, "optimizer", None), "name", "")
