"""Kernels are so short that the device waits for the host to launch the next one."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Query, Sentence, Support
from dlprof.analysis.findings.gap_causes import SHORT_NS
from dlprof.analysis.findings.title import Title
from dlprof.analysis.findings.traced_devices import IDLE_PARTS
from dlprof.schema.vocabulary import Basis, Ground
from dlprof.units import duration

TITLE = Title("Kernels too small: the GPU waited for launches", "launching many small kernels")
_KEPT = 0.2
"""Share of that time that is left when launches are joined."""
_SIZES = Query(
    "kernels by operator",
    "SELECT op, count(*) AS count, median(dur_ns) AS median_ns, sum(dur_ns) AS total_ns, avg(delay_ns) AS delay_ns "
    "FROM kernels WHERE kind = 'kernel' GROUP BY ALL ORDER BY count DESC LIMIT 8",
)


def look(case: Case) -> Iterator[Claim]:
    """Short gaps between kernels that end with a launch, where kernels are short as well."""
    case.devices.need_devices()
    causes = case.gap_causes
    if not causes.short_ns:
        return
    yield Claim(
        Sentence(
            f"Half of the {causes.kernels:,} kernels take {duration(causes.median_ns)} or less, and the GPU waited for "
            f"the host between them: {causes.short_gaps:,} gaps of no more than {duration(SHORT_NS)}, together "
            f"{duration(causes.short_ns)} of {duration(case.devices.span_ns)}, each for one launch. Joined, they would "
            "save about"
        ),
        case.devices.takes(case.available, int(causes.short_ns * (1 - _KEPT)), case.devices.leaves(*IDLE_PARTS)),
        [_SIZES],
        "Launch less: CUDA graphs, torch.compile or XLA, fused optimisers (fused=True, foreach=True), larger batches.",
        basis=Basis.ESTIMATED,
        support=Support(Ground.MODEL, seen=causes.short_gaps),
    )
