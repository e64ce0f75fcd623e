"""Work of layers on a terminal: how near each comes to what the machine can do."""

from __future__ import annotations

from typing import TextIO

from rich.table import Table
from rich.text import Text

from dlprof.analysis.roofline import LayerRate, Roofline, StepRate
from dlprof.report.console import make_console
from dlprof.schema.vocabulary import MemoryBasis
from dlprof.units import duration, percent, safe, size

_WIDE = 110
_FIGURES = ("work", "moved", "time", "rate", "moved/s", "% of ceiling")
_UNNAMED = 0.2
"""Share of the kernels' time without a layer from which on that is told."""
_UNITS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def print_table(found: Roofline, *, top: int, file: TextIO, plain: bool = False) -> None:
    """Print the layers with most time; those whose time is not known come last, with most work first.

    Args:
        found: The layers.
        top: How many rows at most; 0 for all.
        file: The stream that it is printed to.
        plain: No colour, only ASCII.
    """
    console = make_console(file, plain=plain)
    if not file.isatty():
        console.width = max(console.width, _WIDE)
    if found.why_not is not None:
        console.print(Text(f"The work of layers is not known: {found.why_not}"))
        return
    rows = sorted(found.layers, key=lambda rate: (-(rate.ns or 0), -(rate.work.flops or 0)))
    console.print(_table(rows[: top or None]))
    if top and len(rows) > top:
        console.print(Text(f"... {len(rows) - top} more rows; --top 0 for all", "dim"))
    for line in foot(found):
        console.print(Text(line, "dim"))


def _table(rows: list[LayerRate]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("layer", "class", "direction"):
        table.add_column(name, no_wrap=True)
    for name in _FIGURES:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("bound by", no_wrap=True)
    for rate in rows:
        table.add_row(*map(Text, _cells(rate)))
    return table


def _cells(rate: LayerRate) -> list[str]:
    work = rate.work
    about = "~" if work.how == MemoryBasis.ESTIMATE and work.flops is not None else ""
    return [
        safe(work.layer),
        safe(work.kind),
        work.direction,
        about + scaled(work.flops, "FLOP"),
        size(work.bytes),
        duration(rate.ns),
        scaled(rate.flops_per_s, "FLOP/s"),
        "-" if rate.bytes_per_s is None else f"{size(rate.bytes_per_s)}/s",
        percent(rate.reached, 1.0),
        rate.bound or "-",
    ]


def scaled(value: float | None, unit: str) -> str:
    """A number with three digits and a prefix: `12.3 GFLOP/s`; `-` where there is none."""
    if value is None:
        return "-"
    for scale, prefix in _UNITS:
        if abs(value) >= scale:
            return f"{value / scale:.3g} {prefix}{unit}"
    return f"{value:.3g} {unit}"


def _whole(step: StepRate) -> str:
    """A step as a whole: its work, and the rate reached without a tracer where that is known."""
    asked = f"A training step asks for {scaled(step.flops, 'FLOP')}"
    if step.flops_per_s is None:
        return f"{asked}."
    share = "" if step.reached is None else f", {percent(step.reached, 1.0)} % of the ceiling"
    return f"{asked}, {scaled(step.flops_per_s, 'FLOP/s')} over a {step.which} step of {duration(step.ns)}{share}."


def foot(found: Roofline) -> list[str]:
    """What is to be said below: the work of a step, the ceilings, and what the columns are."""
    lines = []
    if found.step.flops is not None:
        lines.append(_whole(found.step))
    if found.ceilings is None:
        lines.append("What this machine can do was not measured: `dlprof doctor --measure` (2 s), then trace again.")
    else:
        rates = ", ".join(scaled(rate, f"FLOP/s {kind}") for kind, rate in found.ceilings.flops_per_s.items())
        moved = f"{size(found.ceilings.bytes_per_s)}/s"
        lines.append(f"Ceilings, measured: {rates}, {moved} on {found.ceilings.cores} cores.")
    if found.why_no_times is not None:
        lines.append(f"No layer has a time, because {found.why_no_times}.")
    elif found.unnamed is not None and found.unnamed >= _UNNAMED:
        lines.append(
            f"{100 * found.unnamed:.0f} % of the traced kernels' time is of no layer: what is missing in the table may"
            " be in it."
        )
    if any((rate.reached or 0) > 1 for rate in found.layers):
        lines.append(
            "More than 100 %: caches, ceilings of a busy machine (`dlprof doctor --measure` raises them), or, where it "
            "is far more and nothing is said to bind it, kernels of the layer that ran under another's name."
        )
    lines.append(
        "Work of one training step, by shapes; ~ by the number of values. Moved: each input, weight, output once."
    )
    return lines
