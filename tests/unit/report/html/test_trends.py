"""Times of like runs, over time."""

from __future__ import annotations

from dlprof.report.html import trends
from dlprof.report.run_index import Figures, IndexedRun
from dlprof.report.run_list import StoredRun
from tests.unit.runs import MS, S


def run(
    name: str,
    day: int,
    wall_s: float,
    *arguments: str,
    backend: str = "torch",
    step_ms: int | None = None,
    code: int = 0,
) -> IndexedRun:
    """A run of train.py on a day of November."""
    created = f"2026-11-{day:02d}T10:00:00+00:00"
    listed = StoredRun(name, created, "train.py", backend, "finished", code, None, int(wall_s * S), 1)
    figures = Figures(step_ns=step_ms * MS, how="median") if step_ms else Figures(unknown="no steps")
    return IndexedRun(listed, arguments, figures)


def test_a_point_stands_where_its_time_and_its_date_are() -> None:
    """260 by 56 px with an edge of 5; the height is the time, from 0 on."""
    found = trends.of_runs([run("c", 11, 5), run("a", 1, 10), run("b", 6, 10)])

    (trend,) = found.drawn
    (curve,) = trend.curves
    assert (trend.title, trend.runs, curve.what) == ("train.py on torch", 3, "wall time")
    assert [(point.run, point.x, point.y) for point in curve.points] == [
        ("a", 5.0, 5.0),
        ("b", 130.0, 5.0),
        ("c", 255.0, 28.0),
    ]


def test_only_like_runs_stand_together() -> None:
    """Same script, same arguments, same backend; one alone is no trend."""
    one = [run("a", 1, 10), run("b", 2, 11)]
    others = [run("c", 3, 30, "--epochs", "9"), run("d", 4, 10, backend="jax")]

    found = trends.of_runs([*one, *others])

    assert [(trend.title, trend.runs) for trend in found.drawn] == [("train.py on torch", 2)]
    assert found.single == 2


def test_a_failed_run_is_in_no_trend_and_counted() -> None:
    """Its wall time says nothing of the work."""
    found = trends.of_runs([run("a", 1, 10), run("b", 2, 11), run("c", 3, 1, code=1)])

    assert [trend.runs for trend in found.drawn] == [2]
    assert found.left_out == 1


def test_the_step_is_drawn_where_two_runs_know_it() -> None:
    """A run without one is not in that curve."""
    runs = [run("a", 1, 10, step_ms=20), run("b", 2, 11), run("c", 3, 12, step_ms=30)]

    (trend,) = trends.of_runs(runs).drawn

    assert [(curve.what, [point.run for point in curve.points]) for curve in trend.curves] == [
        ("wall time", ["a", "b", "c"]),
        ("train step", ["a", "c"]),
    ]


def test_runs_of_one_moment_stand_beside_each_other() -> None:
    """Their order is that of the list."""
    (trend,) = trends.of_runs([run("a", 1, 10), run("b", 1, 11)]).drawn
    assert [point.x for point in trend.curves[0].points] == [5.0, 255.0]
