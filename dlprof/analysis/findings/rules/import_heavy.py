"""Imports take a good part of the run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from dlprof.analysis import cold_files, doubts, import_pairs
from dlprof.analysis.findings import queries
from dlprof.analysis.findings.calls import Call, Interval
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Sentence, Support
from dlprof.analysis.findings.rules import cpu_contention
from dlprof.analysis.findings.title import Title
from dlprof.analysis.scheduling import MainThread
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Ground, SpanKind
from dlprof.units import duration

_START_TITLE = Title("Starting the process and importing Keras took longer", "starting the process and importing Keras")
_START_TITLE_ALONE = Title("Starting the process and its imports took longer", "starting the process and its imports")
"""Without Keras on that side."""
_WAIT_TITLE = Title("Starting and ending the process waited longer", "waiting while the process started and ended")
"""Where most of what is longer is no work of the main thread."""
_WORK = "Compare longer trainings, or steady steps only."
_WAIT = "Run both once before, so that their files are in memory, with nothing beside them; or compare steady steps."
_LEAVE_OUT = "Import what is not needed for training where it is used, or not at all (see python -X importtime)."
_NEW_TITLE = Title("A module was imported that the other run has not", "importing a module that the other run has not")
_CORE = (
    "Stop what else runs on the machine, or give the process cores of its own (taskset), and measure again; or compare "
    "steady steps."
)
TITLE = Title("Imports slowed the start", "imports")
_ALWAYS = frozenset({"keras", "tf_keras", "numpy", "scipy", "h5py"})
"""What every training under Keras imports, whatever its engine."""
_SHARE = 0.05
_NAMED = 4
_LEAST_NS = 50_000_000
"""Less is not told of what the main thread did: its counters are sampled once a second."""


def look(case: Case) -> Iterator[Claim]:
    """Imports of the script beyond Keras and its engine; in a pair, what importing takes more in all."""
    imports = case.calls.of(SpanKind.IMPORT)
    if not imports:
        raise Abstain("no import was recorded")
    if case.pair:
        yield from _of_pair(case)
        return
    extra = [(call, _own_parts(case, call, imports)) for call in _outermost(imports) if not _is_needed(case, call.name)]
    extra.sort(key=lambda pair: -_length(pair[1]))
    if sum(_length(parts) for _, parts in extra) < _SHARE * case.tree.wall_ns:
        return
    worst = extra[0][0]
    yield Claim(
        Sentence(
            f"Importing {', '.join(call.name for call, _ in extra[:_NAMED])} takes",
            f", beyond {_needed(case)}.",
        ),
        case.spread(case.phases.of(part for _, parts in extra for part in parts)),
        [queries.spans(SpanKind.IMPORT)],
        case.code.counting_note(worst.line) + _LEAVE_OUT,
        worst.line,
        support=Support(Ground.PLACE, seen=len(extra)),
    )


def _needed(case: Case) -> str:
    """What the training needs: Keras only where it was imported."""
    return "Keras and its engine" if case.run.manifest.keras is not None else "the engine"


def _length(parts: Sequence[Interval]) -> int:
    return sum(end - begin for begin, end in parts)


def _outermost(imports: Sequence[Call]) -> list[Call]:
    """Imports that no other import made."""
    numbers = {call.number for call in imports}
    return [call for call in imports if call.parent not in numbers]


def _is_needed(case: Case, module: str) -> bool:
    return module.partition(".")[0] in _ALWAYS | case.engine.packages


def _own_parts(case: Case, call: Call, imports: Sequence[Call]) -> list[Interval]:
    """An import without what it imports of Keras and the engine: a module of the script's own may be the first to."""
    begin, end = call.interval
    needed = [one.interval for one in imports if begin <= one.begin_ns < end and _is_needed(case, one.name)]
    parts, cursor = [], begin
    for low, high in sorted(needed):
        parts.append((cursor, max(cursor, low)))
        cursor = max(cursor, high)
    return [part for part in [*parts, (cursor, max(cursor, end))] if part[1] > part[0]]


def _of_pair(case: Case) -> Iterator[Claim]:
    new = list(_of_new(case, case.other)) if case.other is not None else []
    yield from new
    if case.other is not None and not new:
        _need_warm_files(case, case.other)
    takes = case.takes(Tree.IMPORT, Tree.STARTUP, Tree.TEARDOWN)
    if sum(takes.values()) - sum(ns for claim in new for ns in claim.takes.values()) < _SHARE * case.whole_ns:
        return
    more = doubts.start_difference(case.run, case.other.run) if case.other is not None else None
    if more is not None and _is_contended(case):
        more = replace(more, wait_ns=0)  # that is told as a cause of its own
    waited = more is not None and more.wait_ns + more.stood_ns > max(0, more.run_ns)
    start = _START_TITLE if case.run.manifest.keras is not None else _START_TITLE_ALONE
    yield Claim(
        Sentence(
            f"Starting and ending the process, importing {_needed(case)}, takes",
            f": a longer training would not feel it.{_told(more)}",
            more=True,
        ),
        takes,
        [queries.spans(SpanKind.IMPORT)],
        _advice(more) if more is not None and waited else _WORK,
        title=_WAIT_TITLE if waited else start,
        support=Support(Ground.COMPARED),
    )


def _of_new(case: Case, other: Case) -> Iterator[Claim]:
    """Modules that this run imports and the other one does not, beyond what their engines need."""
    new = [one for one in import_pairs.only_in(case.run, other.run) if not _is_needed(case, one.name)]
    long = [one for one in new if one.dur_ns >= _LEAST_NS]
    if not long or sum(case.takes(Tree.IMPORT).values()) < _LEAST_NS:
        return
    line = long[0].file, long[0].line
    label = case.against.b.label if case.against is not None else "the other run"
    told = ", ".join(f"{one.name} ({duration(one.dur_ns)})" for one in long[:_NAMED])
    yield Claim(
        Sentence(f"Importing {told}, which {label} does not import, takes", more=True),
        case.filled(sum(one.dur_ns for one in long), Tree.IMPORT),
        [queries.spans(SpanKind.IMPORT)],
        case.code.counting_note(line) + _LEAVE_OUT,
        line,
        title=_NEW_TITLE,
        support=Support(Ground.STATED),
    )


def _is_contended(case: Case) -> bool:
    try:
        return any(True for _ in cpu_contention.look(case))
    except Abstain:
        return False


def _advice(more: MainThread) -> str:
    """What to do about a start that waited: for a core, or for something else such as a disk."""
    return _CORE if more.wait_ns > more.stood_ns else _WAIT


def _told(more: MainThread | None) -> str:
    """What the main thread did meanwhile, as far as it was more than in the other run."""
    if more is None:
        return ""
    parts = (
        (more.run_ns, "computing"),
        (more.wait_ns, "waiting for a core that others had"),
        (more.stood_ns, "standing still (a disk, another process, a lock)"),
    )
    told = [f"{duration(ns)} more {what}" for ns, what in parts if ns >= _LEAST_NS]
    return f" By samples, the main thread spent {', '.join(told)}." if told else ""


def _need_warm_files(case: Case, other: Case) -> None:
    """Abstain where the same engine came from disk for one run, and from memory for the other."""
    mine, theirs = cold_files.pages_from_disk(case.run), cold_files.pages_from_disk(other.run)
    if case.backend == other.backend and cold_files.is_colder(mine, theirs):
        raise Abstain(
            f"one run had {mine} pages of its files read from disk before it trained, the other {theirs}: its imports "
            "took longer for that"
        )
