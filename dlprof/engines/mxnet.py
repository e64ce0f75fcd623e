"""MXNet, under keras-mxnet and as Gluon."""

from dlprof.engines.base import Dispatch, EngineSpec, StepAccount, Switch
from dlprof.schema.vocabulary import MemoryKind

SPEC = EngineSpec(
    name="mxnet",
    title="MXNet",
    seeding="call mxnet.random.seed(0)",
    module="mxnet",
    distributions=("mxnet", "mxnet-mkl"),
    keras_series="<2.4",
    alone=Dispatch(asynchronous=True),
    runs_on=True,
    window_format="mxnet",
    step_account=StepAccount((MemoryKind.ACTIVATIONS,), rest=MemoryKind.WORKSPACE, unit_bytes=1 << 20),
    python_operators=("Custom", "_backward_Custom"),
    callback_files=("mxnet/operator",),
    starts_operators=True,
    eager_files=("mxnet/_ctypes/ndarray", "mxnet/ndarray/"),
    eager_within=("mxnet/gluon/block",),
    losses=("mxnet/gluon/loss",),
    compiled_functions=("_call_cached_op",),
    compile_with="make the network of HybridBlocks and call net.hybridize() before the loop",
    compiling_saves=0.7,  # its operations run beside the Python that starts them: 65 and 75 % in pairs of runs
    packages=frozenset({"mxnet"}),
    input_files=("mxnet/gluon/data/", "mxnet/io/"),
    waiting_functions=("asnumpy", "asscalar", "wait_to_read", "waitall"),
    threads_in_step=True,
    double_cost=0.45,
    switches=(
        Switch("MXNET_ENGINE_TYPE=NaiveEngine", 0.15, {"MXNET_ENGINE_TYPE": None}),
        Switch("MXNET_EXEC_BULK_EXEC_TRAIN=0", 0.10, {"MXNET_EXEC_BULK_EXEC_TRAIN": None}),
    ),
)
