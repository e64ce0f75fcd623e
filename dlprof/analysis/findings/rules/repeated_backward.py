"""Gradients of one loss are taken several times, as of each variable by itself: each goes back through the model."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Query, Sentence, Support
from dlprof.analysis.findings.title import Title
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Basis, Ground

TITLE = Title("The gradient of one loss was taken again and again", "taking gradients of one loss again and again")
_OF_ONE = 3
"""Calls for one loss; two may be for two groups of variables, each with an optimiser of its own."""
_OF_STEPS = 0.5
"""Share of the steps that have such a loss."""
_SHARE = 0.05
_USUAL = 0.3
_TOLD = Query(
    "gradients of one loss, as the loop's facts tell them (same_loss)",
    "SELECT name, file, line, detail FROM spans WHERE kind = 'fit'",
)


def look(case: Case) -> Iterator[Claim]:
    """The calls for a loss but for the longest: that one goes as far back as all of them together."""
    same = case.training.same_loss if case.training else None
    if same is None:
        raise Abstain("no gradients were seen that a loop of the script's own takes of one loss several times")
    if case.loop is None:
        raise Abstain("no steps were recorded")
    of_one = same.calls / max(1, same.losses)
    share = min(1.0, same.more_ns / max(1, case.time(Tree.FIT_STEPS)))
    if of_one < _OF_ONE or same.losses < _OF_STEPS * case.loop.count or share < _SHARE:
        return
    file = case.training.file if case.training else None
    yield Claim(
        Sentence(f"Gradients of one loss are taken {of_one:.0f} times in a step, each on a way of its own back:"),
        case.takes(Tree.FIT_STEPS, share=share),
        [_TOLD],
        "Take those of all variables in one call: the way back is then gone once.",
        (file, same.line) if file and same.line else case.training_line,
        basis=Basis.ESTIMATED,
        support=Support(Ground.REPEATED, seen=same.calls, part=share, usual=_USUAL),
        fix=case.engine.gradients_at_once,
    )
