"""Caffe2: no tracer."""

from dlprof.engines.base import EngineSpec

SPEC = EngineSpec(
    name="caffe2",
    title="Caffe2",
    module="caffe2",
    distributions=("caffe2",),  # it came inside of PyTorch's package; nothing in the registry is called so
    packages=frozenset({"caffe2", "torch"}),
)
