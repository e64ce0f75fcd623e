"""JAX."""

from dlprof.engines.base import Dispatch, EngineSpec, StepAccount, Switch, Xla
from dlprof.schema.vocabulary import MemoryKind

SPEC = EngineSpec(
    name="jax",
    title="JAX",
    seeding="draw them from jax.random.key(0)",
    module="jax",
    distributions=("jax",),
    under_keras=Dispatch(asynchronous=True),
    alone=Dispatch(asynchronous=True),
    window_format="xspace",
    step_account=StepAccount((MemoryKind.ACTIVATIONS, MemoryKind.GRADIENTS), rest=MemoryKind.WORKSPACE),
    python_operators=("pure_callback", "io_callback"),
    packages=frozenset({"jax", "jaxlib"}),
    eager_files=("jax/_src/numpy/", "jax/_src/lax/", "jax/_src/nn/", "jax/_src/scipy/", "jax/_src/custom_derivatives"),
    tracing_files=("jax/_src/interpreters/partial_eval",),
    callback_files=("jax/_src/callback", "jax/_src/debugging", "jax/_src/pure_callback"),
    compile_with="put @jax.jit above it",
    updating_functions=("_scatter_update",),
    update_in_place=(
        "keep the array in NumPy and write into it, or jax.jit(..., donate_argnums=...) for the function that changes "
        "it"
    ),
    waiting_functions=("_value", "block_until_ready", "__array__", "_single_device_array_to_np_array_did_copy"),
    compiles_steps=True,
    eager_compiles=True,
    xla=Xla.ALWAYS,
    joins_steps=True,
    double_cost=0.55,
    switches=(
        Switch("jax_debug_nans", 0.05),
        Switch("jax_debug_infs", 0.05),
        Switch("jax_disable_jit", 0.90),
        Switch("jax_check_tracer_leaks", 0.30),
    ),
)
