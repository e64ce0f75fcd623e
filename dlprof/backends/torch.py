"""Keras 3 on PyTorch."""

from dlprof.backends.base import LOCKS, BackendSpec

SPEC = BackendSpec(
    name="torch",
    title="Keras 3.15 on PyTorch 2.13",
    lock=LOCKS / "torch.txt",
    python=">=3.11,<3.13",
    keras_backend="torch",
    engine="torch",
    lighter_lock=LOCKS / "torch-cpu.txt",
    lighter_wheel="torch-2.13.0+cpu-",
)
