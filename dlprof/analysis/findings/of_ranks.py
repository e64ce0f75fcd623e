"""Why the ranks of one training lose time to each other: who is waited for, and for what; no rank alone can tell."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from statistics import mean, median
from typing import Any

from dlprof.analysis.clocks import Placement
from dlprof.analysis.findings import diagnose
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import (
    Abstain,
    Abstention,
    AtStake,
    Diagnosis,
    Evidence,
    Finding,
    Query,
    Rank,
    Sentence,
    SourceLine,
    Statement,
)
from dlprof.analysis.findings.title import Title
from dlprof.analysis.rank_contention import Contention, of_ranks
from dlprof.analysis.ranks import RanksSummary, RankTimes, Straggler
from dlprof.errors import DlprofError
from dlprof.schema.vocabulary import Basis, Ground, SpanKind, Whole
from dlprof.store import ranked_query
from dlprof.store.ranked import RankedRun
from dlprof.store.run import Run
from dlprof.units import duration

LEAST_SHARE = diagnose.LEAST_SHARE
_UNEVEN = 1.05
"""From so many times the rows of the others on a batch is larger."""
_MORE_THAN_ROWS = 1.5
"""Up to so many times what the rows alone would take is theirs."""
_CONTENDED = 0.10
"""From this share of its time on a main thread that finds no core says something."""
_FILLED = 0.8
"""Ranks that have less than this share of the cores do not keep them from each other."""
_TITLES = {
    "rank-failed": Title("A rank did not end as it should"),
    "unbalanced-input": Title("One rank waits for its input, and all others for it", "waiting for one rank's input"),
    "uneven-batches": Title("One rank has larger batches than the others", "waiting for the rank with larger batches"),
    "straggler": Title("One rank is slower than the others", "waiting for one slow rank"),
    "rank-contention": Title("The ranks take each other's cores", "ranks that wait for a core"),
    "collective-bound": Title("The steps wait for collectives", "moving data between ranks"),
}
SLUGS = tuple(_TITLES)
_STEPS = Query(
    "steps of each rank, and its wait for a batch before each",
    "SELECT rank, count(*) AS steps, median(dur_ns + input_ns) AS step_ns, median(input_ns) AS input_ns "
    "FROM steps WHERE loop = 'train' GROUP BY rank ORDER BY rank",
)
_COLLECTIVES = Query(
    "how long each rank stood still in collectives",
    "SELECT rank, kind, count(*) AS count, median(blocked_ns) AS blocked_ns, max(bytes) AS bytes "
    "FROM collectives GROUP BY rank, kind ORDER BY sum(blocked_ns) DESC",
)
_LOADERS = Query(
    "loaders of each rank",
    "SELECT DISTINCT rank, dataset, batch_size, workers, file, line FROM loaders ORDER BY rank",
)
_CORES = Query(
    "time of each rank's threads on a core, and without one though they could run",
    "SELECT rank, max(run_ns) AS run_ns, max(wait_ns) AS wait_ns, max(main_wait_ns) AS main_wait_ns "
    "FROM process_samples WHERE rank >= 0 GROUP BY rank ORDER BY rank",
)
_ADVICE = {
    "input": "Give that rank as much, and as cheap, input as the others: the same storage, the same work per sample, "
    "as many workers.",
    "kernels": "Look at what it computes that the others do not: dlprof compare puts two ranks side by side.",
    "host": "Look at what its host does in the step that others do not: logging, saving, metrics of one rank alone.",
    "work": "Look at what it does in the step that others do not; dlprof compare puts two ranks side by side.",
}


def look(ranked: RankedRun, summary: RanksSummary) -> Diagnosis:
    """The causes that only the ranks together show, each with the time of the training that it costs.

    Args:
        ranked: The run.
        summary: Its figures.
    """
    case = _Case(ranked, summary)
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


class _Case:
    """What rules look at.

    Attributes:
        whole_ns: Wall time of the rank that took longest (ns).
    """

    def __init__(self, ranked: RankedRun, summary: RanksSummary) -> None:
        self.ranked = ranked
        self.summary = summary
        self.whole_ns = max(1, *(one.run.wall_ns or 0 for one in ranked.members), 1)

    def run(self, rank: int) -> Run:
        """The run of a rank."""
        return next(one.run for one in self.ranked.members if one.rank == rank)

    def finding(
        self, slug: str, sentence: Sentence, ns: int, next_step: str, line: SourceLine | None, **more: Any
    ) -> Finding:
        """A finding of so much time."""
        at_stake = AtStake(max(0, min(ns, self.whole_ns)), self.whole_ns, Whole.WALL)
        file, number = line or (None, None)
        return Finding(
            slug=slug,
            claim=sentence.tell(at_stake),
            at_stake_ns=at_stake.ns,
            share=at_stake.share,
            interval_ns=None,
            basis=more.pop("basis", Basis.MEASURED),
            file=file,
            line=number,
            evidence=(),
            next_step=next_step,
            title=_TITLES[slug],
            ground=Ground.STATED,
            **more,
        )


def _failed(case: _Case) -> Iterator[tuple[Finding, Query]]:
    """The rank that ended first of those that ended badly: its launcher ends the others then."""
    bad = [one for one in case.summary.ranks if one.failed]
    if not bad:
        return
    first = min(bad, key=lambda one: _end_ns(case.run(one.rank), case.summary.clock.placements.get(one.rank)))
    others = f"; {len(bad) - 1} more ended badly, later" if len(bad) > 1 else ""
    text = f"Rank {first.rank} ended with {first.ended} after {first.steps} train steps{others}."
    finding = case.finding(
        "rank-failed",
        Statement(text, ""),
        0,
        f"Its own run tells what it did last: dlprof report {case.ranked.typed}/{first.run}",
        None,
        rank=Rank.ENDED_THE_RUN,
    )
    yield finding, _STEPS


def _end_ns(run: Run, place: Placement | None) -> int:
    """When a rank ended, on one clock if there is one (ns); one whose end was not seen comes last."""
    if run.wall_ns is None:
        return 1 << 62
    zero = run.manifest.clock.origin_perf_ns if place is None else place.shift_ns
    return zero + run.wall_ns


def _straggler(case: _Case) -> Iterator[tuple[Finding, Query]]:
    slow = case.summary.straggler
    if slow is None:
        if case.summary.median_ns is None:
            raise Abstain("how long a step takes is not known of any rank")
        return
    times = case.summary.of(slow.rank)
    steps = min((one.steps for one in case.summary.ranks), default=0)
    where = f"Rank {slow.rank} takes {duration(slow.excess_ns)} of its own a step longer than the others"
    last = "" if slow.last_share is None else f", and comes last to {100 * slow.last_share:.0f} % of the collectives"
    larger = _larger_batch(case.summary, slow)
    slug, why, line, query = "straggler", "", _loop_line(case.run(slow.rank)), _COLLECTIVES
    advice = _ADVICE[slow.part]
    if larger is None and slow.part == "input":
        slug, why, query = "unbalanced-input", f" ({duration(slow.part_ns)} of it waiting for its input)", _STEPS
        line = _input_line(case.run(slow.rank))
    elif larger is not None:
        slug, query = "uneven-batches", _LOADERS
        why = f" (its batches have {times.batch} rows, the others' {larger})"
        line = _loader_line(case.run(slow.rank)) or line
        advice = "Give all ranks batches of the same size: the others wait for the largest in each step."
    sentence = Sentence(f"{where}{why}{last}:", ", if it were as fast as they.")
    yield case.finding(slug, sentence, slow.excess_ns * steps, advice, line), query


def _larger_batch(summary: RanksSummary, slow: Straggler) -> int | None:
    """Rows of the others' batches, where those of the slow rank are larger."""
    own = summary.of(slow.rank).batch
    others = [one.batch for one in summary.ranks if one.rank != slow.rank]
    if own is None or not others or any(one is None for one in others):
        return None
    usual = int(median(one for one in others if one is not None))
    return usual if own >= _UNEVEN * usual and _grew_like(summary, slow, own / usual) else None


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
    return _loader_line(run) or _loop_line(run)


