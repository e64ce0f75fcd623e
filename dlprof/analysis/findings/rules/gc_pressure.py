"""The garbage collector takes a good part of the training: too many objects, or `gc.collect()` again and again."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dlprof.analysis.findings import doing
from dlprof.analysis.findings.case import WORK, Case
from dlprof.analysis.findings.finding import Claim, Query, Sentence, SourceLine, Support
from dlprof.analysis.findings.title import Title
from dlprof.schema import tree_paths
from dlprof.schema.tree_paths import Tree, TreePath
from dlprof.schema.vocabulary import Ground, Phase

TITLE = Title("Python's garbage collector interrupted the training", "Python's garbage collector")
_FULL = 2
"""The oldest generation: a collection of it goes through everything."""
_SOON_NS = 200_000_000
"""What begins so shortly after an import is for what that made."""
_OFTEN = 5
"""Fewer full collections are some that are asked for now and then."""
_MOSTLY = 0.5
"""Share of their time that the main thread must have stood in the line."""
_BY_CALL = ", because a line asks for it again and again"
_USUAL = 0.05
"""Share of the work that collecting takes in trainings that nobody would complain of: engines make many objects."""
_IMPORTING = [phase for phase in Phase if Tree.IMPORT.holds(tree_paths.root_of(phase))]
"""Phases in which something is imported."""
_COLLECTIONS = Query(
    "collections of more than 0.2 ms",
    "SELECT generation, count(*) AS count, sum(dur_ns) AS total_ns, max(dur_ns) AS max_ns "
    "FROM gc GROUP BY ALL ORDER BY total_ns DESC",
)


def look(case: Case) -> Iterator[Claim]:
    """Collections that began in the user's work; those of imports and of building models are left out.

    So is the full one that follows an import: Python goes through all that an import has made once that is enough.
    """
    case.calls.need_calls()
    rows = _without_those_of_imports(case, case.run.rows("gc"))
    by_phase = case.phases.of((row["start_ns"], row["start_ns"] + row["dur_ns"]) for row in rows)
    by_phase = {phase: ns for phase, ns in by_phase.items() if any(top.holds(phase) for top in WORK)}
    if not sum(by_phase.values()):
        return
    begin, end = case.phases.training_span
    inside = [row for row in rows if begin <= row["start_ns"] <= end]
    phases = tuple(by_phase)
    part = sum(by_phase.values()) / max(1, sum(case.own(top) for top in WORK))
    asked = _asked_for(case, rows)
    yield Claim(
        Sentence(
            f"The garbage collector ran for long in the training, or in the script around it{_BY_CALL * bool(asked)}:"
        ),
        case.spread(by_phase),
        [_COLLECTIONS],
        "Make fewer objects that live long, call gc.freeze() before training, raise gc.set_threshold, and leave "
        "gc.collect() out of loops.",
        asked or _where(case, phases),
        support=Support(Ground.STATED if asked else Ground.PLACE, seen=max(1, len(inside)), part=part, usual=_USUAL),
        fix="without gc.collect() there: Python collects by itself" if asked else None,
    )


def _where(case: Case, phases: Sequence[TreePath]) -> SourceLine | None:
    """The line that may make the objects; none where the main thread waits for another one, which makes them then."""
    if case.code.share(phases, lambda sample: doing.waits_for_thread(sample.frames)) >= _MOSTLY:
        return None
    return case.code.hottest_line(phases, case.code.is_called_back) or case.code.hottest_line(phases)


def _asked_for(case: Case, rows: Sequence[Mapping[str, Any]]) -> SourceLine | None:
    """The script's line that asks for full collections, where most of their time is under it; None: there is none."""
    line = case.code.line_like(r"^\s*gc\.collect\(")
    if line is None:
        return None
    full = [row["dur_ns"] for row in rows if row["generation"] == _FULL]
    stood = case.code.stood_ns(line)
    return line if len(full) >= _OFTEN and stood >= _MOSTLY * sum(full) else None


def _without_those_of_imports(case: Case, rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Without the full collection right behind each import that took longer than that collection."""
    full = sorted((row["start_ns"], row["dur_ns"]) for row in rows if row["generation"] == _FULL)
    starts, taken = [start for start, _ in full], set()
    for phase in case.run.chosen("phase_intervals", "phase", _IMPORTING, ("start_ns", "dur_ns")) if full else ():
        end = phase["start_ns"] + phase["dur_ns"]
        number = bisect_left(starts, end)
        if number < len(full) and starts[number] < end + _SOON_NS and full[number][1] < phase["dur_ns"]:
            taken.add(starts[number])
    return [row for row in rows if row["generation"] != _FULL or row["start_ns"] not in taken]
