"""A comparison on a terminal: first whether it is fair, then the gap, then where it comes from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from rich.text import Text

from dlprof.analysis import utilisation
from dlprof.analysis.compare import RUNS_FOR_INTERVAL, Comparison, Item
from dlprof.analysis.layer_pairs import LayerItem
from dlprof.analysis.line_pairs import LinePair
from dlprof.report.console import Page, is_ascii, make_console
from dlprof.schema.vocabulary import OWN_PATHS
from dlprof.units import bar, duration, percent, resample, safe, strip

_BAR = 18
_LEAST_SHARE = 0.01
"""Items below this share of the larger wall time are summed up in one row."""
_STRIP_PARTS = 60
_COMMON = 0.05
"""A smaller difference of the machine's speed is not mentioned."""


def print_comparison(
    found: Sequence[Comparison],
    lines: Sequence[Sequence[LinePair]],
    *,
    file: TextIO,
    top: int = 12,
    plain: bool = False,
) -> None:
    """Print one comparison, or several that have their first side in common.

    Args:
        found: The comparisons.
        lines: Lines of both sides, for each of them.
        file: Where to.
        top: Rows of layers and of lines at most.
        plain: No colour, only ASCII.
    """
    console = make_console(file, plain=plain)
    ascii_only = is_ascii(file, plain)
    if len(found) > 1:
        _Overview(console, ascii_only=ascii_only).print(found)
    for one, pairs in zip(found, lines, strict=True):
        _Printer(console, ascii_only=ascii_only).print(one, pairs, top)


def verdict(found: Comparison) -> str:
    """One sentence: how large the gap is, and its largest parts."""
    a, b = found.a.label, found.b.label
    walls = f"{a} took {duration(found.a_wall_ns)}, {b} {duration(found.b_wall_ns)}"
    if found.noise:
        return f"{walls}: no difference beyond noise."
    slow, fast = (a, b) if found.gap_ns > 0 else (b, a)
    ratio = max(found.a_wall_ns, found.b_wall_ns) / max(1, min(found.a_wall_ns, found.b_wall_ns))
    sign = 1 if found.gap_ns > 0 else -1
    causes = [item for item in found.items if item.delta_ns * sign > 0 and not item.noise][:3]
    told = ", ".join(f"{item.path} ({duration(abs(item.delta_ns))})" for item in causes)
    gap = f"{walls}: {slow} is {ratio:.2f} x slower than {fast}, by {duration(abs(found.gap_ns))}"
    return f"{gap}, most of it in {told}." if told else f"{gap}."


class _Overview(Page):
    """Several comparisons in one table."""

    def print(self, found: Sequence[Comparison]) -> None:
        self.title("Overview", f"wall time by phase; the gap is {found[0].a.label} less the other")
        sides = [(found[0].a, 0, found[0]), *((one.b, 1, one) for one in found)]
        tops = sorted({item.path.partition("/")[0] for one in found for item in one.items})
        table = self.table(("", "left"), *[(side.label, "right") for side, _, _ in sides], ("", "left"))
        sums = {top: [_sum(one, top, place) for _, place, one in sides] for top in tops}
        for top in sorted(tops, key=lambda name: -max(sums[name])):
            table.add_row(top, *[duration(ns) for ns in sums[top]], "")
        walls = [one.a_wall_ns if place == 0 else one.b_wall_ns for _, place, one in sides]
        table.add_row("wall", *[duration(ns) for ns in walls], "")
        steps = [one.a_step_ns if place == 0 else one.b_step_ns for _, place, one in sides]
        table.add_row("steady step", *[duration(ns) for ns in steps], "")
        table.add_row("gap", "", *[signed(one.gap_ns) for one in found], "")
        self.show(table)


def _sum(found: Comparison, top: str, place: int) -> int:
    rows = [item for item in found.items if item.path.partition("/")[0] == top]
    return sum(item.a_ns if place == 0 else item.b_ns for item in rows)


