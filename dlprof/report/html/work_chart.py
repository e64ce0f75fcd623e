"""The roofline of a run as a picture: rates of the layers and of the whole step over their operations per byte.

Above them is what the machine can do.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from dlprof.analysis import roofline
from dlprof.analysis.roofline import LayerRate, Roofline, StepRate
from dlprof.report.roofline_table import foot, scaled
from dlprof.store.run import Run
from dlprof.units import duration

WIDTH, HEIGHT = 720, 300
_LEFT, _BOTTOM, _EDGE = 92, 34, 16
_TOP = 25
_LEAST_DECADES = 2
_LABELS = 5
"""What is named in the picture."""
_ASIDE, _LINE = 7, 14


@dataclass(frozen=True)
class Point:
    """A layer in one direction, or the whole step: where it stands (px), and what is said of it.

    Attributes:
        x, y: Its place.
        what: `forward`, `backward` or `step`.
        title: What is said when it is pointed at.
        label: Its name, written beside it; None: not among the few of most time, or that stands elsewhere.
        aside: How far from it the label begins, or, below 0, ends (px).
    """

    x: float
    y: float
    what: str
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
        points: Those that have work, bytes and time, the whole step first.
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
    known = [*_whole(found.step), *_layers(rows)]
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
class _Worked:
    """What has a place in the picture.

    Attributes:
        name: Of the layer, or of the step.
        what: `forward`, `backward` or `step`.
        intensity: Operations per byte.
        rate: FLOP/s.
        title: What is said of it.
    """

    name: str
    what: str
    intensity: float
    rate: float
    title: str


def _whole(step: StepRate) -> Iterator[_Worked]:
    if step.flops is None or step.flops_per_s is None or not step.bytes:
        return
    rate = scaled(step.flops_per_s, "FLOP/s")
    told = f"a {step.which} step: {scaled(step.flops, 'FLOP')} in {duration(step.ns)}, {rate}"
    yield _Worked("whole step", "step", step.flops / step.bytes, step.flops_per_s, told)


def _layers(rows: Sequence[LayerRate]) -> Iterator[_Worked]:
    for one in rows:
        work, rate = one.work, one.flops_per_s
        if work.flops and work.bytes and rate:
            bound = f", bound by {one.bound}" if one.bound else ""
            told = f"{work.layer}, {work.direction}: {scaled(work.flops, 'FLOP')} in {duration(one.ns)}"
            title = f"{told}, {scaled(rate, 'FLOP/s')}{bound}"
            yield _Worked(work.layer, work.direction, work.flops / work.bytes, rate, title)


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


def _axes(known: Sequence[_Worked], found: Roofline) -> tuple[_Axis, _Axis]:
    peak = max(found.ceilings.flops_per_s.values(), default=None) if found.ceilings is not None else None
    rates = [one.rate for one in known] + ([peak] if peak else [])
    each = [one.intensity for one in known] + ([peak / found.ceilings.bytes_per_s] if peak and found.ceilings else [])
    return (
        _Axis(*_decades(each), _LEFT, WIDTH - _EDGE),
        _Axis(*_decades(rates), HEIGHT - _BOTTOM, _EDGE),
    )


def _decades(values: Sequence[float]) -> tuple[int, int]:
    low = math.floor(math.log10(min(values, default=1)))
    return low, max(low + _LEAST_DECADES, math.ceil(math.log10(max(values, default=1))))


def _points(known: Sequence[_Worked], across: _Axis, up: _Axis) -> Iterator[Point]:
    """The points; of those of most time, which come first, the names are written, each once."""
    named: dict[str, Point] = {}
    for one in known:
        point = Point(across.place(one.intensity), up.place(one.rate), one.what, one.title)
        if one.name not in named and len(named) < _LABELS and not any(_is_near(point, two) for two in named.values()):
            aside = -_ASIDE if point.x > WIDTH * 2 / 3 else _ASIDE
            point = named[one.name] = replace(point, label=one.name, aside=aside)
        yield point


def _is_near(one: Point, other: Point) -> bool:
    """Whether what is written beside one would lie upon what is written beside the other."""
    return abs(one.y - other.y) < _LINE and abs(one.x - other.x) < WIDTH / 4


def _roof(found: Roofline, across: _Axis, up: _Axis) -> str:
    """From the least operations per byte along the bandwidth to the peak, and on."""
    if found.ceilings is None or not found.ceilings.flops_per_s:
        return ""
    peak, moved = max(found.ceilings.flops_per_s.values()), found.ceilings.bytes_per_s
    first = max(10.0**across.low, 10.0**up.low / moved)
    corners = [(first, first * moved), (peak / moved, peak), (10.0**across.high, peak)]
    return " ".join(f"{across.place(x)},{up.place(y)}" for x, y in corners)
