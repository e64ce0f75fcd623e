"""Steps of each loop for a chart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dlprof.analysis.steps import StepSummary
from dlprof.schema.vocabulary import RunState, StepTime
from dlprof.store.run import Run

Interval = tuple[int, int]
"""Begin and end (ns)."""


def of_run(run: Run, loops: Sequence[StepSummary]) -> list[dict[str, Any]]:
    """Steps of each loop, with the wait for their batch; what the page's script draws.

    The chart's median is that of the steps as they are drawn: none where they are only dispatches.

    Args:
        run: The run.
        loops: As the report has them.
    """
    medians_ns: dict[str, int | None] = {loop.loop: loop.median_ns for loop in loops if loop.how is StepTime.MEASURED}
    traced = [] if run.manifest.state == RunState.IMPORTED else run.rows("kernel_windows")  # there they are all of it
    windows = [(row["start_ns"], row["start_ns"] + row["dur_ns"]) for row in traced]
    by_loop: dict[str, list[dict[str, Any]]] = {}
    for row in sorted(run.rows("steps"), key=lambda row: row["start_ns"]):
        by_loop.setdefault(row["loop"], []).append(row)
    return [_loop(loop, rows, medians_ns.get(loop), windows) for loop, rows in by_loop.items()]


def _loop(
    loop: str, rows: Sequence[Mapping[str, Any]], median_ns: int | None, windows: Sequence[Interval]
) -> dict[str, Any]:
    counts = np.array([row["count"] for row in rows])
    epochs = [(row["loop_id"], row["epoch"]) for row in rows]
    inside = [[n for n, row in enumerate(rows) if begin <= row["start_ns"] < end] for begin, end in windows]
    return {
        "loop": loop,
        "median_ns": median_ns,
        # Of rows that stand for several steps this is the first one's number.
        "number": (np.cumsum(counts) - counts + 1).tolist() if (counts > 1).any() else None,
        "step_ms": [round((row["dur_ns"] + (row["input_ns"] or 0)) / row["count"] / 1e6, 4) for row in rows],
        "compiled": [n for n, row in enumerate(rows) if row["compiled"]],
        "epoch_starts": [n for n in range(len(rows)) if n == 0 or epochs[n] != epochs[n - 1]],
        "windows": [[numbers[0], numbers[-1]] for numbers in inside if numbers],
    }
