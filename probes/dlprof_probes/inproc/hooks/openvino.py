"""OpenVINO: its version, and the compilation of models."""


def ready(modules):
    """Whether OpenVINO is loaded to its end."""
    return hasattr(modules["openvino"], "compile_model") and hasattr(modules["openvino"], "__version__")


def attach(probe, module):
    """Note the version, and hook compilation; Keras also compiles something to read a weight, which does not count."""
    version = str(module.__version__).split("-")[0]
    probe.recorder.meta({"engine": "openvino", "engine_version": version})
    probe.graph_compile(module, "compile_model", lambda _args: "openvino.compile_model", in_loops=True)
