"""Wall and step times of the runs of one script with the same arguments on one backend, over time: small pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from dlprof.report import run_index
from dlprof.report.run_index import IndexedRun

WIDTH, HEIGHT = 260, 56
"""Of a picture (px)."""
_EDGE = 5
_MOST = 24
"""Groups that are drawn."""


@dataclass(frozen=True)
class Point:
    """A run in a picture.

    Attributes:
        x, y: Where it stands (px from the upper left corner).
        run: Its name.
        created: When it was made, as its manifest has it.
        ns: The time that is drawn.
    """

    x: float
    y: float
    run: str
    created: str
    ns: int


@dataclass(frozen=True)
class Curve:
    """One time of a group's runs; the oldest first.

    Attributes:
        what: Which time.
        points: At least two.
        how: How the times were got, where that is to be said.
    """

    what: str
    points: tuple[Point, ...]
    how: str = ""

    @property
    def least_ns(self) -> int:
        """The shortest time: the lower edge is 0, so that heights can be compared."""
        return min(point.ns for point in self.points)

    @property
    def most_ns(self) -> int:
        """The longest time, at the upper edge."""
        return max(point.ns for point in self.points)

    @property
    def line(self) -> str:
        """The points of a polyline in SVG."""
        return " ".join(f"{point.x},{point.y}" for point in self.points)


@dataclass(frozen=True)
class Trend:
    """Runs that did the same, as far as their command tells.

    Attributes:
        title: What was run, and on what.
        runs: How many.
        curves: Of the wall time, and of the step, where two runs know it.
    """

    title: str
    runs: int
    curves: tuple[Curve, ...]


@dataclass(frozen=True)
class Trends:
    """All that a folder has, those of most runs first.

    Attributes:
        drawn: Those that are drawn.
        more: How many others there are.
        single: Runs that have no second one like them.
        left_out: Runs that failed, were interrupted or go on, and are in no trend.
    """

    drawn: tuple[Trend, ...]
    more: int
    single: int
    left_out: int


def of_runs(runs: Sequence[IndexedRun]) -> Trends:
    """The trends of some runs."""
    whole = run_index.finished(runs)
    groups: dict[tuple[str, ...], list[IndexedRun]] = {}
    for run in sorted(whole, key=_when):
        groups.setdefault(_alike(run), []).append(run)
    found = [trend for group in groups.values() if len(group) > 1 and (trend := _trend(group)).curves]
    order = sorted(found, key=lambda trend: -trend.runs)
    single = sum(1 for group in groups.values() if len(group) == 1)
    return Trends(tuple(order[:_MOST]), max(0, len(order) - _MOST), single, len(runs) - len(whole))


def _alike(run: IndexedRun) -> tuple[str, ...]:
    return run.listed.script or "", run.listed.ran_on or "", *run.arguments


def _when(run: IndexedRun) -> datetime:
    try:
        made = datetime.fromisoformat(run.listed.created)
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)
    return made if made.tzinfo else made.replace(tzinfo=UTC)


def _trend(group: Sequence[IndexedRun]) -> Trend:
    first = group[0]
    what = " ".join([first.listed.script or "imported traces", *first.arguments])
    title = f"{what} on {first.listed.ran_on}" if first.listed.ran_on else what
    hows = {run.figures.how for run in group if run.figures.step_ns is not None}
    wall = _curve("wall time", group, lambda run: run.listed.wall_ns)
    step = _curve("train step", group, lambda run: run.figures.step_ns, ", ".join(sorted(hows)))
    return Trend(title, len(group), tuple(curve for curve in (wall, step) if curve is not None))


def _curve(
    what: str, group: Sequence[IndexedRun], time_of: Callable[[IndexedRun], int | None], how: str = ""
) -> Curve | None:
    """The times that are known; None: fewer than two are."""
    known = [(run, ns) for run in group if (ns := time_of(run)) is not None]
    if len(known) < 2:
        return None
    begin, end = _when(known[0][0]), _when(known[-1][0])
    span, most = (end - begin).total_seconds(), max(1, *(ns for _, ns in known))
    points = []
    for at, (run, ns) in enumerate(known):
        share = (_when(run) - begin).total_seconds() / span if span > 0 else at / (len(known) - 1)
        points.append(
            Point(_place(share, WIDTH), _place(1 - ns / most, HEIGHT), run.listed.run, run.listed.created, ns)
        )
    return Curve(what, tuple(points), how)


def _place(share: float, length: int) -> float:
    return round(_EDGE + share * (length - 2 * _EDGE), 1)
