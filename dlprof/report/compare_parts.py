"""Memory and work of a comparison on a terminal: both sides beside each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dlprof.analysis import memory_pairs, work_pairs
from dlprof.analysis.compare import Comparison
from dlprof.analysis.memory_pairs import MemoryItem, MemorySide
from dlprof.analysis.work_pairs import WorkItem
from dlprof.report import pair_words, worth_a_row
from dlprof.report.console import Column, Page
from dlprof.report.roofline_table import scaled
from dlprof.schema.vocabulary import MemoryBasis, WorkCause
from dlprof.units import duration, safe, size

_PHASES = 6
_OTHER_WORK = (WorkCause.MORE_WORK, WorkCause.BOTH)


def memory(page: Page, comparison: Comparison, *, full: bool = False) -> None:
    """Peaks, phases and what holds it; nothing where no side tells any of it."""
    pair = memory_pairs.join(comparison.a, comparison.b)
    if not pair.is_known:
        return
    page.title("Memory", "resident, of the process and all below it; ~ an estimate from shapes")
    page.say(safe(pair_words.memory(pair)), indent=2)
    for name, side in (("A", pair.a), ("B", pair.b)):
        if side.peak_bytes is not None:
            page.say(safe(f"{name}: {_peak(side)}"), "dim", 2)
    if pair_words.are_alike(pair) and not full:
        page.say("peaks of phases, and what holds the memory: --full", "dim", 2)
        return
    largest = sorted(pair.phases, key=lambda item: -max(item.a_bytes or 0, item.b_bytes or 0))[
        : None if full else _PHASES
    ]
    _items(page, "peak of", [*largest, *pair.devices], pair_words.notes(pair))
    _items(page, "held for", pair.kinds, {item.name: "exact" for item in pair.kinds if _is_exact(item)})
    for name, side in (("A", pair.a), ("B", pair.b)):
        if "owners" in side.not_measured:
            page.say(safe(f"what holds it in {name}: not known, because {side.not_measured['owners']}"), "dim", 2)
        if side.growth_bytes_per_step is not None:
            page.say(safe(f"growth in {name}: {pair_words.growth(side)}"), "dim", 2)


def _peak(side: MemorySide) -> str:
    phase = f" in {side.phase}" if side.phase else ""
    place = f", at {side.file}:{side.line}" if side.file else ""
    between = ""
    if side.least_peak_bytes != side.most_peak_bytes:
        between = f", between {size(side.least_peak_bytes)} and {size(side.most_peak_bytes)} over the runs"
    return f"{size(side.peak_bytes)} at {duration(side.time_ns)}{phase}{place}{between}"


def _is_exact(item: MemoryItem) -> bool:
    return {item.a_how, item.b_how} - {None} == {MemoryBasis.EXACT}


def _items(page: Page, title: str, items: Sequence[MemoryItem], notes: Mapping[str, str]) -> None:
    if not items:
        return
    columns: list[Column] = [
        (title, "left"),
        ("A", "right"),
        ("B", "right"),
        (f"A {page.minus} B", "right"),
        ("", "left"),
    ]
    table = page.table(*columns)
    for item in items:
        of_both = pair_words.bytes_of(item.a_bytes, item.a_how), pair_words.bytes_of(item.b_bytes, item.b_how)
        table.add_row(safe(item.name), *of_both, pair_words.signed(item), notes.get(item.name, ""))
    page.show(table)


def work(page: Page, comparison: Comparison, *, full: bool = False) -> None:
    """What a step asks of each layer, and at which rate it was done; nothing where no side tells its layers.

    Layers that do the same work on both sides stand with their times in the table of kernels; in full here, too.
    """
    pair = work_pairs.join(comparison.a, comparison.b)
    if not pair.layers:
        return
    page.title(
        "Work of a training step", "by shapes, over the share of a step that kernels take; first run of each side"
    )
    page.say(safe(pair_words.work(pair)), indent=2)
    if pair.why_not is not None:
        return
    columns: list[Column] = [("layer", "left"), ("direction", "left")]
    columns += [(f"{side} {name}", "right") for name in ("work", "time", "rate") for side in "AB"]
    table = page.table(*columns, ("A | B bound by", "left"), ("why", "left"))
    by_difference = sorted(pair.layers, key=lambda item: -abs(_delta(item)))
    shown = [item for item in by_difference if full or item.cause in _OTHER_WORK]
    if not shown:
        page.say("no layer is more work on one side; work, time and rate of each: --full", "dim", 2)
        return
    for item in shown:
        table.add_row(safe(item.layer), item.direction, *_figures(item), _bound(item), pair_words.cause(item))
    page.show(table)
    if len(shown) < len(pair.layers):
        page.say(f"{worth_a_row.others(len(pair.layers) - len(shown))} of the same work: --full", "dim", 2)


def _delta(item: WorkItem) -> float:
    return (item.a_ns or 0.0) - (item.b_ns or 0.0)


def _figures(item: WorkItem) -> list[str]:
    return [
        scaled(item.a_flops, "FLOP"),
        scaled(item.b_flops, "FLOP"),
        duration(item.a_ns),
        duration(item.b_ns),
        scaled(item.a_flops_per_s, "FLOP/s"),
        scaled(item.b_flops_per_s, "FLOP/s"),
    ]


def _bound(item: WorkItem) -> str:
    return f"{item.a_bound or '-'} | {item.b_bound or '-'}"
