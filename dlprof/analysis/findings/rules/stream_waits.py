"""Work is launched, but a device runs nothing: its streams wait for each other."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Query, Sentence, Support
from dlprof.analysis.findings.title import Title
from dlprof.analysis.findings.traced_devices import IDLE_PARTS
from dlprof.schema.vocabulary import Ground
from dlprof.units import duration

TITLE = Title("Work that was launched waited for other streams", "streams that waited for each other")
_SHARE = 0.10
_WAITS = "regexp_matches(name, 'StreamWait(Event|Value)|LaunchHostFunc|StreamAddCallback')"
_HELD = Query(
    "kernels that were held up",
    "SELECT device, kernel, count(*) AS gaps, sum(wait_ns) AS wait_ns FROM gpu_gaps GROUP BY ALL "
    "ORDER BY wait_ns DESC LIMIT 8",
)


def look(case: Case) -> Iterator[Claim]:
    """Gaps that go on after the launch of the kernel that ended them, beyond its latency."""
    case.devices.need_devices()
    wait_ns = sum(idle.wait_ns for idle in case.devices.idle)
    if wait_ns < _SHARE * case.devices.span_ns:
        return
    if not case.devices.first_row(f"SELECT count(*) FROM kernels WHERE {_WAITS}")[0]:
        raise Abstain("no call that makes a stream wait was recorded, so that what held launched work up is not known")
    yield Claim(
        Sentence(
            f"For {duration(wait_ns)} of {duration(case.devices.span_ns)} nothing ran on the GPU although work was "
            "launched: it was held up behind another stream, an event or a function of the host:"
        ),
        case.devices.takes(case.available, wait_ns, case.devices.leaves(*IDLE_PARTS)),
        [_HELD],
        "See which stream or event the first kernel after these gaps waits for, and launch what signals it earlier.",
        support=Support(Ground.STATED),
    )
