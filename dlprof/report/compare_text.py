"""A comparison on a terminal: first whether it is fair, then the gap, then where it comes from."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from typing import TextIO

from rich.text import Text

from dlprof import rundir
from dlprof.analysis import core_use
from dlprof.analysis.compare import RUNS_FOR_INTERVAL, Comparison, Item, Side
from dlprof.analysis.core_use import CoreUse
from dlprof.analysis.layer_pairs import LayerItem
from dlprof.analysis.line_pairs import LinePair
from dlprof.analysis.parity import LOAD
from dlprof.report import compare_parts, gap_words, worth_a_row
from dlprof.report.console import Column, Page, make_page
from dlprof.report.gap_words import signed
from dlprof.report.summary import STRIP_PARTS
from dlprof.schema.tree_paths import OWN_PATHS
from dlprof.schema.vocabulary import RunState
from dlprof.units import bar, duration, percent, resample, safe, strip

_BAR = 18
_LEAST_SHARE = 0.01
"""Items below this share of the larger wall time are summed up in one row."""
_COMMON = 0.05
"""A smaller difference of the machine's speed is not mentioned."""
_OPERATORS = 2


def print_comparison(
    comparisons: Sequence[Comparison],
    lines: Sequence[Sequence[LinePair]],
    *,
    file: TextIO,
    top: int = 12,
    plain: bool = False,
    full: bool = False,
) -> None:
    """Print one comparison, or several that have their first side in common.

    Args:
        comparisons: The comparisons.
        lines: Lines of both sides, for each of them.
        file: The stream that it is printed to.
        top: Rows of layers and of lines at most.
        plain: No colour, only ASCII.
        full: All rows of all tables, and each core.
    """
    page = make_page(file, plain=plain)
    if len(comparisons) > 1:
        _overview(page, comparisons)
    rows = None if full else top
    for comparison, pairs in zip(comparisons, lines, strict=True):
        _head(page, comparison)
        _waterfall(page, comparison, full=full)
        _layers(page, comparison, rows)
        compare_parts.work(page, comparison, full=full)
        _lines(page, comparison, pairs, rows)
        compare_parts.memory(page, comparison, full=full)
        _cores(page, comparison, full=full)
        _next(page, comparison)


# -- several comparisons ---------------------------------------------------------------------------------


def _overview(page: Page, comparisons: Sequence[Comparison]) -> None:
    """Several comparisons in one table: A, then the other side of each."""
    first = comparisons[0]
    page.title("Overview", f"wall time by phase; the gap is {first.a.label} {page.minus} the other")
    labels = [first.a.label, *(one.b.label for one in comparisons)]
    table = page.table(("", "left"), *[(label, "right") for label in labels], ("", "left"))
    phases = {item.path.partition("/")[0] for one in comparisons for item in one.items}
    sums = {phase: [_of_a(first, phase), *(_of_b(one, phase) for one in comparisons)] for phase in sorted(phases)}
    for phase in sorted(sums, key=lambda name: -max(sums[name])):
        table.add_row(phase, *[duration(ns) for ns in sums[phase]], "")
    walls = [first.a_wall_ns, *(one.b_wall_ns for one in comparisons)]
    table.add_row("wall", *[duration(ns) for ns in walls], "")
    steps = [first.a_step_ns, *(one.b_step_ns for one in comparisons)]
    table.add_row("steady step", *[duration(ns) for ns in steps], "")
    table.add_row("gap", "", *[signed(one.gap_ns) for one in comparisons], "")
    page.show(table)


def _of_a(comparison: Comparison, phase: str) -> int:
    return sum(item.a_ns for item in comparison.items if item.path.partition("/")[0] == phase)


def _of_b(comparison: Comparison, phase: str) -> int:
    return sum(item.b_ns for item in comparison.items if item.path.partition("/")[0] == phase)


# -- one comparison --------------------------------------------------------------------------------------


def _head(page: Page, comparison: Comparison) -> None:
    page.console.print()
    for name, side in _sides(comparison):
        page.say(safe(gap_words.heading(name, side)), "bold")
    page.console.print()
    if doubt := gap_words.doubtful(comparison):
        page.say(safe(doubt), "bold yellow")
    _fairness(page, comparison)
    page.console.print()
    page.say(safe(gap_words.gap(comparison)))


def _sides(comparison: Comparison) -> tuple[tuple[str, Side], tuple[str, Side]]:
    return ("A", comparison.a), ("B", comparison.b)


def _fairness(page: Page, comparison: Comparison) -> None:
    """Whether both sides did the same work, and what else differs."""
    parity = comparison.parity
    if parity.why_not:
        page.say("Not comparable, because", "bold red")
        for why in parity.why_not:
            page.say(f"- {safe(why)}", "red", 2)
        for what in parity.advice:
            page.say(f"what helps with {safe(what)}", indent=2)
        page.say("What can be said all the same:")
    else:
        page.say("Comparable, as far as seen." if parity.unknown else "Comparable: same work, equivalent losses.")
    for text in parity.differences:
        if comparison.doubts and text.startswith(LOAD):
            continue  # the doubt has both figures
        page.say(f"differs: {safe(text)}", "dim", 2)
    for text in parity.unknown:
        page.say(f"not checked: {safe(text)}", "dim", 2)
    if abs(comparison.common - 1) > _COMMON:
        because = "the speed or the load of the machine, not a part"
        limit = ("at least " if comparison.common > 1 else "at most ") if comparison.common_is_least else ""
        page.say(f"differs: everything took {limit}{comparison.common:.2f} x as long in A: {because}", "dim", 2)


