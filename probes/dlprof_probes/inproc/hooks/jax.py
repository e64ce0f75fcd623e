"""JAX: versions, and compilation as its own monitoring tells it."""

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


def _compiled(probe, duration, name):
    """A compilation is over that took `duration` seconds."""
    probe.loops.compiles[0] += 1
    end = now()
    if probe.current_loop() is not None or probe.recorder.stack():
        text = "compile %s" % name if name else "compile"
        probe.recorder.complete(wire.SpanKind.GRAPH_COMPILE, text, end - int(duration * 1e9), end)
