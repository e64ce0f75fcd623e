"""The run was ended because there was no memory left."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis import memory, memory_end, memory_owners
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Query, Rank, SourceLine, Statement, Support
from dlprof.analysis.findings.title import Title
from dlprof.analysis.memory import Memory
from dlprof.analysis.memory_end import MemoryEnd
from dlprof.schema.vocabulary import Ground, MemoryKind
from dlprof.units import size

TITLE = Title("The run was ended for want of memory", "memory that ran out")
_EVIDENCE = (
    Query(
        "memory at the end",
        "SELECT time_ns, pid, rss_bytes, anonymous_bytes, address_space_bytes FROM process_samples "
        "ORDER BY time_ns DESC LIMIT 8",
    ),
    Query(
        "what holds it",
        "SELECT kind, how, sum(bytes) AS bytes, sum(count) AS arrays FROM memory_owners GROUP BY ALL "
        "ORDER BY bytes DESC NULLS LAST",
    ),
)
_NEXT_OF_GROWTH = (
    "Memory grew with each step until none was left: stop that first (memory-growth says where it may be kept), and "
    "only then make the batch or the model smaller."
)
_WANTED = "more than was ever there, by shapes, is wanted for"
"""By what is made of the batch that there was no memory for."""
_MOST = 0.5
"""Of the peak."""
_OF_A_BATCH = frozenset({MemoryKind.ACTIVATIONS, MemoryKind.INPUT})
_NEXT = {
    True: "Use a smaller batch, mixed precision, or compute activations anew in the backward pass: what is made of a "
    "batch holds most of what is known.",
    False: "Use a smaller model, fewer bits, or an optimiser with fewer slots: variables hold most of what is known.",
    None: "Look where memory was at its largest (dlprof memory RUN --by time): load data in parts, take smaller "
    "batches, and drop what is no longer needed before.",
}


def look(case: Case) -> Iterator[Claim]:
    """Exceptions that left the script, and kills near a limit."""
    if case.pair:
        raise Abstain("of two runs memory is not compared")
    end = memory_end.of_run(case.run)
    if end is None:
        return
    found = memory.of_run(case.run)
    yield Claim(
        Statement(f"The run was ended for want of memory: {end.how}{_limit(end)}{_peak(found)}{_held(found)}"),
        {},
        _EVIDENCE,
        _NEXT_OF_GROWTH if _grew(found) else _NEXT[_is_of_a_batch(found)],
        _line(end, found),
        rank=Rank.ENDED_THE_RUN,
        support=Support(Ground.STATED),
    )


def _limit(end: MemoryEnd) -> str:
    if end.limit is None:
        return ""
    whose = "of the machine" if end.limit == "machine" else f"of its {end.limit}"
    return f"; {size(end.used_bytes)} {whose} were in use, of {size(end.limit_bytes)}"


def _peak(found: Memory) -> str:
    peak = found.peak
    if peak is None:
        return ""
    place = f", at {peak.file}:{peak.line}" if peak.file else ""
    return f"; resident were at most {size(peak.bytes)}, in {peak.phase or 'no known phase'}{place}"


def _held(found: Memory) -> str:
    kinds = memory_owners.by_kind(found.owners)
    told = [f"{kind.value} {size(value)}" for kind, value in kinds.items() if value]
    is_more = found.peak is not None and sum(value or 0 for value in kinds.values()) > found.peak.bytes
    return f"; {_WANTED if is_more else 'held for'} {', '.join(told)}" if told else "; what held it is not known"


def _grew(found: Memory) -> bool:
    """Whether most of what there was had grown with the steps."""
    growth, peak = found.growth, found.peak
    return growth is not None and growth.is_growing and peak is not None and growth.kept_bytes >= _MOST * peak.bytes


def _is_of_a_batch(found: Memory) -> bool | None:
    """Whether what is made of a batch is most of what is known; None: most is neither that nor variables."""
    kinds = {kind: value or 0 for kind, value in memory_owners.by_kind(found.owners).items()}
    known = sum(value for kind, value in kinds.items() if kind != MemoryKind.OTHER)
    if not known or known < kinds.get(MemoryKind.OTHER, 0):
        return None
    return sum(kinds.get(kind, 0) for kind in _OF_A_BATCH) > known / 2


def _line(end: MemoryEnd, found: Memory) -> SourceLine | None:
    if end.file is not None and end.line is not None:
        return end.file, end.line
    peak = found.peak
    return (peak.file, peak.line) if peak is not None and peak.file is not None and peak.line is not None else None