def _waterfall(page: Page, comparison: Comparison, *, full: bool) -> None:
    """The parts of the gap, those with the largest difference first, and their sum."""
    difference = f"A {page.minus} B"
    intervals = "; means and 95 % intervals over the runs" if comparison.gap_ci_ns else ""
    page.title("Where the gap comes from", f"{difference}: + where A takes longer{intervals}")
    columns: list[Column] = [("part", "left"), ("A", "right"), ("B", "right"), (difference, "right"), ("95 %", "right")]
    table = page.table(*columns, ("", "left"))
    shown, rest = worth_a_row.split(comparison.items, lambda item: item.delta_ns, full=full)
    largest = max((abs(item.delta_ns) for item in shown), default=1) or 1
    for item in shown:
        table.add_row(*_item_row(comparison, item), _drawn(page, item, largest))
    if rest:
        table.add_row(*_rest_row(rest), "", "")
    table.add_row(gap_words.rest(comparison), "", "", signed(comparison.unattributed_ns), "", "")
    walls = duration(comparison.a_wall_ns), duration(comparison.b_wall_ns), signed(comparison.gap_ns)
    table.add_row("wall", *walls, _interval(comparison.gap_ci_ns), "")
    page.show(table)
    if rest:
        page.say("each of the others: --full", "dim", 2)
    if comparison.unsplit:
        page.say(f"steps are not split: {safe(comparison.unsplit)}", "dim", 2)
    if more := gap_words.more_steps(comparison):
        page.say(safe(more), "dim", 2)
    if told := gap_words.starts(comparison):
        page.say(told, "dim", 2)
    if min(len(comparison.a.runs), len(comparison.b.runs)) < RUNS_FOR_INTERVAL:
        page.say(_noise(comparison), "dim", 2)


def _noise(comparison: Comparison) -> str:
    """What is called noise without intervals, and how to get them."""
    sides = (comparison.a, comparison.b)
    imported = any(run.manifest.state == RunState.IMPORTED for side in sides for run in side.runs)
    more = "several traces a side (A1,A2,A3 B1,B2,B3) give" if imported else "dlprof trace --repeat 5 gives"
    return f"noise: below 20 % of the part or {duration(comparison.least_ns)}; {more} intervals instead"


def _item_row(comparison: Comparison, item: Item) -> list[str]:
    noise = "noise" if item.noise else _interval(item.ci_ns)
    return [
        safe(gap_words.name(comparison, item)),
        duration(item.a_ns),
        duration(item.b_ns),
        signed(item.delta_ns),
        noise,
    ]


def _rest_row(rest: Sequence[Item]) -> list[str]:
    a_ns, b_ns = sum(item.a_ns for item in rest), sum(item.b_ns for item in rest)
    return [worth_a_row.others(len(rest)), duration(a_ns), duration(b_ns), signed(a_ns - b_ns)]


def _drawn(page: Page, item: Item, largest_ns: int) -> Text:
    style = "dim" if item.noise or item.path in OWN_PATHS else "red" if item.delta_ns > 0 else "cyan"
    drawn = bar(abs(item.delta_ns) / largest_ns, _BAR, ascii_only=page.ascii)
    return Text(("+" if item.delta_ns > 0 else "-") + drawn if drawn else "", style=style)


def _layers(page: Page, comparison: Comparison, top: int | None) -> None:
    if not comparison.layers:
        return
    page.title("Kernels by layer", "of all steps")
    columns: list[Column] = [("layer", "left"), ("direction", "left"), ("A", "right"), ("B", "right")]
    table = page.table(*columns, (f"A {page.minus} B", "right"), ("operators of A | B", "left"))
    of_all = sum(abs(item.delta_ns) for item in comparison.items)
    shown, rest = worth_a_row.split(comparison.layers, _delta, full=top is None, most=top, whole=of_all)
    if not shown:
        a_ns, b_ns = sum(item.a_ns or 0 for item in rest), sum(item.b_ns or 0 for item in rest)
        text = f"{len(rest)} of them, {duration(a_ns)} and {duration(b_ns)} together: none has 1 % of the differences"
        page.say(f"{text}; each: --full", "dim", 2)
        return
    for item in shown:
        times = duration(item.a_ns), duration(item.b_ns), signed(_delta(item))
        table.add_row(safe(item.layer or "(no layer told)"), item.direction or "-", *times, safe(_operators(item)))
    if rest:
        a_ns, b_ns = sum(item.a_ns or 0 for item in rest), sum(item.b_ns or 0 for item in rest)
        times = duration(a_ns), duration(b_ns), signed(a_ns - b_ns)
        table.add_row(worth_a_row.others(len(rest)), "", *times, "")
    page.show(table)


