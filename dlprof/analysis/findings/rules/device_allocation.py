"""The program asks the driver for memory of the device, or gives it back: the device stands still."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Query, Sentence, Support
from dlprof.analysis.findings.gap_causes import ALLOCATION
from dlprof.analysis.findings.title import Title
from dlprof.analysis.findings.traced_devices import IDLE_PARTS
from dlprof.schema.vocabulary import Ground
from dlprof.units import duration

TITLE = Title("The GPU stood still while its memory was allocated or freed", "allocating and freeing memory of the GPU")
_ROWS = Query(
    "calls for memory of the device",
    "SELECT name, count(*) AS calls, sum(dur_ns) AS total_ns, max(dur_ns) AS longest_ns FROM kernels "
    f"WHERE kind = 'runtime' AND regexp_matches(name, '^{ALLOCATION}') GROUP BY ALL ORDER BY total_ns DESC LIMIT 8",
)


def look(case: Case) -> Iterator[Claim]:
    """Gaps of the device in which the host was in such a call most of the time."""
    case.devices.need_devices()
    by_call = case.gap_causes.allocation
    if not by_call:
        return
    calls = ", ".join(f"{name} {duration(ns)}" for name, ns in by_call.most_common(3))
    yield Claim(
        Sentence(
            "The GPU had nothing to run while the host asked the driver for memory, or gave it back (idle meanwhile: "
            f"{calls}); the first such call also starts the driver:"
        ),
        case.devices.takes(case.available, sum(by_call.values()), case.devices.leaves(*IDLE_PARTS)),
        [_ROWS],
        "If it is in the first steps only, leave these out of what you measure. Else keep memory: sizes that do not "
        "change, no empty_cache() in the loop, a pool of the framework's; on ROCm a fixed workspace for convolutions.",
        support=Support(Ground.STATED),
    )
