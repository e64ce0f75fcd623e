"""Open descriptors, threads or processes become more with the steps of the training, and nobody ends them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import pyarrow.compute as pc

from dlprof.analysis import scaled_hits, source_loops, trends
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Query, Rank, SourceLine, Statement, Support
from dlprof.analysis.findings.title import Title
from dlprof.analysis.trends import Trend
from dlprof.schema.vocabulary import Ground, LineSource, Trended

TITLE = Title(
    "Open files, threads or processes become more with each step", "files, threads or processes that become more"
)
_WHAT: Mapping[Trended, str] = MappingProxyType(
    {
        Trended.DESCRIPTORS: "open descriptors (files, pipes, sockets)",
        Trended.THREADS: "threads",
        Trended.PROCESSES: "processes below it",
    }
)
_OPENS: Mapping[Trended, str] = MappingProxyType(
    {
        Trended.DESCRIPTORS: r"\b(open|fdopen|memmap|mmap|File|SummaryWriter|FileWriter|mkstemp|TemporaryFile|"
        r"NamedTemporaryFile|Popen|Pipe|socket|create_connection|urlopen|Session|dup|FileHandler|connect)\(",
        Trended.THREADS: r"(\b|_)(Thread|Timer|ThreadPool|ThreadPoolExecutor|start_new_thread)\(",
        Trended.PROCESSES: r"\b(Process|Popen|Pool|ProcessPoolExecutor|DataLoader|fork)\(",
    }
)
"""What opens one, in the source of lines that ran about as often as there were more."""
_NEXT = {
    Trended.DESCRIPTORS: "Close what is opened in the loop (with open(...) as file, writer.close()), or open it once "
    "before the loop.",
    Trended.THREADS: "End threads that are started in the loop (join, shutdown, a pool in a with statement), or "
    "start them once before the loop.",
    Trended.PROCESSES: "Wait for processes that are started in the loop, and end pools and loaders (close, join, "
    "persistent_workers), or start them once before it.",
}
_AS_OFTEN = 3.0
"""A line that opens one did not run so many times as often, or as rarely, as there are more of them."""
_COUNTED = 0.75
"""Share of the training over which the slope goes."""
_NAMED = 2


def look(case: Case) -> Iterator[Claim]:
    """One for each that grows, in each third of the steps."""
    if case.pair:
        raise Abstain("of two runs these are not compared")
    found = trends.of_run(case.run)
    known = [one for one in map(found.of, _WHAT) if one is not None]
    if not known:
        raise Abstain(f"how these went was not measured: {found.not_measured[Trended.THREADS]}")
    for trend in known:
        if trend.is_growing:
            yield _claim(case, trend)


def _claim(case: Case, trend: Trend) -> Claim:
    quantity, slope = trend.quantity, trend.slope
    line = _opening(case, trend)
    return Claim(
        Statement(
            f"The process has more and more {_WHAT[quantity]}: {slope.first:,.0f} at first, {slope.last:,.0f} at the "
            f"end, {slope.per_step:.3g} more with each step (95 %: {slope.ci[0]:.3g} to {slope.ci[1]:.3g}), over "
            f"{slope.steps:,} steps{_names(trend)}{_until(case, trend)}{_told(line, quantity)}"
        ),
        {},
        (_evidence(quantity, case.run.manifest.process.pid),),
        _NEXT[quantity],
        line,
        rank=Rank.WITHOUT_TIME,
        support=Support(Ground.REPEATED, seen=slope.steps),
    )


def _evidence(quantity: Trended, pid: int | None) -> Query:
    if quantity is Trended.PROCESSES:
        return Query(
            "processes over the run",
            "SELECT command, count(*) AS processes, min(start_ns) AS first_ns, max(start_ns) AS last_ns, "
            "count(end_ns) AS ended FROM processes GROUP BY command ORDER BY processes DESC LIMIT 8",
        )
    return Query(
        f"{quantity} by tenths of the run",
        f"SELECT min(time_ns) AS time_ns, max({quantity}) AS {quantity} FROM (SELECT *, ntile(10) OVER (ORDER BY "
        f"time_ns) AS part FROM process_samples WHERE pid = {pid} AND {quantity} IS NOT NULL) GROUP BY part "
        "ORDER BY time_ns",
    )


def _names(trend: Trend) -> str:
    if not trend.names:
        return ""
    told = ", ".join(f"{one.name} ({one.count:,})" for one in trend.names[:_NAMED])
    return f"; the newest are {told}"


def _until(case: Case, trend: Trend) -> str:
    """In how many steps the limit of open files is reached."""
    if trend.quantity is not Trended.DESCRIPTORS:
        return ""
    limit = pc.min(case.run.table("machine", ("limit_descriptors",))["limit_descriptors"]).as_py()
    if limit is None or limit <= trend.slope.last:
        return ""
    left = int((limit - trend.slope.last) / trend.slope.per_step)
    return f"; at this rate the limit of {limit:,} is reached after {left:,} more steps"


def _opening(case: Case, trend: Trend) -> SourceLine | None:
    """A line in a loop that opens one by its source, and ran about as often as there are more.

    One of which no hit is known, because lines were counted in windows, comes behind those that fit. None: there is no
    such line.
    """
    # Lines are counted over the whole training, of which the slope leaves out the first quarter.
    more = trend.slope.kept / _COUNTED
    fitting = []
    for row in case.run.rows("lines"):
        if row["source"] and re.search(_OPENS[trend.quantity], row["source"]) and _is_in_loop(case, row):
            times = row["hits"] / more if row["hits"] else None
            most = _AS_OFTEN * (scaled_hits.OFF if row["how"] == LineSource.SCALED else 1)
            if times is None or 1 / most <= times <= most:
                fitting.append((times is None, abs(1 - (times or 0)), row["file"], row["line"]))
    return min(fitting)[2:] if fitting else None


def _is_in_loop(case: Case, row: Mapping[str, Any]) -> bool:
    """Whether a loop is around a line, or a function that may be called in one."""
    return row["source"][:1].isspace() or row["line"] in source_loops.around(case.run.folder.source_lines(row["file"]))


def _told(line: SourceLine | None, quantity: Trended) -> str:
    if line is None:
        return ""
    verb = "opens" if quantity is Trended.DESCRIPTORS else "starts"
    return f"; by its source {line[0]}:{line[1]} {verb} one each time it runs"