def _delta(item: LayerItem) -> int:
    return (item.a_ns or 0) - (item.b_ns or 0)


def _lines(page: Page, comparison: Comparison, lines: Sequence[LinePair], top: int | None) -> None:
    least = _LEAST_SHARE * abs(comparison.gap_ns) if top is not None else 0
    telling = [pair for pair in lines if (pair.a_ns or pair.b_ns) and abs(pair.delta_ns) >= least]
    shown, rest = telling[:top], [] if top is None else telling[top:]
    if not shown:
        return
    page.title("Lines", "time in a line, with what it calls")
    columns: list[Column] = [("line", "left"), ("A hits", "right"), ("A", "right"), ("B hits", "right"), ("B", "right")]
    table = page.table(*columns, (f"A {page.minus} B", "right"), ("99 %", "right"), ("source", "left"))
    for pair in shown:
        of_a, of_b = _hits(pair.a_hits, scaled=pair.a_scaled), _hits(pair.b_hits, scaled=pair.b_scaled)
        counted = of_a, duration(pair.a_ns), of_b, duration(pair.b_ns)
        likely = "noise" if pair.within_noise else _interval(pair.ci_ns)
        table.add_row(safe(_place(pair)), *counted, signed(pair.delta_ns), likely, safe(pair.source))
    page.show(table)
    if any(pair.ci_ns for pair in shown):
        page.say("times from samples: noise where the 99 % interval of the difference holds 0", "dim", 2)
    if rest:
        page.say(f"{worth_a_row.others(len(rest))} that differ by less, or lie in these: --full", "dim", 2)


def _place(pair: LinePair) -> str:
    """Where a line is; of one that moved to another file or function in both."""
    return f"{pair.file}:{pair.line}" + (f" (B: {pair.b_file}:{pair.b_line})" if pair.has_moved else "")


def _cores(page: Page, comparison: Comparison, *, full: bool) -> None:
    sides = [(name, core_use.of_run(side.runs[0], STRIP_PARTS).cores) for name, side in _sides(comparison)]
    if not any(cores for _, cores in sides):
        return
    page.title("Cores", "busy over the run, first run of each side")
    table = page.table(("", "left"), ("core" if full else "cores", "right"), ("mean", "right"), ("", "left"))
    for name, cores in sides:
        for number, mean, parts in _core_rows(cores, full=full):
            drawn = strip(resample(parts, min(STRIP_PARTS, page.console.width - 25)), ascii_only=page.ascii)
            table.add_row(name, number, "-" if mean is None else f"{percent(mean, 100)} %", drawn)
    page.show(table)


def _core_rows(cores: Sequence[CoreUse], *, full: bool) -> Iterator[tuple[str, float | None, Sequence[float | None]]]:
    """What stands in each row: the core, its mean and its strip; or those of all cores of a side."""
    if full:
        yield from ((str(use.core), use.mean_pct, use.strip) for use in cores)
    elif cores:
        parts = [_mean(part) for part in zip(*(use.strip for use in cores), strict=True)]
        yield f"all {len(cores)}", _mean([use.mean_pct for use in cores]), parts


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _next(page: Page, comparison: Comparison) -> None:
    """What to type for the causes: of the gap, or else of the parts that differ beyond noise."""
    a, b = (_typed(side) for side in (comparison.a, comparison.b))
    slow, fast = (a, b) if _is_a_first(comparison) else (b, a)
    if comparison.noise and not (comparison.longer_in_a or comparison.longer_in_b):
        return
    page.console.print()
    page.say(safe(f"next: dlprof diagnose {slow} {fast}"), "dim")


def _typed(side: Side) -> str:
    """What a user types for a side: its run, the folder that has its repeats and no others, or all runs with commas."""
    folders = {run.folder.place.absolute().parent for run in side.runs}
    if len(side.runs) > 1 and len(folders) == 1:
        (folder,) = folders
        if len(rundir.find(folder)) == len(side.runs):
            return shlex.quote(os.path.relpath(folder))
    return ",".join(run.typed for run in side.runs)


def _is_a_first(comparison: Comparison) -> bool:
    """Whether A is to be explained rather than B."""
    if not comparison.noise:
        return comparison.gap_ns > 0
    a, b = (sum(abs(item.delta_ns) for item in items) for items in (comparison.longer_in_a, comparison.longer_in_b))
    return a >= b


def _interval(ci: tuple[int, int] | None) -> str:
    return f"{signed(ci[0])} to {signed(ci[1])}" if ci else ""


def _hits(hits: int | None, *, scaled: bool) -> str:
    return "-" if hits is None else f"{'~' if scaled else ''}{hits}"


def _operators(item: LayerItem) -> str:
    return " | ".join(", ".join(ops[:_OPERATORS]) or "-" for ops in (item.a_ops, item.b_ops))
