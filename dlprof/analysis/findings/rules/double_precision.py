"""The model computes with 64-bit floats: twice the bytes, half the speed, and hardly ever needed."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis.findings import queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Remedy

_SHARE, _SHARES = 0.3, {"tensorflow": 0.6}
"""A vector register holds half as many of them, and memory moves half as many; TensorFlow's oneDNN has none."""
_CONVERSION = 0.5


def look(case: Case) -> Iterator[Claim]:
    """Weights, or Keras' float type, of 64 bits."""
    told = case.training
    if told is None or not (told.weights or told.settings.get("floatx")):
        raise Abstain("the float type of the model is not known")
    kinds = {str(told.settings.get("floatx")), str(told.weights.get("dtype")), str(told.settings.get("policy"))}
    if "float64" not in kinds or told.weights.get("dtype", "float64") != "float64":
        return
    other = case.other.training if case.other else None
    if other is not None and other.weights.get("dtype") == "float64":
        return
    path = f"{case.tree.steps}/kernels" if case.tree.unsplit is None else "fit/steps"
    yield Claim(
        "The model's weights and activations are 64-bit floats, which cost twice the work of 32 bits: {time}, {share}.",
        {
            **case.takes(path, "fit/validation", "evaluate", share=_SHARES.get(case.backend, _SHARE)),
            **case.takes("fit/input", share=_CONVERSION),
        },
        [queries.training_told("training.weights.dtype", "training.floatx", "data[0].dtype")],
        "Use float32: leave set_floatx('float64') and dtype='float64' out.",
        case.line_with("set_floatx(", "set_dtype_policy(", "float64"),
        remedy=Remedy("float32", {}, {"floatx": "float32"}),
        basis="estimated",
    )