class _Printer(Page):
    def print(self, found: Comparison, lines: Sequence[LinePair], top: int) -> None:
        self._head(found)
        self._waterfall(found)
        self._layers(found, top)
        self._lines(found, lines, top)
        self._cores(found)
        self._next(found)

    def _head(self, found: Comparison) -> None:
        self.console.print()
        for name, side in (("A", found.a), ("B", found.b)):
            runs = ", ".join(run.name for run in side.runs)
            self.say(safe(f"{name}: {side.label}  ({runs})"), "bold")
        self.console.print()
        if found.parity.why_not:
            self.say("Not comparable, because", "bold red")
            for why in found.parity.why_not:
                self.say(f"- {safe(why)}", "red", 2)
            self.say("What can be said all the same:")
        else:
            self.say("Comparable: same work, equivalent losses." if _checked(found) else "Comparable, as far as seen.")
        for text in found.parity.differences:
            self.say(f"differs: {safe(text)}", "dim", 2)
        for text in found.parity.unknown:
            self.say(f"not checked: {safe(text)}", "dim", 2)
        if abs(found.common - 1) > _COMMON:
            text = (
                f"everything took {found.common:.2f} x as long in A: the speed or the load of the machine, not a part"
            )
            self.say(f"differs: {text}", "dim", 2)
        self.console.print()
        self.say(safe(verdict(found)))

    def _waterfall(self, found: Comparison) -> None:
        repeats = min(len(found.a.runs), len(found.b.runs))
        note = "A less B" + (", means and 95 % intervals over the runs" if found.gap_ci_ns else "")
        self.title("Where the gap comes from", note)
        columns = [("part", "left"), ("A", "right"), ("B", "right"), ("A less B", "right"), ("95 %", "right")]
        table = self.table(*columns, ("", "left"))
        least = _LEAST_SHARE * max(found.a_wall_ns, found.b_wall_ns)
        shown = [item for item in found.items if max(item.a_ns, item.b_ns) >= least]
        rest = [item for item in found.items if max(item.a_ns, item.b_ns) < least]
        largest = max((abs(item.delta_ns) for item in shown), default=1) or 1
        for item in shown:
            table.add_row(*self._row(item), self._drawn(item, largest))
        if rest:
            sums = [sum(getattr(item, name) for item in rest) for name in ("a_ns", "b_ns")]
            label = f"{len(rest)} smaller parts"
            table.add_row(label, duration(sums[0]), duration(sums[1]), signed(sums[0] - sums[1]), "", "")
        table.add_row("unattributed", "", "", signed(found.unattributed_ns), "", "")
        table.add_row(
            "wall", duration(found.a_wall_ns), duration(found.b_wall_ns), signed(found.gap_ns),
            _interval(found.gap_ci_ns), "",
        )  # fmt: skip
        self.show(table)
        if found.unsplit:
            self.say(f"steps are not split: {safe(found.unsplit)}", "dim", 2)
        if repeats < RUNS_FOR_INTERVAL:
            text = "noise: below 20 % of the part or 50 ms; dlprof trace --repeat 5 gives intervals instead"
            self.say(text, "dim", 2)

    def _row(self, item: Item) -> list[str]:
        noise = "noise" if item.noise else _interval(item.ci_ns)
        return [safe(item.path), duration(item.a_ns), duration(item.b_ns), signed(item.delta_ns), noise]

    def _drawn(self, item: Item, largest: int) -> Text:
        style = "dim" if item.noise or item.path in OWN_PATHS else "red" if item.delta_ns > 0 else "green"
        drawn = bar(abs(item.delta_ns) / largest, _BAR, ascii_only=self.ascii)
        return Text(("+" if item.delta_ns > 0 else "-") + drawn if drawn else "", style=style)

    def _layers(self, found: Comparison, top: int) -> None:
        if not found.layers:
            return
        self.title("Kernels by layer", "of all steps")
        columns = (("layer", "left"), ("direction", "left"), ("A", "right"), ("B", "right"), ("A less B", "right"))
        table = self.table(*columns, ("operators of A | B", "left"))
        for item in found.layers[:top]:
            table.add_row(
                safe(item.layer or "(none)"), item.direction or "-", duration(item.a_ns), duration(item.b_ns),
                signed((item.a_ns or 0) - (item.b_ns or 0)), safe(_operators(item)),
            )  # fmt: skip
        self.show(table)

    def _lines(self, found: Comparison, lines: Sequence[LinePair], top: int) -> None:
        shown = [pair for pair in lines if abs(pair.delta_ns) >= _LEAST_SHARE * abs(found.gap_ns)][:top]
        if not shown:
            return
        self.title("Lines", "time in a line, with what it calls")
        columns = (("line", "left"), ("A hits", "right"), ("A", "right"), ("B hits", "right"), ("B", "right"))
        table = self.table(*columns, ("A less B", "right"), ("source", "left"))
        for pair in shown:
            table.add_row(
                safe(f"{pair.file}:{pair.line}"), _count(pair.a_hits), duration(pair.a_ns), _count(pair.b_hits),
                duration(pair.b_ns), signed(pair.delta_ns), safe(pair.source),
            )  # fmt: skip
        self.show(table)

    def _cores(self, found: Comparison) -> None:
        sides = [
            (name, side) for name, side in (("A", found.a), ("B", found.b)) if side.runs[0].table("cores").num_rows
        ]
        if not sides:
            return
        self.title("Cores", "busy over the run, first run of each side")
        table = self.table(("", "left"), ("core", "right"), ("mean", "right"), ("", "left"))
        for name, side in sides:
            for use in utilisation.cores(side.runs[0].table("cores"), _STRIP_PARTS):
                drawn = strip(resample(use.strip, min(_STRIP_PARTS, self.console.width - 25)), ascii_only=self.ascii)
                mean = "-" if use.mean_pct is None else f"{percent(use.mean_pct, 100)} %"
                table.add_row(name, str(use.core), mean, drawn)
        self.show(table)

    def _next(self, found: Comparison) -> None:
        if found.noise:
            return
        slow, fast = (found.a, found.b) if found.gap_ns > 0 else (found.b, found.a)
        self.console.print()
        self.say(safe(f"next: dlprof diagnose {slow.runs[0].name} {fast.runs[0].name}"), "dim")


def _checked(found: Comparison) -> bool:
    return not found.parity.unknown


def signed(ns: int) -> str:
    """A difference with its sign."""
    return f"{'+' if ns > 0 else ''}{duration(ns)}" if ns else "0"


def _interval(ci: tuple[int, int] | None) -> str:
    return f"{signed(ci[0])} to {signed(ci[1])}" if ci else ""


def _count(hits: int | None) -> str:
    return "-" if hits is None else f"{hits}"


def _operators(item: LayerItem) -> str:
    return " | ".join(", ".join(ops[:2]) or "-" for ops in (item.a_ops, item.b_ops))
