"""Why the ranks of one training lose time to each other: who is waited for, and for what; no rank alone can tell."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from statistics import mean, median

from dlprof.analysis import rank_batches
from dlprof.analysis.doubts import OTHERS_PCT
from dlprof.analysis.findings import diagnose, many_collectives, rank_advice, rank_events, repeated_reductions
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import (
    Abstain,
    Abstention,
    Diagnosis,
    Evidence,
    Finding,
    Query,
    Rank,
    Sentence,
    SourceLine,
    Statement,
)
from dlprof.analysis.findings.rank_advice import advice
from dlprof.analysis.findings.rank_case import (
    COLLECTIVES,
    COMPILED,
    CORES,
    FIRST_BATCHES,
    LOADERS,
    MACHINE,
    STEPS,
    TITLES,
    RankCase,
)
from dlprof.analysis.rank_contention import Contention, of_others, of_ranks
from dlprof.analysis.ranks import RanksSummary, RankTimes, Straggler
from dlprof.errors import DlprofError
from dlprof.schema.vocabulary import Basis, Whole
from dlprof.store import ranked_query
from dlprof.store.ranked import RankedRun
from dlprof.store.run import Run
from dlprof.units import duration, size

LEAST_SHARE = diagnose.LEAST_SHARE
_UNEVEN = 1.05
"""From so many times the rows of the others on a batch is larger."""
_UNEVEN_SEEN = 1.2
"""The same of what the first few batches are alone: their lengths differ by chance, too."""
_MORE_THAN_ROWS = 1.5
"""Up to so many times what the rows alone would take is theirs."""
_CONTENDED = 0.10
"""From this share of its time on a main thread that finds no core says something."""
_OTHERS = OTHERS_PCT / 100
"""Cores; less is what goes on beside any training."""
SLUGS = tuple(TITLES)


def look(ranked: RankedRun, summary: RanksSummary) -> Diagnosis:
    """The causes that only the ranks together show, each with the time of the training that it costs.

    Args:
        ranked: The run.
        summary: Its figures.
    """
    case = RankCase(ranked, summary)
    found: list[tuple[Finding, Query]] = []
    abstained: list[Abstention] = []
    for slugs, rule in _RULES.items():
        try:
            found.extend(rule(case))
        except Abstain as why:
            abstained.extend(Abstention(slug, str(why)) for slug in slugs)
    told = [one for one in found if one[0].rank is not Rank.BY_TIME or one[0].share >= LEAST_SHARE]
    told.sort(key=lambda one: (one[0].rank, -one[0].at_stake_ns))
    findings = tuple(replace(finding, evidence=(_shown(ranked, query),)) for finding, query in told)
    return Diagnosis(findings, tuple(abstained), case.whole_ns, Whole.WALL)


def _failed(case: RankCase) -> Iterator[tuple[Finding, Query]]:
    """The rank that hung; else of those that ended badly the first: its launcher ends the others then."""
    bad = [one for one in case.summary.ranks if one.failed]
    if not bad:
        return
    hung = list(rank_events.hung(case))
    if hung:
        yield from hung
        return
    known = case.summary.first_failed
    first = case.summary.of(known) if known is not None else bad[0]
    when = "later" if known is not None else "and which did so first is not known"
    others = f"; {len(bad) - 1} more ended badly, {when}" if len(bad) > 1 else ""
    raised, least = f"raised {first.error} and " if first.error else "", "at least " if first.steps_cut else ""
    text = f"Rank {first.rank} {raised}ended with {first.ended} after {least}{first.steps} train steps{others}."
    is_left = _is_left_alone(case, first)
    if is_left:
        text += (
            " All others ended well: either it failed in what it does alone at the end, or it had more batches than "
            "they, and waited for ranks that come no more."
        )
    finding = case.finding(
        "rank-failed",
        Statement(text, ""),
        0,
        advice("rank-failed", rank_advice.MORE_BATCHES if is_left else "", run=f"{case.ranked.typed}/{first.run}"),
        (first.error_file, first.error_line) if first.error_file and first.error_line else None,
        rank=Rank.ENDED_THE_RUN,
    )
    yield finding, STEPS


def _is_left_alone(case: RankCase, failed: RankTimes) -> bool:
    """Whether all others ended well, in as many steps, and this one raised: who dies in the midst takes them along."""
    if failed.ended != "exit code 1":  # what Python ends with that raised; a signal has other causes
        return False
    others = [one for one in case.summary.ranks if one.rank != failed.rank]
    return bool(others) and all(one.ended == "exit code 0" and one.steps <= failed.steps for one in others)


def _straggler(case: RankCase) -> Iterator[tuple[Finding, Query]]:
    of_host = list(rank_events.slow_host(case))
    if of_host:
        yield from of_host
        return
    slow = case.summary.straggler
    if slow is None:
        if case.summary.median_ns is None:
            raise Abstain("how long a step takes is not known of any rank")
        return
    steps = min((one.steps for one in case.summary.ranks), default=0)
    where = f"Rank {slow.rank} takes {duration(slow.excess_ns)} of its own a step longer than the others"
    last = "" if slow.last_share is None else f", and comes last to {100 * slow.last_share:.0f} % of the collectives"
    larger = _larger_batch(case, slow)
    slug, of, why, line, query = "straggler", slow.part, "", case.loop_line(slow.rank), COLLECTIVES
    if larger is None and slow.part == "input":
        slug, of, why, query = "unbalanced-input", "", f" ({duration(slow.part_ns)} of it waiting for its input)", STEPS
        line = _input_line(case.run(slow.rank)) or line
    elif larger is not None:
        slug, of, why, query = "uneven-batches", larger.of, larger.told, larger.query
        line = larger.line or line
    elif (cores := rank_events.fewer_cores(case, slow.rank)) is not None:
        slug, of, query = "slow-host", rank_advice.CORES, CORES
        why = f" (it may use {cores[0]} core{'s' if cores[0] > 1 else ''}, the others {cores[1]})"
    if slug == "straggler" and (more := rank_events.own_line(case, slow.rank)) is not None:
        why, line = f" (most of it in {more.place})", (more.file, more.line)
    sentence = Sentence(f"{where}{why}{last}:", ", if it were as fast as they.")
    yield case.finding(slug, sentence, slow.excess_ns * steps, advice(slug, of), line), query


@dataclass(frozen=True)
class _Larger:
    """How it is known that a rank has larger batches, as a clause; the line that is about it; what the advice is by."""

    told: str
    query: Query
    line: SourceLine | None
    of: str = ""


def _larger_batch(case: RankCase, slow: Straggler) -> _Larger | None:
    """The slow rank's batches, where they are larger than the others'."""
    summary = case.summary
    own = summary.of(slow.rank).batch
    others = [one.batch for one in summary.ranks if one.rank != slow.rank]
    if own is None or not others or any(one is None for one in others):
        return _as_compiled(case, slow) or _as_seen(case, slow)
    usual = int(median(one for one in others if one is not None))
    if not _is_cause(summary, slow, own / usual, _UNEVEN):
        return _as_seen(case, slow)
    line = _loader_line(case.run(slow.rank))
    return _Larger(f" (its batches have {own} rows, the others' {usual})", LOADERS, line)


def _as_compiled(case: RankCase, slow: Straggler) -> _Larger | None:
    """By what functions were compiled for."""
    found = rank_batches.larger_argument(case.ranked.members, slow.rank)
    if found is None or not _is_cause(case.summary, slow, found.own / found.usual, _UNEVEN):
        return None
    text = f" ({found.function}() is compiled for {found.argument} of {found.own} rows there, of {found.usual} in "
    return _Larger(f"{text}the others)", COMPILED, found.line)


def _as_seen(case: RankCase, slow: Straggler) -> _Larger | None:
    """By the first batches: how long their rows are, or what their steps keep for the way back."""
    members = case.ranked.members
    longer = rank_batches.longer_rows(members, slow.rank)
    if longer is not None and _is_cause(case.summary, slow, longer.times, _UNEVEN_SEEN):
        text = (
            f" (rows of its first batches have {longer.own:.0f} numbers, of the others' {longer.usual:.0f}, on average)"
        )
        return _Larger(text, FIRST_BATCHES, None, rank_advice.LONGER)
    more = rank_batches.more_kept(members, slow.rank)
    if more is not None and _is_cause(case.summary, slow, more.times, _UNEVEN_SEEN):
        text = f" (its first steps keep {size(more.own)} for their way back, the others' {size(more.usual)})"
        return _Larger(text, FIRST_BATCHES, None, rank_advice.LONGER)
    return None


def _is_cause(summary: RanksSummary, slow: Straggler, times: float, least: float) -> bool:
    return times >= least and _grew_like(summary, slow, times)


def _grew_like(summary: RanksSummary, slow: Straggler, rows: float) -> bool:
    """Whether what the slow rank does itself is as much more as its rows are, or less: else they do not explain it."""
    own = summary.of(slow.rank).own_ns
    others = [one.own_ns for one in summary.ranks if one.rank != slow.rank and one.own_ns is not None]
    return own is None or not others or own <= _MORE_THAN_ROWS * rows * max(1, median(others))


def _input_line(run: Run) -> SourceLine | None:
    """The line in which a rank makes its batches, as it was sampled; else that of its own finding, or its loader."""
    with contextlib.suppress(Abstain, DlprofError):
        line = Case(run).input.item_line
        if line is not None:
            return line
    own = diagnose.brief(run)
    for finding in own.findings if own is not None else ():
        if finding.slug == "input-bound" and finding.file and finding.line:
            return finding.file, finding.line
    return _loader_line(run)


def _loader_line(run: Run) -> SourceLine | None:
    rows = [row for row in run.rows("loaders") if row["file"] and row["line"]]
    if not rows:
        return None
    most = max(rows, key=lambda row: row["item_count"] or 0)
    return most["file"], most["line"]


def _contention(case: RankCase) -> Iterator[tuple[Finding, Query]]:
    """Ranks of a machine that have no core for their main threads: they take each other's, or other programs do."""
    found: Contention = of_ranks(case.ranked.members)
    if len(found.main_wait_ns) < 2:
        raise Abstain("how long threads waited for a core was not sampled in two ranks of one machine")
    waits = list(found.main_wait_ns.values())
    share = mean(wait / max(1, found.wall_ns[rank]) for rank, wait in found.main_wait_ns.items())
    if share < _CONTENDED:
        return
    lost = int(mean(waits))
    if found.fills and found.runnable > found.cores:
        text = (
            f"On average {found.runnable:.1f} threads of {len(waits)} ranks could run on {found.cores} cores, so that "
            "the main threads of the ranks stood without one:"
        )
        todo = advice("rank-contention", threads=max(1, found.cores // len(waits)))
        yield case.finding("rank-contention", Sentence(text), lost, todo, None, basis=Basis.ESTIMATED), CORES
        return
    others = None if found.fills else of_others(case.ranked)
    if others is not None and others >= _OTHERS:
        text = (
            f"Other programs used {others:.1f} of {found.cores} cores while {len(waits)} ranks trained, whose "
            "main threads stood without one:"
        )
        todo = advice("host-contention")
        yield case.finding("host-contention", Sentence(text), lost, todo, None, basis=Basis.ESTIMATED), MACHINE


def _collectives(case: RankCase) -> Iterator[tuple[Finding, Query]]:
    """Data that is moved while nothing is computed."""
    known: list[RankTimes] = [one for one in case.summary.ranks if one.collective_transfer_ns is not None]
    if not known:
        raise Abstain(case.summary.waits_unknown or "no plain steps with collectives were seen")
    transfer = median(one.collective_transfer_ns or 0 for one in known)
    steps = min(one.steps for one in known)
    text = (
        f"When all ranks have come to its collectives a step stands still for {duration(int(transfer))} until they "
        f"are over, {100 * transfer / max(1, case.summary.median_ns or 1):.0f} % of it:"
    )
    repeated = repeated_reductions.of_ranks(case, steps)
    small = rank_events.of_buckets(case)
    if repeated is not None:
        slug, of, line = "collective-bound", rank_advice.REPEATED, repeated.line
        text = f"{size(repeated.bytes)} of gradients are reduced {repeated.times:.0f} times a step. {text}"
        transfer *= repeated.saved
    elif small is not None:
        count, of_bytes, of_small = small
        text = f"Gradients are given away in {count} parts of {size(of_bytes / count)} on average. {text}"
        slug, of, line = "small-buckets", "", of_small
    else:
        slug, of, line = "collective-bound", "", None
        many = many_collectives.of_ranks(case, steps)
        if many is not None and many.ns >= transfer / 2:
            of, line = rank_advice.MANY, many.line
            each = f" of {size(many.bytes_each)} on average" if many.bytes_each is not None else ""
            text = f"A step calls {many.kind} {many.per_step:.0f} times{each}. {text}"
        sent = rank_events.of_buffers(case)
        if sent is not None and sent.ns >= transfer / 2:
            of, line = rank_advice.BUFFERS, sent.line
            text = (
                f"{size(sent.bytes)} of buffers are broadcast before each forward pass, {duration(sent.ns)} each time. "
                f"{text}"
            )
    yield case.finding(slug, Sentence(text), int(transfer * steps), advice(slug, of), line), COLLECTIVES


_RULES: Mapping[tuple[str, ...], Callable[[RankCase], Iterator[tuple[Finding, Query]]]] = {
    ("rank-hung", "rank-failed"): _failed,
    ("lone-work",): rank_events.lone_work,
    ("straggler", "unbalanced-input", "uneven-batches", "slow-host"): _straggler,
    ("rank-contention", "host-contention"): _contention,
    ("collective-bound", "small-buckets"): _collectives,
}


def _shown(ranked: RankedRun, query: Query) -> Evidence:
    try:
        answer = ranked_query.ask(ranked, query.sql)
    except DlprofError as error:
        return Evidence(f"{query.shows} (the query failed: {error.message})", query.sql, ())
    rows = tuple(dict(zip(answer.columns, row, strict=True)) for row in answer.rows[:8])
    return Evidence(query.shows, query.sql, rows)
