"""Abacus adds up every sum once more, which is for debugging."""

from collections.abc import Iterator

from dlprof.analysis.findings import queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Sentence
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import StepPart

AFTER = "debug-mode"
_SHARE = 0.1


def look(case: Case) -> Iterator[Claim]:
    """Operations of the audit among those of the window."""
    layers = case.tree.layers
    if not layers:
        raise Abstain("no kernel window was traced")
    audit = sum(one.ns for one in layers if one.op == "audit")
    share = audit / max(1, sum(one.ns for one in layers))
    if share > _SHARE:
        yield Claim(
            Sentence("Abacus audits every sum:"),
            case.takes(Tree.FIT_STEPS / StepPart.KERNELS, share=share),
            [queries.operators("op = 'audit'", by="layer, op")],
            "Leave audit=True out of Trainer().",
        )
