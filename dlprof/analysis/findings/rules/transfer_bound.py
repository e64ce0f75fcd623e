"""Copies between host and device take a good part of the steps."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Query, Sentence
from dlprof.analysis.findings.title import Title
from dlprof.schema.vocabulary import StepPart, Tree

TITLE = Title("Copies between host and device held the GPU up", "copies between host and device")
_SHARE = 0.10
_TRANSFER = Tree.FIT_STEPS / StepPart.TRANSFER
_COPIES = Query(
    "copies",
    "SELECT name, device, count(*) AS count, sum(dur_ns) AS total_ns, sum(bytes) AS bytes FROM kernels "
    "WHERE kind = 'transfer' GROUP BY ALL ORDER BY total_ns DESC LIMIT 8",
)


def look(case: Case) -> Iterator[Claim]:
    """Time in which a copy ran and no kernel."""
    if not case.kernels.has_gpu:
        raise Abstain("no kernel ran on a GPU: there is nothing to copy")
    if case.kernels.split is None:
        raise Abstain("no kernel window was traced")
    if case.own(_TRANSFER) < _SHARE * max(1, case.own(Tree.FIT_STEPS)):
        return
    yield Claim(
        Sentence("Copies between host and device, with no kernel running, take"),
        case.takes(_TRANSFER, Tree.PREDICT_STEPS / StepPart.TRANSFER),
        [_COPIES],
        "Keep data on the device, use pinned memory and copies beside the kernels, send smaller types (uint8).",
    )
