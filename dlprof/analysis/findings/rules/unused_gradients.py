"""Backward passes go through layers whose gradients nobody uses: no optimiser has their weights, or forgets them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Query, Sentence, Support
from dlprof.analysis.findings.title import Title
from dlprof.analysis.training import UnusedGradients
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Basis, Direction, Ground, StepPart

TITLE = Title("Gradients were computed that nothing uses", "computing gradients that nothing uses")
_OF_PASSES = 0.2
"""Share of the backward passes that were looked at. In a GAN it is half of them and more."""
_SHARE = 0.05
_USUAL = 0.15
_NAMED = 3
_NOBODY = {"mxnet": "no optimizer has them, or it has them at a rate of 0"}
_TOLD = Query(
    "backward passes that were looked at, as the loop's facts tell them (unused_gradients)",
    "SELECT name, file, line, detail FROM spans WHERE kind = 'fit'",
)


def look(case: Case) -> Iterator[Claim]:
    """The kernels of these layers on the way back, where a window has them; else the part of the passes' graphs."""
    unused = case.training.unused_gradients if case.training else None
    if unused is None:
        raise Abstain(
            "no gradients were seen that a loop of PyTorch, hybridized blocks of Gluon or a Module take for nothing"
        )
    if unused.partly < _OF_PASSES * unused.passes:
        return
    traced = _traced(case, unused)
    share = unused.share if traced is None else traced
    if share is None:
        raise Abstain("some gradients are used by nothing, but no kernels of their layers' backward passes were traced")
    if share < _SHARE:
        return
    file = case.training.file if case.training else None
    kernels = Tree.FIT_STEPS / StepPart.KERNELS
    # Where the steps have no part that is known to be kernels, what these tell is a share of the whole step.
    sum_ = case.takes(Tree.FIT_STEPS if traced is None or not case.time(kernels) else kernels, share=share)
    yield Claim(
        Sentence(_claim(unused, case.engine.name)),
        sum_,
        [_TOLD],
        "Cut the graph in front of them, so that the way back ends there.",
        (file, unused.line) if file and unused.line else case.training_line,
        basis=Basis.ESTIMATED,
        support=Support(
            Ground.REPEATED, seen=unused.partly, agree=unused.partly / unused.passes, part=share, usual=_USUAL
        ),
        fix=_fix(unused, case.engine.name),
    )


def _claim(unused: UnusedGradients, engine: str) -> str:
    names = ", ".join(unused.layers[:_NAMED])
    more = len(unused.layers) - _NAMED
    which = f" ({names}{f' and {more} more' if more > 0 else ''})" if names else ""
    nobody = _NOBODY.get(engine, "no optimizer has them, and they do not change")
    why = "their optimizer sets them to nothing before it steps" if unused.is_owned else nobody
    return (
        f"{unused.partly} of {unused.passes} backward passes that were looked at went on to {unused.weights} weights "
        f"whose gradients nothing uses{which}: {why}:"
    )


def _fix(unused: UnusedGradients, engine: str) -> str:
    if engine == "mxnet":
        return (
            'collect_params().setattr("grad_req", "null") on the blocks that stay as they are (of a Module: '
            "fixed_param_names=[...]); those in front of all that learns can be called before autograd.record()"
        )
    if unused.is_owned:
        return "detach() what these layers gave, before the other model computes a loss that only itself learns from"
    return (
        "parameter.requires_grad_(False) for each of them, or torch.no_grad() around the layers that stay as they are"
    )


def _traced(case: Case, unused: UnusedGradients) -> float | None:
    """Share of the traced kernels' time that these layers took on the way back, for nothing; None: none was traced."""
    back = whole = 0
    for row in case.kernels.by_layer.work:
        ns = row.total_ns if row.union_ns is None else row.union_ns
        whole += ns
        if row.direction == Direction.BACKWARD and _is_within(row.layer, unused.layers):
            back += ns
    return unused.of_layers * back / whole if back else None


def _is_within(layer: str | None, outer: Sequence[str]) -> bool:
    """Whether a layer is one of these, or a part of one."""
    return layer is not None and any(layer == one or layer.startswith(f"{one}.") for one in outer)
