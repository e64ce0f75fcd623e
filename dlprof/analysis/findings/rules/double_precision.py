"""The model computes with 64-bit floats: twice the bytes, half the speed, and hardly ever needed."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis.findings import queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Remedy, Sentence
from dlprof.analysis.findings.title import Title
from dlprof.analysis.training import Training
from dlprof.schema.vocabulary import Basis, StepPart, Tree

TITLE = Title("The model computed in 64-bit floats", "computing in 64-bit floats")
_CONVERSION = 0.5


def look(case: Case) -> Iterator[Claim]:
    """Weights, or Keras' float type, of 64 bits."""
    told = case.training
    if told is None or not (told.weights or told.settings.get("floatx")):
        raise Abstain("the float type of the model is not known")
    other = case.other.training if case.other else None
    if not _is_double(told) or (other is not None and other.weights.get("dtype") == "float64"):
        return
    kernels = case.steps / StepPart.KERNELS if case.steps and case.tree.unsplit is None else Tree.FIT_STEPS
    yield Claim(
        Sentence("The model's weights and activations are 64-bit floats, which cost twice the work of 32 bits:"),
        {
            **case.takes(kernels, Tree.FIT_VALIDATION, Tree.EVALUATE, share=case.engine.double_cost),
            **case.takes(Tree.FIT_INPUT, share=_CONVERSION),
        },
        [queries.training_told("training.weights.dtype", "training.floatx", "data[0].dtype")],
        "Use float32: leave set_floatx('float64') and dtype='float64' out.",
        case.code.line_with("set_floatx(", "set_dtype_policy(", "float64"),
        Remedy("float32", {}, {"floatx": "float32"}),
        basis=Basis.ESTIMATED,
    )


def _is_double(told: Training) -> bool:
    kinds = {str(told.settings.get("floatx")), str(told.weights.get("dtype")), str(told.settings.get("policy"))}
    return "float64" in kinds and told.weights.get("dtype", "float64") == "float64"
