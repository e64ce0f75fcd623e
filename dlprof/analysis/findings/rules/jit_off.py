"""JAX runs the step operation by operation, because its compiler was switched off."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis.findings import queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.compiled_steps import op_by_op
from dlprof.analysis.findings.finding import Abstain, Claim, Remedy, Sentence, Support
from dlprof.analysis.findings.title import Title
from dlprof.engines.base import Xla
from dlprof.schema.vocabulary import Basis, Ground

TITLE = Title("The step was not compiled by XLA", "operations that XLA was not allowed to compile")


def look(case: Case) -> Iterator[Claim]:
    """`jit_compile=False` where the backend lives by it: JAX, and TensorFlow on a GPU."""
    told = case.training
    if told is None or "jit_compile" not in told.settings:
        raise Abstain("Keras did not say whether the model is compiled by XLA")
    other = case.other.training if case.other else None
    if told.settings["jit_compile"] or told.settings.get("run_eagerly") or not _lives_by_xla(case):
        return
    if other and other.settings.get("jit_compile") is False:
        return
    yield Claim(
        Sentence("The step is not compiled by XLA (jit_compile=False): each operation is dispatched alone,"),
        op_by_op(case),
        [queries.training_told("training.jit_compile"), queries.operators(by="name")],
        "Leave jit_compile=False out of compile().",
        case.code.line_with("jit_compile=False"),
        Remedy("jit_compile on", {}, {"jit_compile": True}),
        basis=Basis.ESTIMATED,
        support=Support(Ground.STATED),
    )


def _lives_by_xla(case: Case) -> bool:
    return case.engine.xla is Xla.ALWAYS or (case.engine.xla is Xla.ON_GPU and case.kernels.has_gpu)
