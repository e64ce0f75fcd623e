"""What settings changed, as `dlprof try` tells it: JSON (`dlprof.try/1`), or tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TextIO

from msgspec import Struct

from dlprof.analysis.what_if import Measure, Tried
from dlprof.report.console import Page, make_page
from dlprof.units import duration, percent, safe, size

SCHEMA = "dlprof.try/1"
_QUIET_PCT = 20.0
"""Of a core: with less than that, a machine is quiet."""
_TITLES = {
    "run_ns": "the run, without dlprof",
    "training_ns": "training (fit)",
    "step_ns": "a step, median",
    "sample_ns": "a row",
    "peak_bytes": "peak memory",
    "loss": "loss at the end",
}


class MeasureReport(Struct, frozen=True):
    """A figure as it was and with a change: means, and the change with its 95 % interval; units are in the name."""

    name: str
    before: float | None
    after: float | None
    change: float | None
    interval: tuple[float, float] | None
    expected: float | None


class ChangeReport(Struct, frozen=True):
    """One change that was tried."""

    settings: Mapping[str, Any]
    environment: Mapping[str, str | None]
    pairs: int
    taken: Mapping[str, bool | None]
    measures: tuple[MeasureReport, ...]
    not_forecast: str | None
    failed: str | None
    others_pct: float | None


class TryReport(Struct, frozen=True, kw_only=True):
    """All that was tried on a run."""

    schema: str = SCHEMA
    run: str
    rounds: int
    changes: tuple[ChangeReport, ...]


def as_json(name: str, rounds: int, tried: Sequence[Tried]) -> TryReport:
    """The answer for machines. See `dlprof help json`."""
    return TryReport(run=name, rounds=rounds, changes=tuple(_change(one) for one in tried))


def _change(one: Tried) -> ChangeReport:
    measures = tuple(
        MeasureReport(each.name, each.before, each.after, each.change, each.interval, each.expected)
        for each in one.measures
    )
    return ChangeReport(
        one.settings, one.environment, one.pairs, one.taken, measures, one.not_forecast, one.failed, one.others_pct
    )


def print_tried(name: str, rounds: int, tried: Sequence[Tried], *, file: TextIO, plain: bool = False) -> None:
    """Print a table for each change.

    Args:
        name: Of the run.
        rounds: How often each was run.
        tried: What was tried.
        file: The stream that it is printed to.
        plain: No colour, only ASCII.
    """
    page = make_page(file, plain=plain)
    for one in tried:
        runs = f"{rounds} run{'s' * (rounds > 1)} of each, in turn; means, 95 % intervals of the change"
        page.title(f"{safe(one.title)} in {safe(name)}", runs)
        if one.failed is not None:
            page.say(f"could not be tried: {safe(one.failed)}", indent=2)
            continue
        _table(page, one)
        _notes(page, one)


def _table(page: Page, one: Tried) -> None:
    has_forecast = one.not_forecast is None
    columns = [("", "left"), ("as it was", "right"), ("with it", "right"), ("change", "right"), ("", "right")]
    last = ("expected", "right") if has_forecast else ("", "left")
    table = page.table(*columns, ("95 % interval", "left"), last)  # type: ignore[arg-type]
    for each in one.measures:
        told = [_text(each, value) for value in (each.before, each.after)]
        change = _signed(page, each, each.change)
        share = f"{percent(each.change, each.before)} %" if each.change is not None and each.before else ""
        interval = " to ".join(_signed(page, each, end) for end in each.interval) if each.interval else ""
        expected = _signed(page, each, each.expected) if has_forecast and each.expected is not None else ""
        table.add_row(_TITLES[each.name], *told, change, share.replace("-", page.minus), interval, expected)
    page.show(table)


def _notes(page: Page, one: Tried) -> None:
    if one.others_pct is not None and one.others_pct > _QUIET_PCT:
        cores = f"{one.others_pct / 100:.1f} cores"
        page.say(f"Other programs took {cores} meanwhile: measure again on a quiet machine.", "yellow", indent=2)
    for name, was_taken in one.taken.items():
        if was_taken is False:
            page.say(f"{name} did not come to the training: its own record says something else.", "yellow", indent=2)
        elif was_taken is None:
            page.say(f"Whether {name} came to the training is not to be seen in its record.", "dim", indent=2)
    unknown = [_TITLES[each.name] for each in one.measures if each.before is None or each.after is None]
    if unknown:
        page.say(f"not known of every run: {', '.join(unknown)}", "dim", indent=2)
    if one.not_forecast is not None:
        page.say(f"nothing was expected beforehand: {one.not_forecast}", "dim", indent=2)


def _text(each: Measure, value: float | None) -> str:
    if value is None:
        return "-"
    if each.name.endswith("_ns"):
        return duration(value)
    return size(value) if each.name.endswith("_bytes") else f"{value:.4g}"


def _signed(page: Page, each: Measure, value: float | None) -> str:
    if value is None:
        return "-"
    return f"{page.minus if value < 0 else '+'}{_text(each, abs(value))}"
