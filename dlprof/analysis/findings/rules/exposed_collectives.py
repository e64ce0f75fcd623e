"""Collectives between devices run while nothing computes: they are not hidden behind the work."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Query, Sentence, Support
from dlprof.analysis.findings.title import Title
from dlprof.schema.vocabulary import Basis, Category, Ground, StepPart
from dlprof.units import duration

TITLE = Title("Collectives ran with nothing beside them", "collectives that no computing hid")
_SHARE = 0.10
_COLLECTIVES = Query(
    "collectives",
    "SELECT name, device, lane, count(*) AS count, sum(dur_ns) AS total_ns FROM kernels "
    "WHERE kind = 'kernel' AND category = 'collective' GROUP BY ALL ORDER BY total_ns DESC LIMIT 8",
)


def look(case: Case) -> Iterator[Claim]:
    """Time in which a collective ran on a device, and no kernel that computes."""
    case.devices.need_devices()
    times = case.devices.times
    ran, hidden = (
        sum(getattr(time, name) for time in times) for name in ("communication_ns", "communication_overlapped_ns")
    )
    exposed = ran - hidden
    if exposed < _SHARE * case.devices.span_ns:
        return
    places = [root / StepPart.KERNELS / Category.COLLECTIVE for root in case.devices.roots]
    yield Claim(
        Sentence(
            f"Collectives ran for {duration(ran)} on {len(times)} device{'s' * (len(times) > 1)}, "
            f"{100 * hidden / ran:.0f} % of that beside kernels that compute (one rank does not tell how much of it "
            "was waiting for slower ones). Not hidden, and at most to be saved:"
        ),
        case.devices.takes(case.available, exposed, places),
        [_COLLECTIVES],
        "Start collectives as soon as their data are there (buckets of DDP, prefetching of FSDP), send less or less "
        "often (accumulated gradients, 16 bits), and see that all ranks have equal work.",
        basis=Basis.ESTIMATED,
        support=Support(Ground.PLACE, usual=_SHARE / 2),
    )