def _loader_line(run: Run) -> SourceLine | None:
    rows = [row for row in run.rows("loaders") if row["file"] and row["line"]]
    if not rows:
        return None
    most = max(rows, key=lambda row: row["item_count"] or 0)
    return most["file"], most["line"]


def _loop_line(run: Run) -> SourceLine | None:
    """The line of the training loop in which a rank spent most."""
    rows = [row for row in run.chosen("spans", "kind", (SpanKind.FIT,)) if row["file"] and row["line"]]
    if not rows:
        return None
    longest = max(rows, key=lambda row: row["dur_ns"])
    return longest["file"], longest["line"]


def _contention(case: _Case) -> Iterator[tuple[Finding, Query]]:
    """Ranks of a machine that have no core for their main threads."""
    found: Contention = of_ranks(case.ranked.members)
    if len(found.main_wait_ns) < 2:
        raise Abstain("how long threads waited for a core was not sampled in two ranks of one machine")
    waits = list(found.main_wait_ns.values())
    share = mean(wait / max(1, found.wall_ns[rank]) for rank, wait in found.main_wait_ns.items())
    if share < _CONTENDED or found.runnable <= found.cores or found.running < _FILLED * found.cores:
        return  # else what took the cores were others
    text = (
        f"On average {found.runnable:.1f} threads of {len(waits)} ranks could run on {found.cores} cores, so that the "
        "main threads of the ranks stood without one:"
    )
    advice = (
        f"Give each rank its share of the cores: OMP_NUM_THREADS={max(1, found.cores // len(waits))}, fewer workers"
    )
    yield (
        case.finding(
            "rank-contention", Sentence(text), int(mean(waits)), f"{advice}, or fewer ranks.", None,
            basis=Basis.ESTIMATED,
        ),
        _CORES,
    )  # fmt: skip


def _collectives(case: _Case) -> Iterator[tuple[Finding, Query]]:
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
    advice = (
        "Compute more between two collectives (larger batches, accumulated gradients), or move less (gradients of 16 "
        "bits, fewer and larger buckets), or over a faster link."
    )
    yield case.finding("collective-bound", Sentence(text), int(transfer * steps), advice, None), _COLLECTIVES


_RULES: Mapping[tuple[str, ...], Callable[[_Case], Iterator[tuple[Finding, Query]]]] = {
    ("rank-failed",): _failed,
    ("straggler", "unbalanced-input", "uneven-batches"): _straggler,
    ("rank-contention",): _contention,
    ("collective-bound",): _collectives,
}


def _shown(ranked: RankedRun, query: Query) -> Evidence:
    try:
        answer = ranked_query.ask(ranked, query.sql)
    except DlprofError as error:
        return Evidence(f"{query.shows} (the query failed: {error.message})", query.sql, ())
    rows = tuple(dict(zip(answer.columns, row, strict=True)) for row in answer.rows[:8])
    return Evidence(query.shows, query.sql, rows)
