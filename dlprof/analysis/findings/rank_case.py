"""What rules about the ranks of a training look at, and the queries that show what they say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from dlprof.analysis.findings.confidence import PRIORS
from dlprof.analysis.findings.finding import AtStake, Finding, Query, Sentence, SourceLine
from dlprof.analysis.findings.title import Title
from dlprof.analysis.ranks import RanksSummary
from dlprof.schema.vocabulary import Basis, Ground, SpanKind, Whole
from dlprof.store.ranked import Member, RankedRun
from dlprof.store.run import Run

T = TypeVar("T")
TITLES = {
    "rank-hung": Title("A rank stands still for good, and all others wait for it"),
    "rank-failed": Title("A rank did not end as it should"),
    "lone-work": Title("One rank works alone while all others stand still", "waiting for what one rank does alone"),
    "unbalanced-input": Title("One rank waits for its input, and all others for it", "waiting for one rank's input"),
    "uneven-batches": Title("One rank has larger batches than the others", "waiting for the rank with larger batches"),
    "slow-host": Title("One rank has less to compute with than the others", "waiting for the rank with fewer cores"),
    "straggler": Title("One rank is slower than the others", "waiting for one slow rank"),
    "small-buckets": Title("Gradients are given away in many small parts", "moving gradients in small parts"),
    "rank-contention": Title("The ranks take each other's cores", "ranks that wait for a core"),
    "host-contention": Title("Other programs took the ranks' cores", "other programs on the machine of the ranks"),
    "collective-bound": Title("The steps wait for collectives", "moving data between ranks"),
}
SLUGS = tuple(TITLES)
STEPS = Query(
    "steps of each rank, and its wait for a batch before each",
    "SELECT rank, count(*) AS steps, median(dur_ns + input_ns) AS step_ns, median(input_ns) AS input_ns "
    "FROM steps WHERE loop = 'train' GROUP BY rank ORDER BY rank",
)
COLLECTIVES = Query(
    "how long each rank stood still in collectives",
    "SELECT rank, kind, count(*) AS count, median(blocked_ns) AS blocked_ns, max(bytes) AS bytes "
    "FROM collectives GROUP BY rank, kind ORDER BY sum(blocked_ns) DESC",
)
LOADERS = Query(
    "loaders of each rank",
    "SELECT DISTINCT rank, dataset, batch_size, workers, file, line FROM loaders ORDER BY rank",
)
FIRST_BATCHES = Query(
    "what the first batches and steps of each rank's training told",
    "SELECT rank, json_extract(detail, '$.padding.batches') AS batches, "
    "CAST(json_extract(detail, '$.padding.length') AS DOUBLE) AS length, "
    "json_extract(detail, '$.saved_floats') AS saved_floats_bytes "
    "FROM spans WHERE kind IN ('fit', 'on_batch') AND detail IS NOT NULL ORDER BY rank",
)
COMPILED = Query(
    "functions that each rank compiled, with the shapes of their arguments",
    "SELECT rank, name, detail FROM spans WHERE kind = 'graph_compile' AND detail LIKE '%arguments%' "
    "ORDER BY name, rank",
)
CORES = Query(
    "time of each rank's threads on a core, and without one though they could run",
    "SELECT rank, max(run_ns) AS run_ns, max(wait_ns) AS wait_ns, max(main_wait_ns) AS main_wait_ns "
    "FROM process_samples WHERE rank >= 0 GROUP BY rank ORDER BY rank",
)
MACHINE = Query(
    "use of the machine over the whole run, in % of one core, and that of all but a rank itself, as each rank saw it",
    "SELECT rank, avg(cpu_pct) AS cpu_pct, avg(others_cpu_pct) AS others_cpu_pct FROM machine "
    "WHERE rank >= 0 GROUP BY rank ORDER BY rank",
)


class RankCase:
    """What rules look at.

    Attributes:
        ranked, summary: The run, and its figures.
        whole_ns: Wall time of the rank that took longest (ns).
    """

    def __init__(self, ranked: RankedRun, summary: RanksSummary) -> None:
        self.ranked = ranked
        self.summary = summary
        self.whole_ns = max(1, *(one.run.wall_ns or 0 for one in ranked.members), 1)

    def member(self, rank: int) -> Member:
        """A rank."""
        return next(one for one in self.ranked.members if one.rank == rank)

    def run(self, rank: int) -> Run:
        """The run of a rank."""
        return self.member(rank).run

    def of_each(self, look: Callable[[Run], T | None]) -> list[T]:
        """What `look` finds in the run of each rank; none where it finds nothing (None) in one of them."""
        found = [one for member in self.ranked.members if (one := look(member.run)) is not None]
        return found if len(found) == len(self.ranked.members) else []

    def loop_line(self, rank: int) -> SourceLine | None:
        """The line of the training loop in which a rank spent most."""
        rows = [row for row in self.run(rank).chosen("spans", "kind", (SpanKind.FIT,)) if row["file"] and row["line"]]
        if not rows:
            return None
        longest = max(rows, key=lambda row: row["dur_ns"])
        return longest["file"], longest["line"]

    def finding(
        self, slug: str, sentence: Sentence, ns: int, next_step: str, line: SourceLine | None, **more: Any
    ) -> Finding:
        """A finding of so much time; what is told by a model, or by when steps begin, is less sure."""
        basis = more.pop("basis", Basis.MEASURED)
        ground = Ground.MODEL if basis == Basis.ESTIMATED else Ground.STATED
        at_stake = AtStake(max(0, min(ns, self.whole_ns)), self.whole_ns, Whole.WALL)
        file, number = line or (None, None)
        return Finding(
            slug=slug,
            claim=sentence.tell(at_stake),
            at_stake_ns=at_stake.ns,
            share=at_stake.share,
            interval_ns=None,
            basis=basis,
            file=file,
            line=number,
            evidence=(),
            next_step=next_step,
            title=TITLES[slug],
            ground=ground,
            confidence=PRIORS[ground],
            **more,
        )


def longest_line(run: Run, text: str) -> SourceLine | None:
    """Of the lines of a rank that hold a text the one that took longest; None: there is none."""
    rows = [row for row in run.rows("lines") if text in (row["source"] or "")]
    most = max(rows, key=lambda row: row["time_ns"] or 0, default=None)
    return (most["file"], most["line"]) if most is not None else None
