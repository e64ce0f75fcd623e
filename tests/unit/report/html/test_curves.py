"""Curves below a page's timeline."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dlprof.report.html import curves
from tests.unit.report.html.pages import column, page_of, unpacked
from tests.unit.runs import S, trained


def test_rarer_samples_are_no_holes() -> None:
    """From ten a second to one a second, as the budget asks for: only the pause of 30 s is none."""
    times = np.array([0, 100, 200, 300, 1300, 2300, 3300, 33_300, 34_300])

    drawn, values = curves._with_holes(times, np.ones(len(times)))

    assert np.flatnonzero(np.isnan(values)).tolist() == [7]
    assert len(drawn) == 10


def test_a_series_says_where_nothing_was_measured(tmp_path: Path) -> None:
    """Between 3 s and 8 s no sample was taken."""
    used = [{"time_ns": n * S, "interval_ns": S, "rss_bytes": 10**6, "cpu_pct": 50.0} for n in (1, 2, 3, 8, 9)]
    content, columns = unpacked(page_of(trained(tmp_path / "r", process_samples=used)))
    series = {one["label"]: one for one in content["timelines"][0]["series"]}["CPU of the process tree"]
    assert column(content, columns, series["time"]) == [0, S, 2 * S, 3 * S, 7 * S, 8 * S]
    values = column(content, columns, series["value"])
    assert [value for value in values if value == value] == [50.0] * 5  # noqa: PLR0124  (NaN is not itself)
    assert np.isnan(values[3])


def test_gpus_have_a_curve_for_each_figure_and_an_axis_for_each_unit(tmp_path: Path) -> None:
    """Bytes are drawn as MB."""
    used = {"gpu": 0, "power_w": 70.0, "memory_used_bytes": 5_000_000}
    run = trained(tmp_path / "r", gpu=[{"time_ns": n * S, **used} for n in (1, 2)])

    found = {curve.label: curve for curve in curves.of_run(run)}

    power, memory = found["GPU 0 power"], found["GPU 0 memory used"]
    assert (power.unit, power.axis, power.values.tolist()) == ("W", "gpu W", [70.0, 70.0])
    assert (memory.unit, memory.axis, memory.values.tolist()) == ("MB", "gpu MB", [5.0, 5.0])


def test_other_programs_have_a_curve_of_their_own(tmp_path: Path) -> None:
    """Beside that of the process tree."""
    machine = [{"time_ns": n * S, "interval_ns": S, "others_cpu_pct": 150.0} for n in (1, 2)]

    (curve,) = curves.of_run(trained(tmp_path / "r", machine=machine))

    assert (curve.label, curve.axis, curve.values.tolist()) == ("CPU of others", "cpu", [150.0, 150.0])


def test_many_values_are_drawn_as_means_of_neighbours(tmp_path: Path) -> None:
    """About 2,000 of them."""
    machine = [{"time_ns": n * S, "interval_ns": S, "others_cpu_pct": 100.0 * (n % 2)} for n in range(1, 4001)]

    (curve,) = curves.of_run(trained(tmp_path / "r", machine=machine))

    assert len(curve.values) == 2000
    assert set(curve.values.tolist()) == {50.0}


def test_a_run_without_samples_has_no_curve(tmp_path: Path) -> None:
    """Nothing is drawn for what was not measured."""
    assert list(curves.of_run(trained(tmp_path / "r"))) == []
