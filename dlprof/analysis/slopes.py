"""How something goes with the steps of a training: a robust slope, its interval, and what never comes back.

The first quarter of the steps is left out, and what was compiled in the first half: allocators and caches fill there.
The rest is cut into blocks of equally many samples. The slope is Theil's and Sen's over the blocks' medians; its
interval comes from drawing the residuals in runs of neighbours again and again, so that a sawtooth counts as one thing
and not as many. What is kept is told by the lower envelope: the least that it comes down to from some moment on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dlprof.analysis.columns import Floats, Integers, integers, steps_of, truths
from dlprof.schema.vocabulary import Loop
from dlprof.store.run import Run

_WARM_UP = 0.25
_BLOCKS = 24
_MOST_STEPS = 100_000
"""Of more steps not every one's end is kept: nothing is sampled more than ten times a second."""
_DRAWS = 400
_SEED = 1
_NEAR = 0.1
"""Share of the rise that no sample is farther from the line where there are few of them."""
_MORE = "; --cores-hz 10, or a machine with a core to spare, gives more"
_THIRDS = (0.05, 0.05, 0.15)
"""Each third of the steps has at least so much of the growth: a cache that ends has not."""


class NotMeasured(Exception):  # noqa: N818  (an answer, no error)
    """A slope cannot be told; the text says why, as a clause."""


@dataclass(frozen=True)
class Slope:
    """How samples went with the steps, in their own unit.

    Attributes:
        per_step: The slope.
        ci: Its 95 % interval.
        steps: Steps between the first and the last sample.
        begin_ns, end_ns: When these were taken (ns).
        first, last: Medians of the first and last block.
        kept: By how much the lower envelope grew: what never came back.
        is_steady: Whether each third of the steps has its part of that.
        farthest: How far the farthest block's median is from the line.
        samples: How many it is made of.
    """

    per_step: float
    ci: tuple[float, float]
    steps: int
    begin_ns: int
    end_ns: int
    first: float
    last: float
    kept: float
    is_steady: bool
    farthest: float
    samples: int

    def is_plain(self, least: float) -> bool:
        """Whether few samples are enough to tell that it rises: by that much, and all of them near one line."""
        rise = self.last - self.first
        return self.grows_by(least) and rise >= least and self.farthest <= _NEAR * rise

    def grows_by(self, least: float) -> bool:
        """Whether it grows beyond doubt, from the beginning to the end, and by at least so much."""
        return self.ci[0] > 0 and self.is_steady and self.kept >= least


@dataclass(frozen=True)
class Steps:
    """The steps of a training behind its warm-up: when some were done (ns), in order, and how many were done then."""

    time_ns: Integers
    done: Integers

    def slope(self, time_ns: Integers, values: Floats, least: Least) -> Slope:
        """The slope of samples over these steps.

        Args:
            time_ns: When they were taken (ns), in order.
            values: The samples.
            least: What it takes to tell one.

        Raises:
            NotMeasured: There are fewer of them than that, or fewer steps, or it was too short.
        """
        inside = (time_ns >= self.time_ns[0]) & (time_ns <= self.time_ns[-1])
        time = time_ns[inside]
        steps = np.interp(time, self.time_ns, self.done)
        had = _Had(len(time), int(steps[-1] - steps[0]), int(time[-1] - time[0])) if len(time) else _Had(0, 0, 0)
        if had.steps < least.steps or had.ns < least.ns or had.samples < min(least.samples, least.few or least.samples):
            raise NotMeasured(least.why(had))
        found = over_steps(time, steps, values[inside])
        if had.samples < least.samples and not found.is_plain(least.few_rise):
            raise NotMeasured(least.why(had))
        return found


class _Had(NamedTuple):
    """What there was to tell a slope from: samples, steps between them, time between them (ns)."""

    samples: int
    steps: int
    ns: int


