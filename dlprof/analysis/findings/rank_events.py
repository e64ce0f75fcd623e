"""Rules about ranks: one that stands for good, one that works alone, slow machines; gradients in small parts."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis import rank_pauses, rank_stands, ranks
from dlprof.analysis.columns import steps_of
from dlprof.analysis.findings.finding import Finding, Query, Rank, Sentence, SourceLine, Statement
from dlprof.analysis.findings.rank_advice import EVALUATION, GARBAGE, INPUT, MACHINE, OTHER, SAVING, advice
from dlprof.analysis.findings.rank_case import STEPS, RankCase
from dlprof.analysis.rank_stands import Stand
from dlprof.analysis.ranks import RankTimes
from dlprof.analysis.stretches import Stretches
from dlprof.schema.vocabulary import Basis, Loop, SpanKind
from dlprof.store.run import Run
from dlprof.units import duration


@dataclass(frozen=True)
class Buffers:
    """Buffers of a model that its ranks are given again and again.

    Attributes:
        ns: How long a broadcast of them takes the rank that stands still for it shortest (median, ns).
        bytes: How large they are.
        line: Where the model is made data parallel.
    """

    ns: int
    bytes: int
    line: SourceLine | None


Found = Iterator[tuple[Finding, Query]]
_STACKS = Query(
    "where each rank's main thread stood last",
    "SELECT rank, max(start_ns + dur_ns) AS until_ns, last(function ORDER BY start_ns, depth) AS function, "
    "last(file ORDER BY start_ns, depth) AS file, last(line ORDER BY start_ns, depth) AS line "
    "FROM stacks JOIN frames USING (stack_id, rank) WHERE thread = 'MainThread' GROUP BY rank ORDER BY rank",
)
_LONGEST = Query(
    "the longest times that ranks stood still for a collective",
    "SELECT rank, kind, ordinal, start_ns, blocked_ns FROM collectives ORDER BY blocked_ns DESC LIMIT 8",
)
_MOST_OF = 0.5
"""What fills this share of the pauses is what the rank did in them."""
_LEAST_MORE = 0.05
"""A rank that is by itself for no more of its time than this beyond another one does nothing else than that."""
MANY_PARTS = 8
SMALL_BYTES = 1 << 20
"""So many parts, and of less than this each on average: it is their number that takes time, not what is in them."""
_WORD = re.compile("[A-Z]?[a-z]+|[A-Z]+")
"""A word of a name, of `save_model` as of `saveModel`."""
_BY_WORD: Mapping[str, str] = {
    **dict.fromkeys(("eval", "evaluate", "evaluation", "evaluating"), EVALUATION),
    **dict.fromkeys(("val", "valid", "validate", "validation", "validating", "test", "testing"), EVALUATION),
    **dict.fromkeys(("save", "saving", "checkpoint", "checkpoints", "checkpointing"), SAVING),
}
BUFFERS = "buffers"
"""Kind of the collectives that are broadcasts of buffers."""
_SPANS: Mapping[str, str] = {
    SpanKind.EVALUATE: EVALUATION,
    SpanKind.PREDICT: EVALUATION,
    SpanKind.SAVE: SAVING,
}


def hung(case: RankCase) -> Found:
    """A rank that stands in its own code while all others wait in what all ranks do together."""
    summary = case.summary
    if not any(one.failed for one in summary.ranks):
        return
    found = rank_stands.hung(case.ranked.members, summary.clock, summary.progress, summary.median_ns or 0)
    if found is None:
        return
    stand, times = found.stand, summary.of(found.rank)
    waited = f" in {found.others.place}" if found.others is not None else ""
    text = (
        f"Rank {found.rank} stood in {stand.place} for the last {duration(found.since_ns)}, after {times.steps} train "
        f"steps, while the other ranks waited for it{waited}; then the training was ended."
    )
    yield (
        case.finding(
            "rank-hung", Statement(text, ""), 0, advice("rank-hung"),
            (stand.file, stand.line), rank=Rank.ENDED_THE_RUN,
        ),
        _STACKS,
    )  # fmt: skip


def lone_work(case: RankCase) -> Found:
    """What one rank does alone between steps, while all others stand still."""
    summary = case.summary
    least = rank_pauses.LEAST_STEPS if summary.straggler is None else rank_pauses.BESIDE_STRAGGLER
    found = rank_pauses.longest(summary.pauses, summary.median_ns or 0, least)
    if found is None or summary.median_ns is None:
        return
    slow, steps = summary.straggler, min(one.steps for one in summary.ranks)
    if found.is_often(steps) and slow is not None and slow.rank == found.rank:
        return  # the same is told of its steps
    run, place = case.run(found.rank), summary.clock.placements[found.rank]
    own = [
        (int(begin), int(end))
        for begin, end in place.own(np.array(found.times, np.int64).reshape(-1)).reshape(-1, 2).tolist()
    ]
    stand = rank_stands.of_run(run, own)
    if slow is not None and slow.rank == found.rank and stand is not None and _is_usual(case, slow.rank, own, stand):
        return  # some of its slow steps took longer still
    what = _doing(run, own) or _by_name(stand) or OTHER
    told = f" ({what})" if what != OTHER else ""
    where = f" in {stand.place}" if stand is not None else ""
    count = len(found.times)
    of_steps = f" in {steps} steps" if what == INPUT else ""
    times = f"{count} times{of_steps}, for {duration(found.total_ns // count)} on average" if count > 1 else "once"
    how = " (told by when the ranks began their steps: collectives were not seen)" if found.is_inferred else ""
    text = f"Rank {found.rank} worked alone{where}{told} {times}, while all others stood still for it{how}:"
    line: SourceLine | None = (stand.file, stand.line) if stand is not None else case.loop_line(found.rank)
    basis = Basis.ESTIMATED if found.is_inferred else Basis.MEASURED
    query = STEPS if found.is_inferred else _LONGEST
    yield case.finding("lone-work", Sentence(text), found.total_ns, advice("lone-work", what), line, basis=basis), query


def _is_usual(case: RankCase, rank: int, pauses: Sequence[tuple[int, int]], stand: Stand) -> bool:
    """Whether the line of a rank's pauses is the one that it stands in most, by itself, in its other steps."""
    steps = case.summary.stretches.get(rank)
    if steps is None or not len(steps.begin):
        return False
    bounds = [int(steps.begin[0]), *itertools.chain.from_iterable(pauses), int(steps.end[-1])]
    between = [(begin, end) for begin, end in zip(bounds[::2], bounds[1::2], strict=True) if begin < end]
    usual = rank_stands.by_itself(case.run(rank), between)
    return usual is not None and (usual.file, usual.line) == (stand.file, stand.line)


