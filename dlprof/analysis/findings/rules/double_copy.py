"""The script holds data twice: as it was read, and as what it was converted to."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis import fit_copies, memory, memory_copies
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Query, Rank, Statement, Support
from dlprof.analysis.findings.title import Title
from dlprof.analysis.fit_copies import FitCopy
from dlprof.analysis.memory_copies import Copy
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
    least = _LEAST_SHARE * found.peak.bytes
    of_fit = [one for one in fit_copies.of_run(case.run) if one.copy_bytes >= least]
    if of_fit:
        yield _of_fit(of_fit[0], len(of_fit) - 1, found.peak.bytes)
    if not case.code.user_files:
        if of_fit:
            return
        raise Abstain("no line of the script's own was seen in a sampled stack")
    copies = [one for one in memory_copies.of_run(case.run) if one.source_bytes >= least]
    if copies:
        yield _of_line(copies[0], len(copies) - 1, found.peak.bytes)


def _of_line(copy: Copy, others: int, peak: int) -> Claim:
    return Claim(
        Statement(
            f"{copy.file}:{copy.line} took {size(copy.copy_bytes)} for a copy of `{copy.name}`, which line "
            f"{copy.source_line} had taken {size(copy.source_bytes)} for; nothing of both was given back while it "
            f"trained, of {size(peak)} at the peak{_more(others)}"
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


def _of_fit(copy: FitCopy, others: int, peak: int) -> Claim:
    cast = copy.made_type != copy.given_type
    what = f" as {copy.made_type}" if cast else ""
    place = (copy.file, copy.line) if copy.file is not None and copy.line is not None else None
    return Claim(
        Statement(
            f"`fit` took {size(copy.copy_bytes)} before its first step, which is a copy of all the {copy.given_type} "
            f"data that it was given ({size(copy.given_bytes)}){what}; it was not given back while it trained, of "
            f"{size(peak)} at the peak{_more(others)}"
        ),
        {},
        (*_EVIDENCE, _at_call(copy)),
        f"Make the data {copy.made_type} where it is read, and keep no other copy."
        if cast
        else "Give fit the data in parts (a generator, a PyDataset over a mapped file, a tf.data pipeline), so that "
        "the engine takes a batch at a time.",
        place,
        rank=Rank.WITHOUT_TIME,
        support=Support(Ground.STATED),
    )


def _at_call(copy: FitCopy) -> Query:
    told = ("after_ns", "rss_bytes", "anonymous_bytes")
    columns = ", ".join(f"CAST(json_extract(detail, '$.memory.{name}') AS BIGINT) AS {name}" for name in told)
    return Query(
        "memory at the call of fit as the process read it, and the data",
        f"SELECT start_ns, {columns}, json_extract_string(detail, '$.memory.source') AS source, "
        f"json_extract(detail, '$.data') AS data FROM spans WHERE span_id = {copy.span_id}",
    )


def _more(others: int) -> str:
    return f"; {others} more such lines" if others else ""
