"""What the report of ranks says first: what they lose to each other; where that is little, what one loses by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlprof.analysis import rank_contention
from dlprof.analysis.findings import diagnose, of_ranks
from dlprof.analysis.ranks import RanksSummary
from dlprof.report import cause_list, finding_words
from dlprof.report.model import Cause
from dlprof.store.ranked import Member, RankedRun

_LITTLE = 0.1
"""Share of the wall time."""


@dataclass(frozen=True)
class RanksCauses:
    """The causes of a run of ranks.

    Attributes:
        together: What the ranks lose to each other.
        alone: What one of them loses by itself; empty where `together` tells more than a little.
        rank: That one.
    """

    together: Sequence[Cause]
    alone: Sequence[Cause]
    rank: int


def shown(ranked: RankedRun, summary: RanksSummary) -> Member:
    """The rank that stands for all: the one that the others wait for, else the first that there is."""
    slow = summary.straggler.rank if summary.straggler is not None else None
    return next((one for one in ranked.members if one.rank == slow), ranked.members[0])


def of_run(ranked: RankedRun, summary: RanksSummary) -> RanksCauses | None:
    """The causes, as far as they are found within the time that who waits for a report has; None: there is no rank.

    Args:
        ranked: The run.
        summary: Its figures.
    """
    if not ranked.members:
        return None
    member = shown(ranked, summary)
    together = cause_list.of(of_ranks.look(ranked, summary))
    if sum(one.share for one in together) >= _LITTLE or any(one.failed for one in summary.ranks):
        return RanksCauses(together, (), member.rank)
    found = diagnose.brief(member.run)
    alone = cause_list.of(found) if found is not None else ()
    told = {finding_words.OWN}
    if rank_contention.of_ranks(ranked.members).fills or any(one.slug == "host-contention" for one in together):
        told.add("cpu-contention")  # a rank alone cannot tell ranks from other programs: all together judged that
    return RanksCauses(together, [one for one in alone if one.slug not in told], member.rank)