def _doing(run: Run, times: Sequence[tuple[int, int]]) -> str | None:
    """What fills most of some stretches of a run's own time, as far as hooks saw it."""
    whole = Stretches.of(times)
    steps = run.table("steps", ("loop", "start_ns", "dur_ns"))
    tested = steps.filter(pc.is_in(steps["loop"].cast("string"), pa.array([Loop.TEST, Loop.PREDICT])))
    doings = [(_SPANS[row["kind"]], row) for row in run.chosen("spans", "kind", tuple(_SPANS))]
    doings += [(EVALUATION, row) for row in tested.to_pylist()]
    doings += [(GARBAGE, row) for row in run.rows("gc")]
    doings += [(INPUT, row) for row in _input(run)]
    found: dict[str, list[tuple[int, int]]] = {}
    for name, row in doings:
        found.setdefault(name, []).append((row["start_ns"], row["start_ns"] + row["dur_ns"]))
    shared = {name: Stretches.of(stretches).shared_ns(whole) for name, stretches in found.items()}
    filling = [name for name in shared if shared[name] >= _MOST_OF * whole.ns]
    # What goes on in the wait for a batch says more than that one was waited for.
    return max(filling, key=lambda name: (name != INPUT, shared[name]), default=None)


def _input(run: Run) -> list[dict[str, int]]:
    """The waits of a run's train steps for their batches, each of which ends where its step begins."""
    table = run.table("steps", ("loop", "start_ns", "input_ns"))
    rows = steps_of(table, Loop.TRAIN).to_pylist()
    return [
        {"start_ns": row["start_ns"] - row["input_ns"], "dur_ns": row["input_ns"]} for row in rows if row["input_ns"]
    ]


def _by_name(stand: Stand | None) -> str | None:
    """What a function does by its name, where no hook saw it."""
    words = _WORD.findall(stand.function) if stand is not None else []
    return next((_BY_WORD[word] for word in map(str.lower, words) if word in _BY_WORD), None)


