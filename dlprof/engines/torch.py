"""PyTorch."""

from collections.abc import Mapping

from dlprof.engines.base import ComputedWeights, Einsum, EngineSpec, PythonCost, StepAccount, Switch
from dlprof.schema.vocabulary import Category, MemoryKind

# Detecting anomalies keeps the stack of each operation; checking values and what else C++ does for it costs as much, by
# the exam.
_KEPT_STACKS = PythonCost(("<python>/traceback", "<python>/linecache"), 2)

_OF_HALF: Mapping[str, float] = {Category.MATMUL: 0.88, Category.CONV: 0.88}

# Those that work in place end with an underscore, and make none.
_MAKING = ("add", "addcdiv", "addcmul", "div", "lerp", "mul", "pow", "sqrt", "sub")

SPEC = EngineSpec(
    name="torch",
    title="PyTorch",
    seeding="call torch.manual_seed(0)",
    module="torch",
    distributions=("torch",),
    window_format="kineto",
    step_account=StepAccount((MemoryKind.ACTIVATIONS, MemoryKind.INPUT), rest=MemoryKind.ACTIVATIONS),
    packages=frozenset({"torch"}),
    input_files=("torch/utils/data",),
    generated_files=("torchinductor_",),
    backward_functions=("_engine_run_backward",),
    validating_files=("torch/distributions/constraints",),
    gradients_at_once="gradients = torch.autograd.grad(loss, list(model.parameters())), or loss.backward()",
    starts_operators=True,
    letting_gradients_go=("zero_grad",),
    array_making_updates=tuple(f"aten::{name}" for name in _MAKING),
    computed_weights=ComputedWeights(
        layer=".parametrizations.",
        files=("torch/nn/utils/parametrize",),
        once="with torch.nn.utils.parametrize.cached(): around what calls the model in a step",
    ),
    einsum=Einsum(operators=("aten::bmm", "aten::baddbmm"), ordered_by="opt_einsum"),
    waiting_functions=("item", "tolist", "cpu", "synchronize"),
    threads_in_step=True,
    half_cost={"float16": _OF_HALF, "bfloat16": _OF_HALF},
    switches=(
        Switch("torch.autograd.set_detect_anomaly", 0.30, python=_KEPT_STACKS),
        Switch("torch.backends.mkldnn.enabled = False", 0.35),
    ),
)