@dataclass(frozen=True)
class Least:
    """What it takes to tell a slope.

    Attributes:
        samples: So many.
        steps: Between them.
        ns: Between them (ns).
        clause: What is said otherwise; empty: which of these was not met, with figures.
        few: So many samples do where what they tell is plain (`Slope.is_plain`); None: they never do.
        few_rise: By so much it rises then, at least.
    """

    samples: int
    steps: int
    ns: int
    clause: str = ""
    few: int | None = None
    few_rise: float = 0.0

    def why(self, had: _Had) -> str:
        """Why a slope is not told, as a clause."""
        if self.clause:
            return self.clause
        lacking = (
            f"fewer than {self.samples} samples ({had.samples})" if had.samples < self.samples else "",
            f"fewer than {self.steps} steps ({had.steps})" if had.steps < self.steps else "",
            f"less than {self.ns / 1e9:.1f} s ({had.ns / 1e9:.1f} s)" if had.ns < self.ns else "",
        )
        told = f"{' and '.join(one for one in lacking if one)} are left behind the warm-up"
        is_long = had.steps >= self.steps and had.ns >= self.ns
        return f"{told}, over {had.steps:,} steps in {had.ns / 1e9:.1f} s{_MORE if is_long else ''}"


def steps_of_run(run: Run) -> Steps:
    """The steps of a run's training.

    Raises:
        NotMeasured: It has none.
    """
    found = run.once("steps behind the warm-up", _behind_warm_up)
    if found is None:
        raise NotMeasured("the run has no steps of a training")
    return found


def _behind_warm_up(run: Run) -> Steps | None:
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
        return None
    done_ns, done = (np.concatenate(one) for one in zip(*parts, strict=True))
    kept = done >= max([_WARM_UP * before, *(one for one in compiled if one < before / 2)])
    return Steps(np.maximum.accumulate(done_ns[kept]), done[kept])


def over_steps(time: Integers, steps: Floats, values: Floats) -> Slope:
    """The slope of samples.

    Args:
        time: When they were taken (ns), in order.
        steps: How many steps were done then.
        values: The samples.
    """
    x, y = _blocks(steps, values)
    slope = float(_slopes(x, y[None, :])[0])
    envelope = np.minimum.accumulate(values[::-1])[::-1]
    kept = envelope[-1] - envelope[0]
    edges = np.interp(np.linspace(steps[0], steps[-1], 4), steps, envelope)
    return Slope(
        per_step=slope,
        ci=_interval(x, y, slope),
        steps=int(steps[-1] - steps[0]),
        begin_ns=int(time[0]),
        end_ns=int(time[-1]),
        first=float(y[0]),
        last=float(y[-1]),
        kept=float(kept),
        is_steady=bool(kept > 0 and (np.diff(edges) >= np.array(_THIRDS) * kept).all()),
        farthest=float(np.abs(_rest(x, y, slope)).max()),
        samples=len(time),
    )


def _blocks(steps: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Middle and median of blocks of equally many samples."""
    parts = np.array_split(np.arange(len(steps)), min(_BLOCKS, len(steps)))
    return np.array([steps[part].mean() for part in parts]), np.array([np.median(values[part]) for part in parts])


def _slopes(x: Floats, ys: Floats) -> Floats:
    """Of each row of values the median of the slopes between all pairs."""
    low, high = np.triu_indices(len(x), 1)
    run = x[high] - x[low]
    low, high, run = low[run > 0], high[run > 0], run[run > 0]
    return np.median((ys[:, high] - ys[:, low]) / run, axis=1) if len(run) else np.zeros(len(ys))


def _rest(x: Floats, y: Floats, slope: float) -> Floats:
    """What is left of the values beside the line of that slope."""
    beside = y - slope * x
    return beside - np.median(beside)


def _interval(x: Floats, y: Floats, slope: float) -> tuple[float, float]:
    line, rest = slope * x, _rest(x, y, slope)
    if not rest.any():
        return slope, slope
    length = max(2, round(len(x) ** 0.5))
    draw = np.random.default_rng(_SEED)
    begins = draw.integers(0, len(x), (_DRAWS, -(-len(x) // length)))
    places = (begins[:, :, None] + np.arange(length)).reshape(_DRAWS, -1)[:, : len(x)] % len(x)
    low, high = np.percentile(_slopes(x, line + rest[places]), (2.5, 97.5))
    return float(low), float(high)
