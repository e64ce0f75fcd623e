"""Each operation of the training is started by Python, one by one, where a graph could be run as a whole."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis.findings import queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Remedy

_FLAG = "tf.config.run_functions_eagerly"
_GRAPHS = ("tensorflow", "jax")
"""Backends on which Keras compiles steps unless told otherwise."""
_STARTS, _KERNELS, _COMPILED = 0.85, 0.7, 0.85
"""What a graph saves: of starting operations; of kernels that it joins with others; of compilations on JAX."""
_ALONE = ("matmul", "conv", "recurrent")
"""Kernels that a graph does not join with others."""


def look(case: Case) -> Iterator[Claim]:
    """The model was compiled with run_eagerly, or all functions of TensorFlow were made to run eagerly."""
    told = case.training
    if told is None or "run_eagerly" not in told.settings:
        raise Abstain("Keras did not say whether the model runs eagerly")
    other = case.other.training if case.other else None
    eager = bool(told.settings["run_eagerly"]) or _FLAG in told.flags
    if not eager or case.backend not in _GRAPHS or (other is not None and other.settings.get("run_eagerly")):
        return
    steps = case.own("fit/steps")
    kernels = case.own("fit/steps/kernels")
    yield Claim(
        f"The model runs eagerly: Python starts each operation by itself, and kernels ran in only "
        f"{100 * kernels / max(1, steps):.0f} % of the steps' time: {{time}}, {{share}}.",
        op_by_op(case),
        [queries.training_told("training.run_eagerly", "training.flags"), queries.operators(by="op")],
        "Leave run_eagerly=True out of compile(), and tf.config.run_functions_eagerly out of the script.",
        case.line_with("run_eagerly=True", "run_functions_eagerly("),
        Remedy("run_eagerly off", {}, {"run_eagerly": False, "flags_off": [_FLAG]}),
        basis="estimated",
    )


def op_by_op(case: Case) -> dict[str, int]:
    """What a compiled step would save, by leaf."""
    takes = case.takes("fit/steps", "fit/validation", share=_STARTS)
    takes.update(case.takes("fit/steps/kernels", share=_KERNELS))
    takes.update(case.takes(*(f"fit/steps/kernels/{category}" for category in _ALONE), share=0.0))
    if case.backend == "jax":
        takes.update(case.takes("fit/graph_compile", share=_COMPILED))
    return takes
