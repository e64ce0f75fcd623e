"""The page of a run of ranks, and that of two of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import structs

from dlprof.analysis.findings.finding import Diagnosis
from dlprof.analysis.rank_pairs import RanksComparison
from dlprof.analysis.ranks import RanksSummary
from dlprof.report import diagnosis_json, rank_pairs_json, rank_pairs_words, ranks_json, ranks_words
from dlprof.report.html import contents, page, rank_heat
from dlprof.report.html.pack import Pack
from dlprof.report.html.rank_heat import Heat
from dlprof.report.html.rank_timelines import RankTimelines
from dlprof.report.ranks_json import RankReport, RanksReport
from dlprof.store.ranked import RankedRun

MOST_TIMELINES = 8
"""Ranks whose timelines a page draws, at most."""
_TIMELINES = 4
"""The same where the user names none."""
_ROWS = 2000
"""Ranks that the table has, and the JSON that the page carries."""
_DEVICES = 500


def make(ranked: RankedRun, summary: RanksSummary, diagnosis: Diagnosis, wanted: Sequence[int] = ()) -> str:
    """The page of a run of ranks.

    Args:
        ranked: The run.
        summary: Its figures.
        diagnosis: What its ranks lose to each other.
        wanted: Ranks whose timelines are drawn, of those that there are; empty: those that tell most.
    """
    report = ranks_json.as_json(ranked, summary)
    shown = rank_heat.chosen(summary, wanted, MOST_TIMELINES if wanted else _TIMELINES)
    members = [one for one in ranked.members if one.rank in shown]
    lines = RankTimelines(members, summary.clock)
    heat = rank_heat.of_summary(summary)
    findings = diagnosis_json.as_json(diagnosis, [ranked.name], None)
    rows = _rows(report)

    def data(pack: Pack) -> dict[str, Any]:
        return {
            "kind": "ranks",
            "heats": [_heat(heat, pack, lines, summary)] if heat is not None else [],
            "ranks": [_bars(one) for one in rows],
        }

    return page.drawn(
        "ranks.html",
        data,
        [lines.drawing],
        holds=contents.private([one.run for one in members[:1]], sources=False),
        title=f"{len(summary.ranks)} ranks of {ranks_words.command(ranked)}",
        report=report,
        typed=ranked.typed,
        where=ranks_words.where(ranked, summary),
        lines={line.label: line for line in ranks_words.lines(ranked, summary)},
        wall_ns=ranks_words.wall_ns(ranked),
        summary=summary,
        diagnosis=findings,
        heat=heat,
        most_rows=rank_heat.MOST_ROWS,
        rows=rows,
        devices=report.devices[:_DEVICES],
        shown=[one.rank for one in members],
        followed=ranked.program is not None,
        machine=_machine(report, rows, {"diagnosis.json": findings}),
    )


def make_pair(compared: RanksComparison) -> str:
    """The page of two runs of ranks.

    Args:
        compared: What they tell of each other.
    """
    sides = (compared.a, compared.b)
    heats = [rank_heat.of_summary(side.summary) for side in sides]
    report = rank_pairs_json.as_json(compared)
    rows = report.ranks[:_ROWS]

    def data(pack: Pack) -> dict[str, Any]:
        return {
            "kind": "ranks",
            "heats": [None if heat is None else rank_heat.packed(heat, pack, {}) for heat in heats],
            "pairs": [{"rank": one.rank, "a_ns": one.a_ns, "b_ns": one.b_ns} for one in rows],
            "labels": [side.label for side in sides],
        }

    return page.drawn(
        "compare_ranks.html",
        data,
        [],
        holds=contents.private([one.run for side in sides for one in side.ranked.members[:1]], sources=False),
        title=f"{report.a.label} against {report.b.label}",
        report=report,
        verdict=rank_pairs_words.verdict(compared),
        stragglers=[ranks_words.straggler(side.summary) for side in sides],
        where=[ranks_words.where(side.ranked, side.summary) for side in sides],
        typed=[side.ranked.typed for side in sides],
        has_heat=[heat is not None for heat in heats],
        rows=rows,
        names=rank_pairs_words.PARTS,
        machine={
            "compare.json": structs.replace(report, ranks=rows),
            **({"left_out": {"ranks": len(report.ranks) - len(rows)}} if len(report.ranks) > len(rows) else {}),
        },
    )


def _heat(heat: Heat, pack: Pack, lines: RankTimelines, summary: RanksSummary) -> dict[str, Any]:
    drawn = {}
    for rank, steps in heat.steps.items():
        begin, end = lines.on_axis(rank, steps.begin), lines.on_axis(rank, steps.end)
        if begin is not None and end is not None:
            drawn[rank] = begin, end
    slow = summary.straggler.rank if summary.straggler is not None else None
    return {**rank_heat.packed(heat, pack, drawn), "straggler": slow}


def _rows(report: RanksReport) -> Sequence[RankReport]:
    """The ranks by their number; of more than fit those whose steps take longest, and those that ended badly."""
    if len(report.ranks) <= _ROWS:
        return report.ranks
    order = sorted(report.ranks, key=lambda one: (one.ended == "exit code 0", -(one.median_ns or 0)))
    return sorted(order[:_ROWS], key=lambda one: one.rank)


def _bars(one: RankReport) -> dict[str, Any]:
    """A rank's median step by its parts (ns)."""
    parts = (one.input_ns, one.collective_wait_ns, one.collective_transfer_ns)
    rest = None if one.median_ns is None else max(0, one.median_ns - sum(part or 0 for part in parts))
    return {"rank": one.rank, "work": rest, **dict(zip(("input", "wait", "transfer"), parts, strict=True))}


def _machine(report: RanksReport, rows: Sequence[RankReport], more: Mapping[str, Any]) -> dict[str, Any]:
    """What the page carries for programs; ranks that it has no room for are counted."""
    left_out = len(report.ranks) - len(rows)
    return {
        "ranks.json": structs.replace(report, ranks=tuple(rows), devices=report.devices[:_DEVICES]),
        **more,
        **({"left_out": {"ranks": left_out}} if left_out else {}),
    }
