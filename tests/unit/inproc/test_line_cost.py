"""What counting a line costs."""

from __future__ import annotations

import line_profiler
from dlprof_probes.inproc import line_cost


def test_the_loop_that_is_counted_in_each_window_has_the_lines_that_are_taken_off_again() -> None:
    """Five were left in before, in each window: as if the program had run them."""
    profiler = line_profiler.LineProfiler()
    cost = line_cost.measured(line_profiler.LineProfiler)
    cost.bare()
    cost.count_by(profiler)
    profiler.enable()
    cost.again()
    profiler.disable()

    counted = profiler.get_stats().timings.values()
    assert sum(hits for lines in counted for _line, hits, _ticks in lines) == line_cost.LINES
