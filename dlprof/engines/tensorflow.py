"""TensorFlow 2."""

from dlprof.engines.base import Dispatch, EngineSpec, KernelCost, StepAccount, Switch, Xla
from dlprof.schema.vocabulary import Category, MemoryKind

# oneDNN's kernels multiply and add at once, in wider registers; TensorFlow's own are built for any processor. In the
# exam 0.59 was saved, on a machine with AVX-512; fewer lanes, less.
_ONEDNN = KernelCost((Category.CONV, Category.MATMUL, Category.RECURRENT), 0.5)

SPEC = EngineSpec(
    name="tensorflow",
    title="TensorFlow",
    seeding="call tf.random.set_seed(0)",
    module="tensorflow",
    distributions=("tensorflow", "tensorflow-cpu", "tensorflow-gpu"),
    series=">=2",
    under_keras=Dispatch(input_inside_step=True),
    window_format="xspace",
    step_account=StepAccount((MemoryKind.ACTIVATIONS, MemoryKind.GRADIENTS), rest=MemoryKind.WORKSPACE),
    waits_are_idle=True,
    python_operators=("EagerPyFunc", "PyFunc", "PyFuncStateless"),
    packages=frozenset({"tensorflow", "tensorflow_core"}),
    input_files=("tensorflow/python/data",),
    operator_files=("tensorflow/python/ops/script_ops",),
    generated_files=("__autograph_generated_file",),
    eager_files=("tensorflow/python/ops/", "tensorflow/python/eager/execute"),
    executing_files=("tensorflow/python/ops/gen_", "tensorflow/python/eager/execute"),
    tracing_files=("tensorflow/python/framework/func_graph", "tensorflow/python/eager/polymorphic_function/"),
    compile_with="put @tf.function above it",
    graph_functions=("_extend_graph",),
    densifying_operators=("UnsortedSegmentSum",),
    session_files=("tensorflow/python/client/session", "tensorflow_core/python/client/session"),
    backward_functions=("imperative_grad",),
    gradients_at_once="gradients = tape.gradient(loss, variables), with all variables in one list",
    waiting_functions=("numpy", "_numpy"),
    compiles_steps=True,
    xla=Xla.ON_GPU,
    joins_steps=True,
    tunes_input=True,
    half_cost={
        "float16": {Category.MATMUL: 0.2, Category.CONV: 0.6},
        "bfloat16": {Category.MATMUL: 0.2, Category.CONV: 0.88},
    },
    double_cost=0.5,  # its oneDNN has no kernels for them
    switches=(
        Switch("tf.config.run_functions_eagerly", 0.85, runs_eagerly=True),
        Switch("tf.debugging.enable_check_numerics", 0.65),
        # The mean of two machines, 0.21 and 0.40.
        Switch("TF_ENABLE_ONEDNN_OPTS=0", 0.30, {"TF_ENABLE_ONEDNN_OPTS": None}, kernels=_ONEDNN),
    ),
)
