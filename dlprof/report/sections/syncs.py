"""Where the program asks for values of the device, on a terminal."""

from __future__ import annotations

from rich.text import Text

from dlprof.report.console import Page
from dlprof.report.model import Report
from dlprof.units import duration, percent, safe, times

_PLACES = 8


def places(page: Page, report: Report) -> None:
    """Calls that bring values to the host, by line; nothing where there are none."""
    every = report.syncs or ()
    if not every:
        return
    calls, whole = sum(one.calls for one in every), sum(one.ns for one in every)
    page.title(f"Values asked for  {times(calls)}, {duration(whole)}", "item(), float(), numpy() ... by line")
    right = tuple((name, "right") for name in ("times", "a step", "time", "%"))
    table = page.table(("call", "left"), *right, ("line", "left"))  # type: ignore[arg-type]
    for one in every[:_PLACES]:
        a_step = "-" if one.calls_per_step is None else f"{one.calls_per_step:.3g}"
        share = "-" if one.share is None else percent(one.share, 1)
        where = Text(safe(f"{one.file}:{one.line}"))
        table.add_row(Text(safe(one.what)), f"{one.calls:,}", a_step, duration(one.ns), share, where)
    page.show(table)
    if len(every) > _PLACES:
        page.say(f"and {len(every) - _PLACES} more: --json", "dim", indent=2)
