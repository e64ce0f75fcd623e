"""Chainer: its version. It runs operators one by one and compiles nothing."""


def ready(modules):
    """Whether Chainer is loaded to its end."""
    return hasattr(modules["chainer"], "UpdateRule") and hasattr(modules["chainer"], "__version__")


def attach(probe, module):
    """Note the version."""
    probe.recorder.meta({"engine": "chainer", "engine_version": str(module.__version__)})
