"""Two runs of ranks on a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

from rich.text import Text

from dlprof.analysis.rank_pairs import RankPair, RanksComparison, RanksSide
from dlprof.report import rank_pairs_words, ranks_words
from dlprof.report.console import Page, make_page
from dlprof.report.gap_words import signed
from dlprof.units import duration, safe

_LABEL = 11


def print_comparison(compared: RanksComparison, *, file: TextIO, top: int, plain: bool = False) -> None:
    """Print what two runs of ranks tell of each other.

    Args:
        compared: What they tell.
        file: The stream that it is printed to.
        top: Ranks that are listed, those that differ most.
        plain: No colour, only ASCII.
    """
    page = make_page(file, plain=plain, typed=compared.a.ranked.typed)
    for name, side in (("A", compared.a), ("B", compared.b)):
        page.line(
            Text(f"{name}  ", style="dim")
            + Text(safe(side.label), style="bold")
            + Text(f"  {safe(ranks_words.where(side.ranked, side.summary))}", style="dim")
        )
    for label, text, style in _lines(compared):
        for line in page.wrapped(Text(safe(text), style=style), f"{label:<{_LABEL}}", most=4):
            page.line(line)
    _parts(page, compared)
    _ranks(page, compared, top)


def _lines(compared: RanksComparison) -> Iterator[tuple[str, str, str]]:
    """Label, text and style of each."""
    sides = (("A", compared.a), ("B", compared.b))
    yield "Step", rank_pairs_words.verdict(compared), ""
    for name, side in sides:
        yield f"In {name}", f"straggler {ranks_words.straggler(side.summary)}", ""
    if compared.why_not:
        yield "Not alike", f"not comparable, because {'; '.join(compared.why_not)}", "yellow"
    if compared.differences:
        yield "Differs", "; ".join(compared.differences), ""
    rank = _telling(compared)
    if rank is not None:
        own = " ".join(f"{side.ranked.typed}/{_folder(side, rank)}" for _, side in sides)
        yield "Next", f"dlprof compare {own}   dlprof view {' '.join(side.ranked.typed for _, side in sides)}", "dim"


def _telling(compared: RanksComparison) -> int | None:
    """The rank that is worth a look in both runs; None: they have none in common."""
    if compared.most_changed is not None:
        return compared.most_changed.rank
    return next((one.rank for one in compared.ranks if one.a_ns is not None and one.b_ns is not None), None)


def _folder(side: RanksSide, rank: int) -> str:
    return next(side.ranked.path_of(one) for one in side.ranked.members if one.rank == rank)


def _parts(page: Page, compared: RanksComparison) -> None:
    if not compared.parts:
        return
    page.title("A train step", "mean over the ranks of their medians; A - B")
    table = page.table(("part", "left"), ("A", "right"), ("B", "right"), ("A - B", "right"))
    for part in compared.parts:
        name = rank_pairs_words.PARTS[part.name]
        table.add_row(name, duration(part.a_ns), duration(part.b_ns), signed(part.delta_ns))
    table.add_row("step", duration(compared.a_step_ns), duration(compared.b_step_ns), signed(compared.delta_ns or 0))
    page.show(table)


def _ranks(page: Page, compared: RanksComparison, top: int) -> None:
    shown = sorted(sorted(compared.ranks, key=_least_alike)[:top], key=lambda one: one.rank)
    if not shown:
        return
    left = f"; the {len(shown)} that differ most of {len(compared.ranks)}" if len(shown) < len(compared.ranks) else ""
    page.title(
        "Ranks", f"median train step, and of it own work: all but standing still in collectives; -: not known{left}"
    )
    names = ("rank", "A", "B", "A - B", "own A", "own B", "own A - B", "input A", "input B")
    table = page.table(*[(name, "right") for name in names])
    for one in shown:
        table.add_row(
            str(one.rank),
            duration(one.a_ns),
            duration(one.b_ns),
            _signed(one.delta_ns),
            duration(one.a_own_ns),
            duration(one.b_own_ns),
            _signed(one.own_delta_ns),
            duration(one.a_input_ns),
            duration(one.b_input_ns),
        )
    page.show(table)


def _signed(value: int | None) -> str:
    return "-" if value is None else signed(value)


def _least_alike(one: RankPair) -> int:
    """Ranks in order of how much they differ; those that only one run has come first."""
    differ = one.own_delta_ns if one.own_delta_ns is not None else one.delta_ns
    return -(1 << 62) if differ is None else -abs(differ)
