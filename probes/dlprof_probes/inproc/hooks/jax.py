"""JAX: versions, and compilation as its own monitoring tells it."""

import sys

from dlprof_probes import wire
from dlprof_probes.inproc.clock import now

_COMPILING = "/jax/core/compile/backend_compile_duration"
_TRACING = "/jax/core/compile/jaxpr_trace_duration"


def ready(modules):
    """Whether JAX is loaded to its end."""
    return hasattr(modules["jax"], "monitoring") and hasattr(modules["jax"], "profiler")


def attach(probe, module):
    """Note the version, and listen to compilations."""
    probe.recorder.meta({"engine": "jax", "engine_version": str(module.__version__)})
    compiled = probe.guard(lambda *args: _compiled(probe, *args))

    def listener(event, duration, **facts):
        if event == _COMPILING:
            compiled(duration, facts.get("fun_name"))

    module.monitoring.register_event_duration_secs_listener(listener)
    forget = getattr(module.monitoring, "unregister_event_duration_listener", None)
    if forget is not None:
        probe.patches.on_undo(lambda: forget(listener))
    pjit = sys.modules.get("jax._src.pjit")
    if hasattr(pjit, "_trace_for_jit"):
        probe.traced = {}
        remember = probe.guard(lambda args: _remember(probe, args))
        probe.around(pjit, "_trace_for_jit", remember, lambda _token, _args: None)


def _remember(probe, args):
    """A function is traced for `jit`: keep the types of its arguments until its compilation is over."""
    function, debug, types = args[0], args[3], args[4]
    name = getattr(function, "__name__", "?")
    names = getattr(debug, "arg_names", None) or ()
    signature = {}
    for number, kind in enumerate(types):
        told = names[number] if number < len(names) else None
        signature[told or "argument %d" % number] = kind
    probe.traced[name] = probe.causes.note(function, name, signature)


def _compiled(probe, duration, name):
    """A compilation is over that took `duration` seconds."""
    probe.loops.compiles[0] += 1
    end = now()
    if probe.current_loop() is not None or probe.recorder.stack():
        text = "compile %s" % name if name else "compile"
        span = probe.recorder.complete(
            wire.SpanKind.GRAPH_COMPILE, text, end - int(duration * 1e9), end, sys._getframe()
        )
        plain = str(name or "").replace("jit(", "").replace("jit_", "").rstrip(")")
        facts = probe.traced.pop(plain, None)
        if facts:
            probe.recorder.detail(span, {"compiled": facts})
