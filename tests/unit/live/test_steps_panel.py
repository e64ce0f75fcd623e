"""The strip of recent steps, their figures, and the metrics."""

from __future__ import annotations

from dlprof.live.model import LiveRun
from dlprof.live.records import Span, Step
from dlprof.live.rows import Signs, text
from dlprof.live.steps_panel import columns, steps_panel
from tests.unit.live.live_runs import MAIN, MS, started, step, training

SIGNS = Signs()


def panel(live: LiveRun, now: int = 5_500, width: int = 119) -> list[str]:
    """Its rows at `now` (ms), as text."""
    return [row.rstrip() for row in text(steps_panel(live, now * MS, SIGNS, width))]


def test_the_panel_has_place_rate_strip_figures_and_metrics() -> None:
    """One row each; the last value of a metric with the epoch that it is of."""
    title, _, figures, metrics = panel(training())

    assert title.startswith("─ train steps · epoch 2/3 · step 40/64 · 167 per second ─")
    assert figures == " median 5.00 ms   last 5.00 ms   slowest of 40: 45.0 ms (9.0 x)"
    assert metrics == " loss 0.1235   accuracy 0.9 (epoch 1)"


def test_the_strip_has_its_outlier() -> None:
    """One column stands at the top, the others at the median."""
    assert panel(training())[1] == " " + "▃" * 20 + "█" + "▃" * 19


def test_before_the_first_step_there_is_no_figure() -> None:
    """Nor a zero."""
    assert panel(started(), width=20) == ["─ steps ────────────", " no step yet", "", " Keras has given no metrics yet"]


def test_a_first_step_is_not_shown() -> None:
    """It compiles: thousands of times the others."""
    live = started()
    live.begin(Span(2, "fit", "fit", MAIN), 10 * MS)
    live.step(step(20, 9_000, first=True))

    assert panel(live)[1:3] == [" the first step is not shown: it compiles", ""]


def test_slow_loops_tell_a_decimal_of_their_rate() -> None:
    """Below 100 a second."""
    live = started()
    live.begin(Span(2, "fit", "fit", MAIN), 10 * MS)
    live.step(Step(MAIN, 2, 0, 0, 1, 100 * MS, 500 * MS, 0, 0, 0, 0, False))

    assert "2.5 per second" in panel(live)[0]


def test_a_loop_that_makes_no_step_is_said_to_stand_still() -> None:
    """Five medians and a second without one; not when the loop is over."""
    live = training()
    assert panel(live, now=8_995)[2].endswith("   no step for 3.60 s")
    assert "no step for" not in panel(live, now=5_800)[2]

    live.end(3, 6_000 * MS)
    assert "no step for" not in panel(live, now=8_995)[2]


def test_columns_of_the_strip_hold_the_slowest_of_their_steps() -> None:
    """And keep their steps together as more come."""
    times = [float(n % 7) for n in range(512)]

    assert columns(times, 512, 256) == [max(times[n], times[n + 1]) for n in range(0, 512, 2)]
    assert columns([1.0, 5.0, 2.0], 3, 2) == [5.0, 2.0]
    assert columns([5.0, 2.0, 3.0], 4, 2) == [5.0, 3.0]
    assert columns([], 0, 80) == []
    assert len(columns(times, 513, 100)) <= 100
