"""Keras 3 on JAX."""

from dlprof.backends.base import LOCKS, BackendSpec

SPEC = BackendSpec(
    name="jax",
    title="Keras 3.15 on JAX 0.10 (CPU)",
    lock=LOCKS / "jax.txt",
    python=">=3.11,<3.13",
    keras_backend="jax",
    engine="jax",
)
