"""PyTorch."""

from dlprof.engines.base import EngineSpec, Switch

ANOMALY = "torch.autograd.set_detect_anomaly"
"""The switch that keeps the stack of each operation."""

SPEC = EngineSpec(
    name="torch",
    title="PyTorch",
    module="torch",
    distributions=("torch",),
    window_format="kineto",
    packages=frozenset({"torch"}),
    input_files=("torch/utils/data",),
    backward_functions=("_engine_run_backward",),
    waiting_functions=("item", "tolist", "cpu", "synchronize"),
    threads_in_step=True,
    switches=(Switch(ANOMALY, 0.30), Switch("torch.backends.mkldnn.enabled = False", 0.35)),
)
