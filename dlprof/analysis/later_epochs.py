"""Whether the steps around the kernel window were slower than those of later epochs, as before a cache is filled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dlprof.analysis import kernel_window
from dlprof.analysis.columns import integers, steps_of, truths, under_tracer
from dlprof.schema.vocabulary import Loop
from dlprof.store.run import Run

_COLUMNS = ("loop", "epoch", "count", "start_ns", "dur_ns", "input_ns", "compiled", "first")
_FASTER = 1.5
"""Later steps that are so many times as fast are others than those of the window."""
_STEPS = 5
"""Plain steps that are needed on both sides."""


@dataclass(frozen=True)
class SlowEpoch:
    """The epoch of the kernel window beside those behind it; plain steps, with the wait for their batches.

    Attributes:
        epoch: Its number, from 0.
        step_ns: Median of its steps (ns).
        later_ns: Median of the steps of all later epochs (ns).
    """

    epoch: int
    step_ns: int
    later_ns: int


def of_window(run: Run) -> SlowEpoch | None:
    """The epoch of the window of a training; None: later ones are not much faster, or single steps say nothing."""
    window = kernel_window.main_window(run)
    if window is None or window.loop is not Loop.TRAIN or run.manifest.backend.asynchronous_dispatch:
        return None
    steps = steps_of(run.table("steps", _COLUMNS), Loop.TRAIN)
    inside = window.rows_in(steps)["epoch"].drop_null()
    if not len(inside):
        return None
    epoch = int(inside[0].as_py())
    plain = ~(truths(steps["compiled"]) | truths(steps["first"]) | under_tracer(steps, run.table("kernel_windows")))
    epochs = integers(steps["epoch"].fill_null(-1))
    taken = (integers(steps["dur_ns"]) + integers(steps["input_ns"].fill_null(0))) / np.maximum(
        1, integers(steps["count"])
    )
    mine, later = taken[plain & (epochs == epoch)], taken[plain & (epochs > epoch)]
    if min(len(mine), len(later)) < _STEPS:
        return None
    found = SlowEpoch(epoch, int(np.median(mine)), int(np.median(later)))
    return found if found.step_ns >= _FASTER * found.later_ns else None
