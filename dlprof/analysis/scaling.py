"""How a training scales with its ranks: efficiency, where the lost part went, the fitted law, and the next doubling.

`T(n)` is the time of the steady training with n times the ranks of the smallest run. Ideally it is `T(1) / n` where the
work stays the same (strong scaling), and `T(1)` where each rank keeps its own (weak scaling). What is above is lost:

    lost(n) = A (n - 1) / n + B (n - 1),    A, B >= 0

A is what does not shrink with more ranks: Amdahl's serial part, and the data that a ring of n ranks passes on. B is
what each further rank adds: latencies of collectives, and cores that ranks take from each other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Literal

import numpy as np

from dlprof.analysis.columns import Floats

Mode = Literal["strong", "weak"]
RESAMPLES = 2000
_SEED = 1
LEAST_POINTS = 3
"""Numbers of ranks that a law is fitted to, at least."""
_LIMITED = 0.9
"""Below this efficiency scaling is worth a word."""
SLUG = "scaling-limited"
LOST = {
    "input": "waiting for batches",
    "wait": "standing still for ranks that come later to a collective",
    "transfer": "collectives that all ranks had come to",
    "contention": "main threads that could run and had no core (estimated)",
    "kernels": "kernels that took longer",
    "host": "the host's work that took longer",
    "work": "work that took longer (kernels and host were not told apart)",
    "rest": "work and waits in collectives (not told apart)",
}
"""Parts of what is lost."""


@dataclass(frozen=True)
class Times:
    """The steady training of one run (s, mean of its ranks); a part that is None is not known."""

    train: float
    input: float | None = None
    wait: float | None = None
    transfer: float | None = None
    kernels: float | None = None
    contention: float | None = None


@dataclass(frozen=True)
class Point:
    """All runs with so many ranks.

    Attributes:
        ranks: How many.
        runs: Runs of them.
        train_s: Median of their steady trainings (s).
        speedup: Work per time, in that of the smallest run.
        efficiency: Speedup by how many times the ranks there are, 0 to 1 and a little more.
        interval: 95 % interval of the efficiency, by drawing runs of both; None: fewer than three runs of either.
        lost_s: Steady training beyond the ideal (s); below 0: it was faster than that.
        lost: Where that is (s), by the names of `LOST`; these sum to it.
    """

    ranks: int
    runs: int
    train_s: float
    speedup: float
    efficiency: float
    interval: tuple[float, float] | None
    lost_s: float
    lost: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Law:
    """What is lost with n times the ranks: `fixed_s` (n - 1) / n + `each_s` (n - 1).

    Attributes:
        fixed_s: A (s).
        each_s: B (s).
        serial_share: Amdahl's serial share of the smallest run's time, 0 to 1; None: the scaling is weak, or more
            is lost than that time.
        worst_s: Greatest difference between the law and what was measured (s).
    """

    fixed_s: float
    each_s: float
    serial_share: float | None
    worst_s: float


@dataclass(frozen=True)
class Forecast:
    """What the law says of twice as many ranks as were tried.

    Attributes:
        ranks: How many.
        train_s: Steady training (s).
        efficiency: Against the smallest run.
        interval: 95 % interval of the efficiency, by drawing runs; None: fewer than three runs of some number of ranks.
        gain: Work per time, in that of the largest run that was made: 2 were ideal, 1 nothing.
    """

    ranks: int
    train_s: float
    efficiency: float
    interval: tuple[float, float] | None
    gain: float


@dataclass(frozen=True)
class Scaling:
    """A scaling study.

    Attributes:
        mode: `strong` or `weak`.
        points: By ranks.
        law: None: there are fewer than three numbers of ranks.
        forecast: Likewise.
        limited_by: Part of `LOST` that most of what the largest run lost is in; None: it lost little.
    """

    mode: Mode
    points: tuple[Point, ...]
    law: Law | None
    forecast: Forecast | None
    limited_by: str | None


def of_runs(runs: Mapping[int, Sequence[Times]], mode: Mode) -> Scaling | None:
    """What runs with several numbers of ranks tell.

    Args:
        runs: Number of ranks to its runs.
        mode: Whether the work stayed the same (`strong`), or that of each rank (`weak`).

    Returns:
        The study; None where fewer than two numbers of ranks have a run.
    """
    known = {ranks: list(runs[ranks]) for ranks in sorted(runs) if runs[ranks]}
    if len(known) < 2:
        return None
    trains = {ranks: [one.train for one in group] for ranks, group in known.items()}
    middle = {ranks: median(values) for ranks, values in trains.items()}
    base = min(known)
    points = tuple(_point(ranks, known, middle, trains, mode) for ranks in known)
    law = _fitted(middle, base, mode)
    last = points[-1]
    limited = last.efficiency < _LIMITED and (last.interval is None or last.interval[1] < 1)
    worst = max(last.lost, key=lambda part: last.lost[part], default=None)
    return Scaling(
        mode=mode,
        points=points,
        law=law,
        forecast=_forecast(law, middle, trains, mode) if law is not None else None,
        limited_by=worst if limited else None,
    )


def _ideal(base_s: float, times: float, mode: Mode) -> float:
    return base_s / times if mode == "strong" else base_s


def _point(
    ranks: int,
    runs: Mapping[int, Sequence[Times]],
    middle: Mapping[int, float],
    trains: Mapping[int, Sequence[float]],
    mode: Mode,
) -> Point:
    base = min(runs)
    times = ranks / base
    ideal = _ideal(middle[base], times, mode)
    efficiency = ideal / middle[ranks]

    def drawn(draw: np.random.Generator) -> Floats:
        both = _medians(trains, (base, ranks), draw)
        found = _ideal(1.0, times, mode) * both[base] / both[ranks]
        return np.asarray(found, np.float64)

    known = ranks != base and min(len(trains[base]), len(trains[ranks])) >= 3
    lost_s = middle[ranks] - ideal
    return Point(
        ranks=ranks,
        runs=len(runs[ranks]),
        train_s=middle[ranks],
        speedup=efficiency * times,
        efficiency=efficiency,
        interval=_interval(drawn) if known else None,
        lost_s=lost_s,
        lost=_split(runs[base], runs[ranks], lost_s, _ideal(1.0, times, mode)) if ranks != base else {},
    )


def _split(base: Sequence[Times], own: Sequence[Times], lost_s: float, scale: float) -> dict[str, float]:
    """Where what is lost went: each part beyond what it ideally took, the rest to what was not told apart."""

    def beyond(part: str) -> float | None:
        ours, theirs = ([getattr(one, part) for one in runs] for runs in (own, base))
        if any(value is None for value in (*ours, *theirs)):
            return None
        return float(median(ours) - median(theirs) * scale)

    lost, left = {}, lost_s
    for part in ("input", "wait", "transfer"):
        value = beyond(part)
        if value is not None:
            lost[part] = value
            left -= value
    if "wait" not in lost:
        return {**lost, "rest": left}
    contention = beyond("contention")
    if contention is not None:  # waits for a core are inside the work: they explain no more than it lost
        lost["contention"] = min(max(0.0, contention), max(0.0, left))
        left -= lost["contention"]
    kernels = beyond("kernels")
    if kernels is None:
        return {**lost, "work": left}
    # A kernel that had no core took longer, too: what contention explains is not told again.
    lost["kernels"] = min(max(0.0, kernels - lost.get("contention", 0.0)), max(0.0, left))
    return {**lost, "host": left - lost["kernels"]}


def _fitted(middle: Mapping[int, float], base: int, mode: Mode) -> Law | None:
    if len(middle) < LEAST_POINTS:
        return None
    times = np.array([ranks / base for ranks in middle])
    trains = np.array(list(middle.values()))[:, None]
    fixed, each = _fit(times, trains, mode)
    told = _law_s(times[:, None], trains[:1], fixed, each, mode)
    return Law(
        fixed_s=float(fixed[0]),
        each_s=float(each[0]),
        serial_share=float(fixed[0] / middle[base]) if mode == "strong" and fixed[0] <= middle[base] else None,
        worst_s=float(np.abs(told - trains).max()),
    )


def _fit(times: Floats, trains: Floats, mode: Mode) -> tuple[Floats, Floats]:
    """Least squares with no negative part, of many trainings at once.

    Args:
        times: Ranks, in those of the smallest run, which is the first; shape (points,).
        trains: Shape (points, trainings) (s).
        mode: Of the scaling.

    Returns:
        A and B of each training, shape (trainings,).
    """
    ideal = trains[:1] / times[:, None] if mode == "strong" else np.repeat(trains[:1], len(times), axis=0)
    lost = trains - ideal
    fixed, each = (times - 1) / times, times - 1
    both = np.linalg.lstsq(np.stack([fixed, each], axis=1), lost, rcond=None)[0]
    only_fixed = np.maximum(0, fixed @ lost / (fixed @ fixed))
    only_each = np.maximum(0, each @ lost / (each @ each))
    worse_fixed = ((lost - fixed[:, None] * only_fixed) ** 2).sum(axis=0)
    worse_each = ((lost - each[:, None] * only_each) ** 2).sum(axis=0)
    positive, first = (both >= 0).all(axis=0), worse_fixed <= worse_each
    a = np.where(positive, both[0], np.where(first, only_fixed, 0.0))
    b = np.where(positive, both[1], np.where(first, 0.0, only_each))
    return np.asarray(a, np.float64), np.asarray(b, np.float64)


def _law_s(times: Floats, base_s: Floats, fixed: Floats, each: Floats, mode: Mode) -> Floats:
    """The training (s) that the law tells."""
    ideal = base_s / times if mode == "strong" else base_s
    return np.asarray(ideal + fixed * (times - 1) / times + each * (times - 1), np.float64)


def _forecast(law: Law, middle: Mapping[int, float], trains: Mapping[int, Sequence[float]], mode: Mode) -> Forecast:
    base, last = min(middle), max(middle)
    times = np.array([2.0 * last / base])
    own = np.array([middle[base]])
    train_s = float(_law_s(times, own, np.array([law.fixed_s]), np.array([law.each_s]), mode)[0])

    def drawn(draw: np.random.Generator) -> Floats:
        found = _medians(trains, tuple(middle), draw)
        fixed, each = _fit(np.array([ranks / base for ranks in middle]), np.stack([found[r] for r in middle]), mode)
        told = _law_s(times, found[base], fixed, each, mode)
        return np.asarray(_ideal(1.0, float(times[0]), mode) * found[base] / told, np.float64)

    known = min(len(values) for values in trains.values()) >= 3
    return Forecast(
        ranks=2 * last,
        train_s=train_s,
        efficiency=_ideal(middle[base], float(times[0]), mode) / train_s,
        interval=_interval(drawn) if known else None,
        gain=(1.0 if mode == "strong" else 2.0) * middle[last] / train_s,
    )


def _medians(
    trains: Mapping[int, Sequence[float]], ranks: Sequence[int], draw: np.random.Generator
) -> dict[int, Floats]:
    """Medians of as many runs as there are, drawn from them again and again."""
    found = {}
    for one in ranks:
        values = np.asarray(trains[one], np.float64)
        chosen = draw.integers(0, len(values), (RESAMPLES, len(values)))
        found[one] = np.asarray(np.median(values[chosen], axis=1), np.float64)
    return found


def _interval(drawn: Callable[[np.random.Generator], Floats]) -> tuple[float, float]:
    low, high = np.percentile(drawn(np.random.default_rng(_SEED)), (2.5, 97.5))
    return float(low), float(high)
