"""The model computes with floats of 16 bits on a processor that has no products of them: each is made longer first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dlprof.analysis import loops
from dlprof.analysis.findings import queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Remedy, Sentence, Support
from dlprof.analysis.findings.title import Title
from dlprof.analysis.training import Training
from dlprof.schema.tree_paths import Tree, TreePath
from dlprof.schema.vocabulary import Basis, Ground, StepPart

TITLE = Title("A processor computed in 16-bit floats", "computing in 16-bit floats without a processor for them")
_HALF = ("float16", "bfloat16")
_MIXED = "mixed_"
_OF_SAVED = 0.5
"""Share of the bytes of floats that are kept for the way back: where casts are automatic, weights have 32 bits."""
_WRITTEN = ("mixed_float16", "mixed_bfloat16", "autocast(", ".half()", ".bfloat16()", "float16")


def look(case: Case) -> Iterator[Claim]:
    """Weights, the policy of Keras, or what a loop of PyTorch keeps for its way back, of 16 bits."""
    told = case.training
    if told is None or not (told.weights or told.settings.get("policy") or told.saved_floats):
        raise Abstain("the float type of the model is not known")
    kind = _half(told)
    if kind is None or (case.other is not None and case.other.training and _half(case.other.training) == kind):
        return
    natively = case.run.manifest.machine.half_floats
    if natively is None:
        raise Abstain("it is not known which floats the processor computes with")
    costs = case.engine.half_cost.get(kind, {})
    if not costs or kind in natively or case.devices.times:
        return
    if not case.tree.layers or case.steps is None or case.tree.unsplit is not None:
        raise Abstain("no kernel of the steps was traced")
    of_keras = loops.is_any_of_keras(case.run)
    yield Claim(
        Sentence(
            f"The model computes with {kind}, of which this processor has no products: each number is made longer for "
            "them, and the result shorter. That costs about"
        ),
        _takes(case, case.steps / StepPart.KERNELS, costs),
        [queries.training_told("training.policy", "training.weights.dtype", "saved_floats")],
        "Use float32 on processors: 16 bits are fast on GPUs, and on processors that multiply them.",
        case.code.line_with(*_WRITTEN) or case.training_line,
        Remedy("float32", {}, {"policy": "float32"}) if of_keras and told.settings.get("policy") else None,
        basis=Basis.ESTIMATED,
        support=Support(Ground.STATED),
    )


def _half(told: Training) -> str | None:
    """The type of 16 bits that the training computes with; None: it has another one."""
    policy = str(told.settings.get("policy"))
    if policy.startswith(_MIXED):
        return policy.removeprefix(_MIXED)
    weights = str(told.weights.get("dtype"))
    if weights in _HALF:
        return weights
    whole = sum(told.saved_floats.values())
    return next((kind for kind in _HALF if whole and told.saved_floats.get(kind, 0) >= _OF_SAVED * whole), None)


def _takes(case: Case, kernels: TreePath, costs: Mapping[str, float]) -> dict[TreePath, int]:
    """These shares of kernels by category; where the engine works on, most of their time is in waits for it."""
    if case.asynchronous:
        whole = sum(kernel.ns for kernel in case.tree.layers)
        ours = sum(kernel.ns * costs.get(kernel.category or "", 0.0) for kernel in case.tree.layers)
        return case.takes(Tree.FIT_STEPS, share=ours / max(1, whole))
    takes: dict[TreePath, int] = {}
    for category, share in costs.items():
        takes.update(case.takes(kernels / category, share=share))
    return takes
