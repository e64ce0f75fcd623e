"""Keras 3 on OpenVINO, which only does inference."""

from dlprof.backends.base import LOCKS, BackendSpec

SPEC = BackendSpec(
    name="openvino",
    title="Keras 3.15 on OpenVINO 2026.4 (inference only)",
    lock=LOCKS / "openvino.txt",
    python=">=3.11,<3.13",
    keras_backend="openvino",
    engine="openvino",
    trains=False,
)
