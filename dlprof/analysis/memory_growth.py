"""Whether memory grows with the steps of a training: a robust slope, its interval, and what is never given back.

The traced process's own memory is looked at, without pages of files, and where that does not grow, the same of all
processes below it together. The first quarter of the steps is left out, and
what was compiled in the first half: allocators and caches fill there. The rest is cut into blocks of equally many
steps. The slope is Theil's and Sen's over the blocks' medians; its interval comes from drawing the residuals in runs
of neighbours again and again, so that a sawtooth counts as one thing and not as many. What is kept is told by the
lower envelope: the least that memory comes down to from some moment on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dlprof.analysis.columns import Floats, Integers, integers, steps_of, truths
from dlprof.analysis.memory_series import MemorySeries
from dlprof.schema.vocabulary import Loop
from dlprof.store.run import Run

HOW = (
    "slope (Theil-Sen) of the traced process's memory (or of those below it) without file pages over the training's "
    "steps, their first quarter left out; 95 % interval by block bootstrap"
)
_WARM_UP = 0.25
_BLOCKS = 24
_LEAST_SAMPLES, _LEAST_STEPS, _LEAST_NS = 16, 24, 1_500_000_000
_MOST_STEPS = 100_000
"""Of more steps not every one's end is kept: memory is sampled ten times a second at most."""
_DRAWS = 400
_SEED = 1
_LEAST_BYTES, _LEAST_SHARE = 16 << 20, 0.03
"""Less than this, and than this share of what there is, is no growth worth a word."""
_THIRDS = (0.05, 0.05, 0.15)
"""Each third of the steps has at least so much of the growth: a cache that ends has not."""


class NotMeasured(Exception):  # noqa: N818  (an answer, no error)
    """Growth cannot be told; the text says why, as a clause."""


@dataclass(frozen=True)
class Growth:
    """How memory went with the steps.

    Attributes:
        bytes_per_step: The slope.
        ci: Its 95 % interval.
        steps: Steps that were looked at, without those of the warm-up.
        begin_ns, end_ns: From when to when (ns).
        begin_bytes, end_bytes: Medians of the first and last block (bytes).
        kept_bytes: By how much the lower envelope grew (bytes): what was never given back while it trained.
        is_steady: Whether each third of the steps has its part of that.
        is_below: Whether it is the memory of the processes below, together, and not that of the traced one.
    """

    bytes_per_step: float
    ci: tuple[float, float]
    steps: int
    begin_ns: int
    end_ns: int
    begin_bytes: int
    end_bytes: int
    kept_bytes: int
    is_steady: bool
    is_below: bool = False

    @property
    def is_growing(self) -> bool:
        """Whether memory grows beyond doubt, from the beginning to the end, and by what is worth a word."""
        least = max(_LEAST_BYTES, _LEAST_SHARE * self.begin_bytes)
        return self.ci[0] > 0 and self.is_steady and self.kept_bytes >= least


def verdict(is_growing: bool | None, ci: tuple[float, float]) -> str:
    """What a slope with this interval amounts to, in a clause."""
    if is_growing:
        return "it grows"
    return "too little to matter, or not all the time" if ci[0] > 0 else "no growth beyond doubt"


def of_run(run: Run, series: MemorySeries) -> Growth:
    """The growth of a run's memory over the steps of its training: of the traced process, or of those below it.

    Those below are told of where they grow, and the traced one does not.

    Raises:
        NotMeasured: It has too few steps, or too few samples.
    """
    done_ns, done = _steps(run)
    inside = (series.time_ns >= done_ns[0]) & (series.time_ns <= done_ns[-1])
    time, own, below = series.time_ns[inside], series.own_bytes[inside], series.below_bytes[inside]
    steps = np.interp(time, done_ns, done)
    if len(time) < _LEAST_SAMPLES or steps[-1] - steps[0] < _LEAST_STEPS or time[-1] - time[0] < _LEAST_NS:
        raise NotMeasured(
            "fewer than 16 samples or 24 steps, or less than 1.5 s of training, are left behind the warm-up of memory"
        )
    found = over_steps(time, steps, own.astype(np.float64))
    if not found.is_growing and below.any():
        others = replace(over_steps(time, steps, below.astype(np.float64)), is_below=True)
        return others if others.is_growing else found
    return found


