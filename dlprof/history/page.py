"""A history as a page: each measure over the commits, and what changed where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dlprof.bench.tables import number
from dlprof.history.report import COLUMNS, ChangeReport, HistoryReport, SeriesReport
from dlprof.history.tables import lead, of_others
from dlprof.report.html import page

WIDTH, HEIGHT = 720, 150
"""Of a picture (px)."""
_EDGE = 10


@dataclass(frozen=True)
class Dot:
    """A measure at a commit.

    Attributes:
        x, y: Where its median stands (px from the upper left corner).
        low, high: Where the least and the most of its repeats stand (px).
        title: The commit, its subject and its values.
    """

    x: float
    y: float
    low: float
    high: float
    title: str


@dataclass(frozen=True)
class Mark:
    """A change of the level.

    Attributes:
        x: Where it stands (px).
        commit: The commit, shortened.
        share: By how much it grew, as text.
        slower: Whether that is more time.
    """

    x: float
    commit: str
    share: str
    slower: bool


@dataclass(frozen=True)
class Curve:
    """A measure of a work over the commits.

    Attributes:
        measure, meaning: Which, and with its unit.
        dots: Of the commits that were measured, oldest first.
        marks: Of its changes.
        most: The largest value, at the upper edge; the lower edge is 0.
        last: The newest median.
    """

    measure: str
    meaning: str
    dots: tuple[Dot, ...]
    marks: tuple[Mark, ...]
    most: str
    last: str

    @property
    def line(self) -> str:
        """The points of a polyline in SVG."""
        return " ".join(f"{dot.x},{dot.y}" for dot in self.dots)


@dataclass(frozen=True)
class Work:
    """The measures of a work on a backend that the text's table has too, and others that changed."""

    title: str
    curves: tuple[Curve, ...]


def make(found: HistoryReport) -> str:
    """The page of a history."""
    titles = dict.fromkeys((one.work, one.backend) for one in found.series)
    return page.without_charts(
        "history.html",
        title=f"History of {found.name}",
        found=found,
        works=[_work(found, work, backend) for work, backend in titles],
        rows=_rows(found),
        columns=[name for name in COLUMNS if any(one.measure == name for one in found.series)],
        size_px=(WIDTH, HEIGHT),
        edge_px=_EDGE,
        number=number,
        lead=lead,
        others=list(of_others(found)),
        machine={"history.json": found},
    )


def _work(found: HistoryReport, work: str, backend: str) -> Work:
    own = [one for one in found.series if (one.work, one.backend) == (work, backend)]
    changes = [one for one in found.changes if (one.work, one.backend) == (work, backend)]
    changed = {level.measure for change in changes for level in change.measures}
    shown = [one for one in own if one.measure in COLUMNS or one.measure in changed]
    return Work(f"{work} on {backend}", tuple(_curve(found, one, changes) for one in shown))


def _curve(found: HistoryReport, series: SeriesReport, changes: list[ChangeReport]) -> Curve:
    most = max(max(point.values) for point in series.points) or 1.0
    places = _places(found)
    told = {one.commit: f"{one.commit[:12]} {one.date[:10]} {one.subject}" for one in found.commits}
    dots = tuple(
        Dot(
            places[point.commit],
            _height(point.median, most),
            _height(min(point.values), most),
            _height(max(point.values), most),
            f"{told[point.commit]}: {number(point.median)} of {', '.join(map(number, point.values))}",
        )
        for point in series.points
    )
    marks = tuple(
        Mark(places[change.commit], change.commit[:12], f"{100 * level.share:+.1f} %", level.share > 0)
        for change in changes
        for level in change.measures
        if level.measure == series.measure
    )
    return Curve(series.measure, series.meaning, dots, marks, number(most), number(series.points[-1].median))


def _places(found: HistoryReport) -> Mapping[str, float]:
    """Where each commit of the range stands, measured or not: gaps are seen as such."""
    room, last = WIDTH - 2 * _EDGE, max(1, len(found.commits) - 1)
    return {one.commit: round(_EDGE + room * at / last, 1) for at, one in enumerate(found.commits)}


def _height(value: float, most: float) -> float:
    return round(HEIGHT - _EDGE - (HEIGHT - 2 * _EDGE) * value / most, 1)


def _rows(found: HistoryReport) -> list[dict[str, object]]:
    """A row for each measured commit of each work: medians by measure."""
    medians: dict[tuple[str, str, str], dict[str, float]] = {}
    for one in found.series:
        for point in one.points:
            medians.setdefault((one.work, one.backend, point.commit), {})[one.measure] = point.median
    commits = {one.commit: (at, one) for at, one in enumerate(found.commits)}
    order = sorted(medians, key=lambda key: (key[0], key[1], commits[key[2]][0]))
    return [
        {"work": work, "backend": backend, "commit": commits[sha][1], "medians": medians[work, backend, sha]}
        for work, backend, sha in order
    ]
