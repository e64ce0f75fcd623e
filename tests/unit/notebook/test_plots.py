"""Plots of runs and comparisons."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import dlprof
from dlprof.errors import UnavailableError
from dlprof.notebook.views import ComparisonView, RunView
from tests.unit import runs
from tests.unit.notebook.kernels import KERNELS
from tests.unit.runs import MS, S


def test_phases_are_drawn_in_seconds(trained: RunView, pyplot: Any) -> None:
    """Leaves only, in order of the run from the top."""
    ax = trained.plot.phases()

    assert ax.get_xlabel() == "time (s)"
    assert [label.get_text() for label in ax.get_yticklabels()] == ["fit.callbacks", "fit.steps", "teardown", "import"]
    assert [bar.get_width() for bar in ax.patches] == [1.0, 5.0, 2.0, 2.0]


def test_steps_are_drawn_in_milliseconds_and_compiled_ones_marked(tmp_path: Path, pyplot: Any) -> None:
    """Points over the time of the run."""
    rows = runs.steps(10)
    rows[0].update(compiled=True, dur_ns=900 * MS)
    runs.trained(tmp_path / "a", steps=rows)
    ax = dlprof.open(tmp_path / "a").plot.steps()

    assert (ax.get_xlabel(), ax.get_ylabel()) == ("time in the run (s)", "time of a step (ms)")
    assert [line.get_label() for line in ax.lines] == ["train", "train, compiled"]
    assert ax.lines[1].get_ydata().tolist() == [900.0]


def test_cores_are_drawn_in_percent(tmp_path: Path, pyplot: Any) -> None:
    """One line per core."""
    rows = [
        {"time_ns": n * S, "interval_ns": S, "core": core, "busy_pct": 50.0 * core} for n in (1, 2) for core in (0, 1)
    ]
    runs.trained(tmp_path / "a", cores=rows)
    ax = dlprof.open(tmp_path / "a").plot.cores()

    assert ax.get_ylabel() == "busy (%)"
    assert [line.get_ydata().tolist() for line in ax.lines] == [[0.0, 0.0], [50.0, 50.0]]


def test_kernels_are_drawn_with_the_most_costly_on_top(tmp_path: Path, pyplot: Any) -> None:
    """What belongs to no layer is said so, and a dollar sign is no formula."""
    kernels = [{**KERNELS[0], "layer": "$dense$"}, KERNELS[1]]
    runs.trained(tmp_path / "a", **runs.window(kernels))
    ax = dlprof.open(tmp_path / "a").plot.kernels()

    assert [label.get_text() for label in ax.get_yticklabels()] == ["(none)", r"\$dense\$"]
    assert [bar.get_width() for bar in ax.patches] == [10.0, 30.0]
    assert ax.get_xlabel() == "time in the traced windows (ms)"


def test_kernels_outside_of_steps_are_drawn_by_step(tmp_path: Path, pyplot: Any) -> None:
    """They have no number."""
    tables = runs.window(KERNELS, count=2)
    for event in tables["kernel_events"][:2]:
        event["step"] = None
    runs.trained(tmp_path / "a", **tables)
    ax = dlprof.open(tmp_path / "a").plot.kernels("step")

    assert sorted(label.get_text() for label in ax.get_yticklabels()) == ["(none)", "1"]


def test_a_run_of_nothing_is_drawn_as_nothing(tmp_path: Path, pyplot: Any) -> None:
    """Empty Axes with their labels, and no error."""
    runs.make(tmp_path / "a")
    plot = dlprof.open(tmp_path / "a").plot

    assert [len(draw().patches) for draw in (plot.phases, plot.steps, plot.cores, plot.kernels)] == [0, 0, 0, 0]


def test_the_waterfall_leads_from_b_to_a(pair: ComparisonView, pyplot: Any) -> None:
    """From 6 s by +4 s to 10 s, on the Axes that are given."""
    _, given = pyplot.subplots()
    ax = pair.plot.waterfall(top=1, ax=given)

    assert ax is given
    assert [(bar.get_x(), bar.get_width()) for bar in ax.patches] == [(0, 6.0), (6.0, 4.0), (0, 10.0)]
    assert ax.get_xlabel() == "wall time (s)"


def test_without_matplotlib_a_plot_says_what_to_install(trained: RunView, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line, with the command."""
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib", None)

    with pytest.raises(UnavailableError, match=r"matplotlib is not installed\."):
        trained.plot.cores()


def test_what_is_beyond_the_top_is_one_part_of_the_waterfall(pair: ComparisonView, pyplot: Any) -> None:
    """So that it leads to A all the same."""
    ax = pair.plot.waterfall(top=0)

    assert [label.get_text() for label in ax.get_yticklabels()] == ["b", "all else", "a"]
    assert [bar.get_width() for bar in ax.patches] == [6.0, 4.0, 10.0]
