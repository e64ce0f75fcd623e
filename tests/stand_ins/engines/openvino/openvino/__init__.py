"""As much of OpenVINO as the hooks touch: graphs, and compiled models that may count."""

import datetime

from . import opset13

__version__ = "2025.1.0-18503-build"


class Model:
    def __init__(self, results, parameters, name=""):
        self.results = results
        self.inputs = parameters


class _Counter:
    node_type, exec_type = "Multiply", "jit_avx2_f32"

    def __init__(self, name, microseconds):
        self.node_name = name
        self.real_time = datetime.timedelta(microseconds=microseconds)


class _Request:
    def __init__(self, counts):
        self._counts = counts

    def get_profiling_info(self):
        if not self._counts:
            raise RuntimeError("Performance counters were not enabled")
        return [_Counter("Multiply_1", 7), _Counter("Parameter_0", 0)]


class CompiledModel:
    def __init__(self, model, counts):
        self._model = model
        self._infer_request = _Request(counts)

    def __call__(self, values):
        return {0: self._model.results[0].compute(values)}


def compile_model(model, device_name="AUTO", config=None):
    return CompiledModel(model, bool(config and config.get("PERF_COUNT")))
