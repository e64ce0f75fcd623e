"""A switch for debugging is on: every operation is checked, recorded, or run alone."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis.findings import queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Remedy

_EAGER = "tf.config.run_functions_eagerly"
"""That one is eager execution, a finding of its own."""
_ENVIRONMENT = {
    "MXNET_ENGINE_TYPE=NaiveEngine": {"MXNET_ENGINE_TYPE": None},
    "MXNET_EXEC_BULK_EXEC_TRAIN=0": {"MXNET_EXEC_BULK_EXEC_TRAIN": None},
    "TF_ENABLE_ONEDNN_OPTS=0": {"TF_ENABLE_ONEDNN_OPTS": None},
}
_ANOMALY, _NO_ONEDNN = "torch.autograd.set_detect_anomaly", "TF_ENABLE_ONEDNN_OPTS=0"
_COST = {
    _ANOMALY: 0.30,
    "tf.debugging.enable_check_numerics": 0.65,
    "jax_debug_nans": 0.05,
    "jax_debug_infs": 0.05,
    "jax_disable_jit": 0.90,
    "jax_check_tracer_leaks": 0.30,
    "MXNET_ENGINE_TYPE=NaiveEngine": 0.15,
    "MXNET_EXEC_BULK_EXEC_TRAIN=0": 0.10,
    _NO_ONEDNN: 0.30,
    "torch.backends.mkldnn.enabled = False": 0.35,
    "theano mode": 0.50,
}
"""Share of the steps that a switch costs on the scenarios, by the exam (docs/exam.md): --confirm measures it. That of
oneDNN is the mean of two machines, 0.21 and 0.40."""
_LEAST = 0.10
_STACK_FILES = ("<python>/traceback", "<python>/linecache")
_AS_MUCH_AGAIN = 2
"""torch keeps the stack of each operation; checking values and what else C++ does for it costs as much, by the exam."""
_OF_ONEDNN, _BY_ONEDNN = ("conv", "matmul", "recurrent"), 0.5
"""Kernels that oneDNN has better ones for, and what these save: they multiply and add at once, in wider registers.
TensorFlow's own are built for any processor. In the exam 0.59, on a machine with AVX-512; fewer lanes, less."""


def look(case: Case) -> Iterator[Claim]:
    """Switches that were on when the training began."""
    if case.training is None:
        raise Abstain("the run did not train under Keras")
    other = case.other.training.flags if case.other and case.other.training else {}
    found = [name for name in case.training.flags if name != _EAGER and name not in other]
    if not found:
        return
    takes = max((_takes(case, name) for name in found), key=lambda parts: sum(parts.values()))
    environment = {key: value for name in found for key, value in _ENVIRONMENT.get(name, {}).items()}
    yield Claim(
        f"Switched on for debugging: {', '.join(sorted(found))}. That costs about {{time}}, {{share}}.",
        takes,
        [queries.training_told("training.flags")],
        "Switch it off for trainings that are not for debugging.",
        case.line_with(*(name.rpartition(".")[2].partition(" ")[0] for name in found)),
        remedy=Remedy(f"without {', '.join(sorted(found))}", environment, {"flags_off": sorted(found)}),
        basis="estimated",
    )


def _takes(case: Case, name: str) -> dict[str, int]:
    """What a switch costs, leaf by leaf (ns)."""
    if name == _NO_ONEDNN and case.tree.unsplit is None:
        kernels = [f"{case.tree.steps}/kernels/{category}" for category in _OF_ONEDNN]
        return case.takes(*kernels, share=_BY_ONEDNN)
    return case.takes("fit/steps", "fit/validation", "evaluate", share=_cost(case, name))


def _cost(case: Case, name: str) -> float:
    """Share of the steps that a switch costs: by its own Python where that was seen, else as it was in the exam."""
    if name == _ANOMALY and case.samples:
        stood = case.sampled(("fit/steps",), lambda one: any(f[1].startswith(_STACK_FILES) for f in one.frames))
        return min(0.95, _AS_MUCH_AGAIN * stood)
    return _COST.get(name, _LEAST)
