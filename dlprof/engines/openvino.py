"""OpenVINO, which only does inference."""

from dlprof.engines.base import EngineSpec

SPEC = EngineSpec(
    name="openvino",
    title="OpenVINO",
    module="openvino",
    distributions=("openvino",),
    window_format="openvino",
    packages=frozenset({"openvino"}),
)
