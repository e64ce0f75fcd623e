"""When kernels were traced."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dlprof.analysis import tracing_times
from tests.unit.runs import S, span, trained


def test_from_switching_the_tracer_on_to_having_switched_it_off(tmp_path: Path) -> None:
    """The second window was never ended."""
    spans = [
        span("dlprof", 2, 2.1, name="start kernel tracing"),
        span("dlprof", 3, 3.5, name="stop kernel tracing"),
        span("dlprof", 4, 4.2, name="finish"),
        span("dlprof", 6, 6.1, name="start kernel tracing"),
    ]
    found = tracing_times.of_run(trained(tmp_path / "r", spans=spans))

    moments = np.array([1.9, 2.0, 3.4, 3.6, 4.1, 7.0]) * S
    assert found.at(moments.astype(np.int64)).tolist() == [False, True, True, False, False, True]


def test_without_windows_nothing_was_traced(tmp_path: Path) -> None:
    """At no moment."""
    assert tracing_times.of_run(trained(tmp_path / "r")).at(np.array([S])).tolist() == [False]
