"""The model computes with 64-bit floats: twice the bytes, half the speed, and hardly ever needed."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dlprof.analysis import loops
from dlprof.analysis.findings import kernel_shares, queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Query, Remedy, Sentence, Support
from dlprof.analysis.findings.kernel_shares import name
from dlprof.analysis.findings.title import Title
from dlprof.analysis.training import Training
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Basis, Ground, StepPart

TITLE = Title("The model computed in 64-bit floats", "computing in 64-bit floats")
_CONVERSION = 0.5
_GAIN_ON_DEVICES = 0.5
"""Half the bytes; GPUs that are not made for 64 bits gain far more."""
_SHARE_OF_KERNELS = 0.10
_DOUBLE = re.compile(r"dgemm|d884gemm|(?<![a-zA-Z_])double(?!\w)|f64f64")
_USUAL_NEXT = "Use float32: leave set_floatx('float64') and dtype='float64' out."
_OWN_NEXT = (
    "Use float32 for the data and the weights: what is made of arrays of NumPy has their type, and that is float64 "
    "where nothing else is said."
)
_OWN_FIX = "array.astype('float32') before it becomes the engine's"
_NEXT = {"jax": "Use float32: leave jax_enable_x64 and set_floatx('float64') out."}
_SETTINGS = ("set_floatx(", "set_dtype_policy(")
"""How Keras is told, which a remedy may tell otherwise."""
_MADE = r"\b(Variable|convert_to_tensor|from_numpy|as_tensor|from_tensor_slices)\(|\b(torch\.tensor|nd\.array)\("
"""What makes weights or data of arrays of NumPy."""
_KERNELS = Query(
    "kernels of 64-bit floats",
    "SELECT name, count(*) AS count, sum(dur_ns) AS total_ns FROM kernels WHERE kind = 'kernel' AND "
    "regexp_matches(name, 'dgemm|d884gemm|double|f64f64') GROUP BY ALL ORDER BY total_ns DESC LIMIT 8",
)


def look(case: Case) -> Iterator[Claim]:
    """Weights, or Keras' float type, of 64 bits."""
    told = case.training
    if told is None and case.devices.foreign and case.devices.times:
        yield from _of_names(case)
        return
    if told is None or not (told.weights or told.settings.get("floatx")):
        raise Abstain("the float type of the model is not known")
    other = case.other.training if case.other else None
    if not _is_double(told) or (other is not None and other.weights.get("dtype") == "float64"):
        return
    # Where the engine works on while Python goes on, most of the kernels' time is in waits for them.
    is_split = case.steps and case.tree.unsplit is None and not case.asynchronous
    written = case.code.line_with(*_SETTINGS, "enable_x64", "float64", ".double()")
    own = not loops.is_any_of_keras(case.run)
    of_numpy = own and written is None
    kernels = case.steps / StepPart.KERNELS if case.steps and is_split else Tree.FIT_STEPS
    # Beside a run in 32 bits, all that its kernels take longer.
    is_of_pair = is_split and other is not None and other.weights.get("dtype") == "float32"
    share = 1.0 if is_of_pair else case.engine.double_cost
    yield Claim(
        Sentence("The model's weights and activations are 64-bit floats, which cost twice the work of 32 bits:"),
        {
            **case.takes(kernels, Tree.FIT_VALIDATION, Tree.EVALUATE, share=share),
            **case.takes(Tree.FIT_INPUT, share=_CONVERSION),
        },
        [queries.training_told("training.weights.dtype", "training.floatx", "data[0].dtype")],
        _NEXT.get(case.engine.name, _OWN_NEXT if of_numpy else _USUAL_NEXT),
        case.code.line_like(_MADE) if of_numpy else written,
        None if own and case.code.line_with(*_SETTINGS) is None else Remedy("float32", {}, {"floatx": "float32"}),
        basis=Basis.ESTIMATED,
        support=Support(Ground.STATED),
        fix=_OWN_FIX if of_numpy and case.engine.name not in _NEXT else None,
    )


def _of_names(case: Case) -> Iterator[Claim]:
    """Of a foreign trace only the names of its kernels tell."""
    doubles = kernel_shares.chosen(case, lambda row: bool(_DOUBLE.search(name(row))))
    if doubles.share < _SHARE_OF_KERNELS:
        return
    yield Claim(
        Sentence(
            f"{100 * doubles.share:.0f} % of the kernels' time is spent in kernels of 64-bit floats "
            f"({name(doubles.rows[0])[:60]}), which cost twice the work of 32 bits or more:"
        ),
        doubles.takes(case, _GAIN_ON_DEVICES),
        [_KERNELS],
        "Use float32 where 64 bits are not needed.",
        basis=Basis.ESTIMATED,
        support=Support(Ground.STATED),
    )


def _is_double(told: Training) -> bool:
    kinds = {str(told.settings.get("floatx")), str(told.weights.get("dtype")), str(told.settings.get("policy"))}
    return "float64" in kinds and told.weights.get("dtype", "float64") == "float64"
