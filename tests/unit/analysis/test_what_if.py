"""Figures of runs, and what a change did to them."""

from __future__ import annotations

from pathlib import Path

from dlprof.analysis import what_if
from dlprof.analysis.forecast import Forecast
from dlprof.analysis.what_if import Figures, Measure
from tests.unit.runs import S
from tests.unit.trials.diagnosed import timed

NOTHING = Figures(None, None, None, None, None, None)


def figures(run_ns: float, loss: float | None = None) -> Figures:
    """Of a run that lasted so long."""
    return Figures(run_ns, None, None, None, None, loss)


def test_figures_of_a_run(tmp_path: Path) -> None:
    """8 s and the 2 s that it took to start; 6 s of fit, steps of 20 ms of 128 rows, a loss of 0.5; no memory."""
    found = what_if.figures_of(timed(tmp_path / "r", 2))

    assert (found.run_ns, found.training_ns, found.step_ns, found.loss) == (10 * S, 6 * S, 20_000_000, 0.5)
    assert found.peak_bytes is None


def test_a_figure_that_one_run_lacks_has_no_change() -> None:
    """Of a mean of others nothing is known."""
    found = what_if.measure("loss", [figures(1, 0.5), figures(1)], [figures(1, 0.25)])

    assert found == Measure("loss", None, 0.25, None, None)


def test_one_run_of_each_has_no_interval() -> None:
    """Nothing says how far two would be apart."""
    found = what_if.measure("run_ns", [figures(10.0)], [figures(7.0)])

    assert found == Measure("run_ns", 10.0, 7.0, -3.0, None)


def test_a_run_that_told_nothing_has_no_figures() -> None:
    """None, and not 0."""
    assert what_if.measure("step_ns", [NOTHING], [NOTHING]) == Measure("step_ns", None, None, None, None)


def test_a_forecast_is_of_what_the_figure_was_in_these_runs() -> None:
    """A step of 50 % more; of memory nothing is forecast."""
    expected = Forecast(step=1.5, sample=0.7, training_ns=-5.0)

    found = [
        what_if.with_forecast(Measure(name, 10.0, 13.0, 3.0, None), expected)
        for name in ("step_ns", "run_ns", "peak_bytes")
    ]

    assert [one.expected for one in found] == [5.0, -5.0, None]
