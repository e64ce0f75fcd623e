"""The script holds data twice: as it was read, and as what it was converted to."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis import memory, memory_copies
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Query, Rank, Statement, Support
from dlprof.analysis.findings.title import Title
from dlprof.schema.vocabulary import Ground
from dlprof.units import size

TITLE = Title("Data is held twice, before and after a conversion", "data that is held twice")
_LEAST_SHARE = 0.1
"""Of the peak: less is not worth a word."""
_SURE = 0.8
"""Both growths are measured; that the one became the other is read from the names."""
_EVIDENCE = (
    Query(
        "memory by tenths of the run",
        "SELECT min(time_ns) AS time_ns, max(rss_bytes) AS rss_bytes, max(anonymous_bytes) AS anonymous_bytes FROM "
        "(SELECT *, ntile(10) OVER (ORDER BY time_ns) AS part FROM process_samples) GROUP BY part ORDER BY time_ns",
    ),
)


def look(case: Case) -> Iterator[Claim]:
    """Lines that convert, grew memory, and whose source never gave its own back."""
    if case.pair:
        raise Abstain("of two runs memory is not compared")
    found = memory.of_run(case.run)
    if found.peak is None:
        raise Abstain(f"memory was not sampled: {found.not_measured['peak_bytes']}")
    if not case.code.user_files:
        raise Abstain("no line of the script's own was seen in a sampled stack")
    copies = [one for one in memory_copies.of_run(case.run) if one.source_bytes >= _LEAST_SHARE * found.peak.bytes]
    if not copies:
        return
    copy = copies[0]
    more = f"; {len(copies) - 1} more such lines" if len(copies) > 1 else ""
    yield Claim(
        Statement(
            f"{copy.file}:{copy.line} took {size(copy.copy_bytes)} for a copy of `{copy.name}`, which line "
            f"{copy.source_line} had taken {size(copy.source_bytes)} for; nothing of both was given back while it "
            f"trained, of {size(found.peak.bytes)} at the peak{more}"
        ),
        {},
        _EVIDENCE,
        f"Let the source go behind the conversion (del {copy.name}, or give the result the same name), convert in "
        "parts, or make it in its last form at once: torch.from_numpy and np.asarray share memory, a list of numbers "
        "takes 8 times what an array of float32 does.",
        (copy.file, copy.line),
        rank=Rank.WITHOUT_TIME,
        support=Support(Ground.PLACE, agree=_SURE),
    )
