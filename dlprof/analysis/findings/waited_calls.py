"""Calls of a foreign trace of Python functions that only wait: a pause, a lock, another process.

The trace names them and the function that they were made in. Beside operators of an engine a wait may be for what runs
meanwhile; here nothing does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dlprof.analysis.findings import input_waits
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Query, Sentence, SourceLine, Support
from dlprof.analysis.findings.title import Title
from dlprof.schema import trace_marks
from dlprof.schema.tree_paths import IN_PARTS
from dlprof.schema.vocabulary import Ground, StepPart
from dlprof.store import query
from dlprof.units import cut, safe

_TITLE = Title("The program stood waiting", "waiting in the program")
_SHARE = 0.20
_ASKED = 0.0
"""What agrees: that it need not wait nothing says."""
_NAME_AT_MOST = 60
_PLACE = re.compile(r"\((?P<file>[^()]{1,4000}):(?P<line>\d{1,9})\)$")
_NEXT = (
    "See what it waits for: a pause (sleep), a lock that another thread holds, a queue that is filled too slowly, the "
    "network, a disk, another program."
)
_QUERY = """WITH w AS (SELECT name, lane, start_ns, dur_ns FROM kernels WHERE kind = 'wait'),
    f AS (SELECT name AS inside, lane, start_ns, start_ns + dur_ns AS end_ns FROM kernels WHERE kind = 'operator')
    SELECT w.name, CASE WHEN f.end_ns >= w.start_ns + w.dur_ns THEN f.inside END AS inside,
    CAST(sum(w.dur_ns) AS BIGINT) AS ns, count(*) AS calls
    FROM w ASOF LEFT JOIN f ON w.lane = f.lane AND w.start_ns >= f.start_ns GROUP BY ALL ORDER BY ns DESC"""


def claims(case: Case) -> Iterator[Claim]:
    """One, a question, for the call that waited longest."""
    if case.pair or not input_waits.is_of_trace(case) or case.devices.times:
        return
    takes = case.takes(*(root / StepPart.SYNC for root in IN_PARTS))
    share = sum(takes.values()) / max(1, case.whole_ns)
    if share < _SHARE:
        return
    rows = query.ask_own(case.run, _QUERY).rows
    name, inside, _, calls = rows[0] if rows else ("", None, 0, 0)
    if not inside or not trace_marks.is_function(inside):
        return
    times = f"{calls:,} time{'s' * (calls != 1)}"
    yield Claim(
        Sentence(f"The program waits, longest in {_short(name)} ({times}), which {_short(inside)} called:"),
        takes,
        [Query("calls that wait, and the functions that they were made in", _QUERY)],
        _NEXT,
        _line(inside),
        title=_TITLE,
        support=Support(Ground.PLACE, agree=_ASKED, part=share),
    )


def _short(name: str) -> str:
    return cut(safe(name), _NAME_AT_MOST)


def _line(function: str) -> SourceLine | None:
    found = _PLACE.search(function)
    return (found["file"], int(found["line"])) if found else None
