"""Copies between host and device take a good part of the steps."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Query, Sentence, Support
from dlprof.analysis.findings.title import Title
from dlprof.schema.vocabulary import EventKind, Ground, StepPart

TITLE = Title("Copies between host and device held the GPU up", "copies between host and device")
_SHARE = 0.10
_BETWEEN = "regexp_matches(name, 'HtoD|DtoH|H2D|D2H|HostToDevice|DeviceToHost|HostFromGpu|GpuFromHost')"
"""Names of copies that leave or reach the host: those within a device, and memsets, are none."""
_COPIES = Query(
    "copies",
    "SELECT name, device, count(*) AS count, sum(dur_ns) AS total_ns, sum(bytes) AS bytes FROM kernels "
    "WHERE kind = 'transfer' GROUP BY ALL ORDER BY total_ns DESC LIMIT 8",
)


def look(case: Case) -> Iterator[Claim]:
    """Time in which a copy ran and no kernel."""
    case.devices.need_devices()
    places = case.devices.leaves(StepPart.TRANSFER)
    share = _between_share(case)
    taken = sum(case.own(place) for place in places) * share
    if taken < _SHARE * max(1, sum(case.own(root) for root in case.devices.roots)):
        return
    yield Claim(
        Sentence("Copies between host and device, with no kernel running, take"),
        case.takes(*places, share=share),
        [_COPIES],
        f"Keep data on the device, {_pinned(case)}send smaller types (uint8), and copy beside the kernels, on a stream "
        "of its own.",
        support=Support(Ground.PLACE, usual=_SHARE / 2),
    )


def _between_share(case: Case) -> float:
    """Share of the time of copies that is between host and device; all of it where no name tells."""
    text = f"SELECT sum(dur_ns), sum(dur_ns) FILTER ({_BETWEEN}), count(*) FILTER (regexp_matches(name, '{_KNOWN}'))"
    whole, between, named = case.devices.first_row(f"{text} FROM kernels WHERE kind = '{EventKind.TRANSFER.word}'")
    return (between or 0) / whole if whole and named else 1.0


_KNOWN = "[HD](to|2)[HD]|(Host|Device)To|FromGpu|FromHost|(?i)memset"


def _pinned(case: Case) -> str:
    """Advice on pinned memory, where copies are known to be from memory that is not."""
    text = "SELECT count(*) FROM kernels WHERE kind = 'transfer' AND name LIKE '%Pageable%'"
    return "use pinned memory (these copies are of pageable memory), " if case.devices.first_row(text)[0] else ""
