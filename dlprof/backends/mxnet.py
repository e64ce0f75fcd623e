"""keras-mxnet (Keras 2.2) on MXNet, on a modern interpreter with the help of a shim."""

from dlprof.backends.base import COMPAT, LOCKS, BackendSpec

SPEC = BackendSpec(
    name="mxnet",
    title="keras-mxnet 2.2 on MXNet 1.9 (CPU)",
    lock=LOCKS / "mxnet.txt",
    python=">=3.11,<3.13",
    keras_backend="mxnet",
    engine="mxnet",
    site_files=(COMPAT / "dlprof_compat_keras2.py", COMPAT / "dlprof_compat_keras2.pth"),
)
