"""The roofline of a run as a picture: rates of layers over their operations per byte, below what the machine can do."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from dlprof.analysis import roofline
from dlprof.analysis.roofline import LayerRate, Roofline
from dlprof.report.roofline_table import foot, scaled
from dlprof.store.run import Run
from dlprof.units import duration

WIDTH, HEIGHT = 720, 300
_LEFT, _BOTTOM, _EDGE = 92, 34, 16
_TOP = 25
_LEAST_DECADES = 2
_LABELS = 4
"""Layers that are named in the picture."""
_ASIDE, _LINE = 7, 14


@dataclass(frozen=True)
class Point:
    """A layer in one direction: where it stands (px), and what is said of it.

    Attributes:
        x, y: Its place.
        direction: Forward or backward.
        title: What is said when it is pointed at.
        label: Its layer, written beside it; None: not among the few of most time, or that stands elsewhere.
        aside: How far from it the label begins, or, below 0, ends (px).
    """

    x: float
    y: float
    direction: str
    title: str
    label: str | None = None
    aside: int = 0


@dataclass(frozen=True)
class Tick:
    """A line of the grid (px), with its figure."""

    at: float
    text: str


@dataclass(frozen=True)
class WorkChart:
    """The section of a page.

    Attributes:
        rows: Layers of most time, by direction.
        more: How many are left out.
        points: Those that have work, bytes and time.
        roof: What the machine can do, as points of a line (px); empty: it was not measured.
        across, up: The grid.
        says: Sentences below.
    """

    rows: Sequence[LayerRate]
    more: int
    points: Sequence[Point]
    roof: str
    across: Sequence[Tick]
    up: Sequence[Tick]
    says: Sequence[str]
    width: int = WIDTH
    height: int = HEIGHT


def of_run(run: Run) -> WorkChart | None:
    """The work of a run's layers; None: it is not known."""
    found = roofline.of_run(run)
    rows = sorted(found.layers, key=lambda rate: (-(rate.ns or 0), -(rate.work.flops or 0)))
    if found.why_not is not None or not rows:
        return None
    known = [one for one in rows if one.work.flops and one.work.bytes and one.flops_per_s]
    across, up = _axes(known, found)
    return WorkChart(
        rows[:_TOP],
        max(0, len(rows) - _TOP),
        list(_points(known, across, up)),
        _roof(found, across, up) if known else "",
        [Tick(across.place(value), f"{value:g}") for value in across.decades()] if known else [],
        [Tick(up.place(value), scaled(value, "FLOP/s")) for value in up.decades()] if known else [],
        foot(found),
    )


@dataclass(frozen=True)
class _Axis:
    """Decades between two ends (px)."""

    low: int
    high: int
    begin: float
    end: float

    def place(self, value: float) -> float:
        """Of a value (px)."""
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return round(self.begin + (self.end - self.begin) * min(1.0, max(0.0, share)), 1)

    def decades(self) -> Iterator[float]:
        """Powers of ten."""
        yield from (10.0**power for power in range(self.low, self.high + 1))


def _axes(known: Sequence[LayerRate], found: Roofline) -> tuple[_Axis, _Axis]:
    peak = max(found.ceilings.flops_per_s.values(), default=None) if found.ceilings is not None else None
    rates = [one.flops_per_s for one in known if one.flops_per_s] + ([peak] if peak else [])
    each = [_intensity(one) for one in known] + ([peak / found.ceilings.bytes_per_s] if peak and found.ceilings else [])
    return (
        _Axis(*_decades(each), _LEFT, WIDTH - _EDGE),
        _Axis(*_decades(rates), HEIGHT - _BOTTOM, _EDGE),
    )


def _decades(values: Sequence[float]) -> tuple[int, int]:
    low = math.floor(math.log10(min(values, default=1)))
    return low, max(low + _LEAST_DECADES, math.ceil(math.log10(max(values, default=1))))


def _intensity(rate: LayerRate) -> float:
    """Operations per byte."""
    return (rate.work.flops or 0) / rate.work.bytes


def _points(known: Sequence[LayerRate], across: _Axis, up: _Axis) -> Iterator[Point]:
    """The points; of those of most time, which come first, the layers are named, each once."""
    named: dict[str, Point] = {}
    for rate in known:
        point, layer = _point(rate, across, up), rate.work.layer
        if layer not in named and len(named) < _LABELS and not any(_is_near(point, one) for one in named.values()):
            aside = -_ASIDE if point.x > WIDTH * 2 / 3 else _ASIDE
            point = named[layer] = replace(point, label=layer, aside=aside)
        yield point


def _is_near(one: Point, other: Point) -> bool:
    """Whether what is written beside one would lie upon what is written beside the other."""
    return abs(one.y - other.y) < _LINE and abs(one.x - other.x) < WIDTH / 4


def _point(rate: LayerRate, across: _Axis, up: _Axis) -> Point:
    work, reached = rate.work, rate.flops_per_s or 1
    told = f"{work.layer}, {work.direction}: {scaled(work.flops, 'FLOP')} in {duration(rate.ns)}"
    bound = f", bound by {rate.bound}" if rate.bound else ""
    title = f"{told}, {scaled(reached, 'FLOP/s')}{bound}"
    return Point(across.place(_intensity(rate)), up.place(reached), work.direction, title)


def _roof(found: Roofline, across: _Axis, up: _Axis) -> str:
    """From the least operations per byte along the bandwidth to the peak, and on."""
    if found.ceilings is None or not found.ceilings.flops_per_s:
        return ""
    peak, moved = max(found.ceilings.flops_per_s.values()), found.ceilings.bytes_per_s
    first = max(10.0**across.low, 10.0**up.low / moved)
    corners = [(first, first * moved), (peak / moved, peak), (10.0**across.high, peak)]
    return " ".join(f"{across.place(x)},{up.place(y)}" for x, y in corners)