def own_line(case: RankCase, rank: int) -> Stand | None:
    """The line that takes most of what a rank does by itself beyond the fastest other one; None: nothing tells."""
    steps = case.summary.stretches
    known = {other: one for other, one in steps.items() if len(one.begin)}
    if rank not in known or len(known) < 2:
        return None
    fast = min((other for other in known if other != rank), key=lambda other: float(np.median(known[other].own)))
    slow, other = (
        rank_stands.stood(case.run(one), [(int(known[one].begin[0]), int(known[one].end[-1]))]) for one in (rank, fast)
    )
    found = rank_stands.more(slow, other)
    if found is None or found.share < _LEAST_MORE or found.stand.ns < _MOST_OF * found.share * found.stand.of_ns:
        return None
    return found.stand


def slow_host(case: RankCase) -> Found:
    """All ranks of one machine do more themselves than those of the others."""
    summary = case.summary
    hosts: dict[str, list[RankTimes]] = {}
    for one in summary.ranks:
        hosts.setdefault(one.host, []).append(one)
    own = {one.rank: one.own_ns for one in summary.ranks}
    known = {rank: value for rank, value in own.items() if value is not None}
    if len(hosts) < 2 or len(known) < len(own) or summary.median_ns is None:
        return
    slow = max(hosts, key=lambda host: median(known[one.rank] for one in hosts[host]))
    if len(hosts[slow]) < 2:
        return  # a rank that is alone on its machine is a straggler: nothing tells it from its machine
    others = median(known[one.rank] for host, of_host in hosts.items() if host != slow for one in of_host)
    least = min(known[one.rank] for one in hosts[slow])
    excess = int(median(known[one.rank] for one in hosts[slow]) - others)
    if excess < ranks.LEAST_SHARE * summary.median_ns or least < others + excess / 2:
        return
    steps = min(one.steps for one in summary.ranks)
    text = (
        f"The {len(hosts[slow])} ranks of {slow} all take longer of their own than those of the other machines, "
        f"{duration(excess)} a step:"
    )
    todo = advice("slow-host", MACHINE, host=slow)
    line = case.loop_line(hosts[slow][0].rank)
    yield (
        case.finding("slow-host", Sentence(text, ", if it were as fast as they."), excess * steps, todo, line),
        STEPS,
    )


def fewer_cores(case: RankCase, rank: int) -> tuple[int, int] | None:
    """Cores of a rank and the least that another has, where that is more; None: it has as many, or nothing tells."""
    cores = {member.rank: _cores(member.run) for member in case.ranked.members}
    own = cores.get(rank)
    others = [count for other, count in cores.items() if other != rank]
    if own is None or not others or any(count is None for count in others):
        return None
    least = min(count for count in others if count is not None)
    return (own, least) if own < least else None


def _cores(run: Run) -> int | None:
    """Cores that a rank may use: as it was when its training began, else when it was started."""
    told = run.manifest.data_parallel
    return run.manifest.machine.at_once(told.cores if told is not None else None)


def of_buffers(case: RankCase) -> Buffers | None:
    """What DistributedDataParallel broadcasts before a forward pass; None: nothing, or it is not known of all ranks."""
    sent = []
    for member in case.ranked.members:
        rows = member.run.chosen("collectives", "kind", (BUFFERS,))
        if not rows:
            return None
        sent.append((int(median(row["blocked_ns"] for row in rows)), max(row["bytes"] or 0 for row in rows)))
    told = next((one for member in case.ranked.members if (one := member.run.manifest.data_parallel)), None)
    line = (told.file, told.line) if told is not None and told.file and told.line else None
    return Buffers(min(ns for ns, _ in sent), max(size for _, size in sent), line) if sent else None


def of_buckets(case: RankCase) -> tuple[int, int, SourceLine | None] | None:
    """(buckets, bytes of all, line) where gradients are given away in many small parts; None: they are not."""
    told = [one.run.manifest.data_parallel for one in case.ranked.members]
    first = next((one for one in told if one is not None and one.buckets and one.bytes), None)
    if first is None or not first.buckets or not first.bytes:
        return None
    if first.buckets < MANY_PARTS or first.bytes / first.buckets >= SMALL_BYTES:
        return None
    return first.buckets, first.bytes, (first.file, first.line) if first.file and first.line else None
