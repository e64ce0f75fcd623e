"""Copies between host and device take a good part of the steps."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim

_SHARE = 0.10


def look(case: Case) -> Iterator[Claim]:
    """Time in which a copy ran and no kernel."""
    if not case.has_gpu:
        raise Abstain("no kernel ran on a GPU: there is nothing to copy")
    if case.split is None:
        raise Abstain("no kernel window was traced")
    if case.own("fit/steps/transfer") < _SHARE * max(1, case.own("fit/steps")):
        return
    yield Claim(
        "Copies between host and device, with no kernel running, take {time}, {share}.",
        case.takes("fit/steps/transfer", "predict/steps/transfer"),
        [
            (
                "copies",
                "SELECT name, device, count(*) AS count, sum(dur_ns) AS total_ns, sum(bytes) AS bytes FROM kernels "
                "WHERE kind = 'transfer' GROUP BY ALL ORDER BY total_ns DESC LIMIT 8",
            )
        ],
        "Keep data on the device, use pinned memory and copies beside the kernels, send smaller types (uint8).",
    )
