"""A trend over the steps, in words: for a terminal and a page."""

from __future__ import annotations

from dataclasses import dataclass

from dlprof.analysis import memory_growth
from dlprof.report.memory_json import TrendReport
from dlprof.schema.vocabulary import Trended
from dlprof.units import duration

_NAMES = 2
_WHOLE = 100
"""From here on numbers have no fraction."""


@dataclass(frozen=True)
class TrendWords:
    """One trend.

    Attributes:
        name: Of what.
        per_step: The slope as a number, to sort by.
        told: The slope.
        ci: Its interval.
        first, last: At the beginning, and at the end.
        verdict: What it amounts to; empty for the time of steps, of which the findings say more.
        most: What there is more of, if it grows and that is known.
    """

    name: str
    per_step: float
    told: str
    ci: str
    first: str
    last: str
    verdict: str
    most: str


def told(one: TrendReport) -> TrendWords:
    """One in words."""
    shown = duration if one.unit == "ns" else _number
    is_time = one.quantity is Trended.STEP_TIME
    return TrendWords(
        name=one.quantity.replace("_", " "),
        per_step=one.per_step,
        told=shown(one.per_step),
        ci=" to ".join(map(shown, one.ci)),
        first=shown(one.first),
        last=shown(one.last),
        verdict="" if is_time else memory_growth.verdict(one.is_growing, one.ci),
        most=_most(one) if one.is_growing else "",
    )


def _most(trend: TrendReport) -> str:
    return ", ".join(
        f"{one.name} {f'+{one.more_count:,}' if one.more_count is not None else f'{one.count:,}'}"
        for one in trend.names[:_NAMES]
    )


def _number(value: float) -> str:
    """A number, to three digits where it is small."""
    return f"{value:,.0f}" if abs(value) >= _WHOLE else f"{value:.3g}"
