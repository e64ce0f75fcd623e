"""MXNet: graph compilation is the binding of a module to shapes."""


def ready(modules):
    """Whether MXNet's module API is loaded."""
    return "mxnet.module.module" in modules and hasattr(modules["mxnet"], "__version__")


def attach(probe, module):
    """Hook bind, rebind (a new batch shape) and the optimiser's set-up."""
    probe.recorder.meta({"engine": "mxnet", "engine_version": str(module.__version__)})
    for name in ("bind", "reshape", "init_optimizer"):
        probe.graph_compile(module.mod.Module, name, _label(name))


def _label(name):
    text = "Module." + name
    return lambda _args: text