def trained(run: Run) -> tuple[int, int]:
    """When the steps behind the warm-up began and ended (ns).

    Raises:
        NotMeasured: The run has no steps of a training.
    """
    done_ns, _ = _steps(run)
    return int(done_ns[0]), int(done_ns[-1])


def _steps(run: Run) -> tuple[Integers, Integers]:
    """When steps behind the warm-up were done (ns), and how many were done then."""
    columns = ("loop", "start_ns", "dur_ns", "count", "compiled")
    stride, before, parts, compiled = 1 + run.count("steps") // _MOST_STEPS, 0, [], [0]
    for piece in run.pieces("steps", columns):
        rows = steps_of(piece, Loop.TRAIN).sort_by("start_ns")
        if rows.num_rows:
            done = before + np.cumsum(integers(rows["count"], 1))
            before = int(done[-1])
            compiled += done[truths(rows["compiled"])].tolist()
            ends = integers(rows["start_ns"]) + integers(rows["dur_ns"])
            parts.append((ends[-1::-stride][::-1], done[-1::-stride][::-1]))
    if not parts:
        raise NotMeasured("the run has no steps of a training")
    done_ns, done = (np.concatenate(one) for one in zip(*parts, strict=True))
    kept = done >= max([_WARM_UP * before, *(one for one in compiled if one < before / 2)])
    return np.maximum.accumulate(done_ns[kept]), done[kept]


def over_steps(time: Integers, steps: Floats, own: Floats) -> Growth:
    """The growth of some samples.

    Args:
        time: When they were taken (ns), in order.
        steps: How many steps were done then.
        own: Memory (bytes).
    """
    x, y = _blocks(steps, own)
    slope = _slope(x, y)
    envelope = np.minimum.accumulate(own[::-1])[::-1]
    kept = envelope[-1] - envelope[0]
    edges = np.interp(np.linspace(steps[0], steps[-1], 4), steps, envelope)
    return Growth(
        bytes_per_step=slope,
        ci=_interval(x, y, slope),
        steps=int(steps[-1] - steps[0]),
        begin_ns=int(time[0]),
        end_ns=int(time[-1]),
        begin_bytes=int(y[0]),
        end_bytes=int(y[-1]),
        kept_bytes=int(kept),
        is_steady=bool(kept > 0 and (np.diff(edges) >= np.array(_THIRDS) * kept).all()),
    )


def _blocks(steps: Floats, own: Floats) -> tuple[Floats, Floats]:
    """Middle and median memory of blocks of equally many samples."""
    parts = np.array_split(np.arange(len(steps)), min(_BLOCKS, len(steps)))
    return np.array([steps[part].mean() for part in parts]), np.array([np.median(own[part]) for part in parts])


def _slope(x: Floats, y: Floats) -> float:
    """The median of the slopes between all pairs."""
    low, high = np.triu_indices(len(x), 1)
    run = x[high] - x[low]
    rises = run > 0
    return float(np.median((y[high] - y[low])[rises] / run[rises])) if rises.any() else 0.0


def _interval(x: Floats, y: Floats, slope: float) -> tuple[float, float]:
    line = slope * x
    rest = y - line - np.median(y - line)
    length = max(2, round(len(x) ** 0.5))
    draw = np.random.default_rng(_SEED)
    begins = draw.integers(0, len(x), (_DRAWS, -(-len(x) // length)))
    places = (begins[:, :, None] + np.arange(length)).reshape(_DRAWS, -1)[:, : len(x)] % len(x)
    slopes = [_slope(x, line + rest[place]) for place in places]
    low, high = np.percentile(slopes, (2.5, 97.5))
    return float(low), float(high)
