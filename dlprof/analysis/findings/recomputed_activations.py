"""Activations that are computed a second time on the way back, to save memory, where there is memory for them.

PyTorch's `checkpoint` lets go what lies between the beginning and the end of a part of the model, and runs that part
again in the backward pass. What that takes is seen: the stacks of the backward pass that stand in it.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow.compute as pc

from dlprof.analysis.findings import queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence
from dlprof.analysis.findings.title import Title
from dlprof.analysis.samples import Sample
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Ground, Phase

_TITLE = Title("Activations were computed again on the way back", "computing activations again on the way back")
_SHARE = 0.10
"""Share of the steps from which on it is asked."""
_FILE = "torch/utils/checkpoint.py"
_AMPLE = 0.5
"""Share of the machine's memory that was available all along, from which on there may be room for more activations."""
_WRITTEN = r"\bcheckpoint(_sequential)?\("
_LIKELY = 0.75
"""What they take where they are kept is not known."""


def claims(case: Case) -> Iterator[Claim]:
    """One, a question, where that takes much of the steps and memory is ample; of a GPU's memory nothing is known."""
    if case.pair or case.kernels.has_gpu or not _is_ample(case):
        return
    share = case.code.share([Tree.FIT_STEPS], lambda sample: _computes_again(case, sample))
    if share < _SHARE:
        return
    yield Claim(
        Sentence(
            "On the way back the model computes again what it had computed, because its checkpoints keep no "
            "activations, and at least half of the machine's memory was free all along:"
        ),
        case.takes(Tree.FIT_STEPS, share=share),
        [queries.python_stood(Phase.FIT_STEPS)],
        "Where activations fit into memory, call the layers without checkpoint, or only those of them with it whose "
        "activations are large and cheap to compute; the results are the same.",
        case.code.written(_WRITTEN),
        title=_TITLE,
        support=case.code.support(
            [Tree.FIT_STEPS],
            lambda sample: _computes_again(case, sample),
            ground=Ground.MODEL,
            agree=_LIKELY,
        ),
        fix="y = layer(x) in the place of y = checkpoint(layer, x)",
    )


def _computes_again(case: Case, sample: Sample) -> bool:
    """Whether the backward pass has a checkpoint run a part of the model."""
    inner = True
    for frame in sample.frames:  # innermost first
        if frame.name in case.engine.backward_functions:
            return not inner
        inner = inner and not frame.file.endswith(_FILE)
    return False


def _is_ample(case: Case) -> bool:
    whole = case.run.manifest.machine.memory_bytes
    least = pc.min(case.run.table("machine", ("memory_available_bytes",))["memory_available_bytes"]).as_py()
    return bool(whole and least is not None and least >= _AMPLE * whole)
