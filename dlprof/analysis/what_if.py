"""What became of time, memory and loss when a script ran with other settings: figures, and their differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dlprof.analysis import bootstrap, breakdown, memory, steps, training, utilisation
from dlprof.analysis.forecast import Forecast
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Loop
from dlprof.store.run import Run


@dataclass(frozen=True)
class Figures:
    """What a run came to. None: not known.

    Attributes:
        run_ns: Wall time without dlprof's own share.
        training_ns: Time in `fit`.
        step_ns: Median steady step of the training.
        sample_ns: The same for a row.
        peak_bytes: Most resident memory of the process and all below it.
        loss: Of the last epoch.
    """

    run_ns: float | None
    training_ns: float | None
    step_ns: float | None
    sample_ns: float | None
    peak_bytes: float | None
    loss: float | None


@dataclass(frozen=True)
class Measure:
    """One figure, as it was and with a change; means over the runs.

    Attributes:
        name: Of `Figures`.
        before, after: None: not known of every run.
        change: After less before.
        interval: 95 % interval of the change; None: there was one run of each.
        expected: What was forecast of the change beforehand; None: nothing was.
    """

    name: str
    before: float | None
    after: float | None
    change: float | None
    interval: tuple[float, float] | None
    expected: float | None = None


@dataclass(frozen=True)
class Tried:
    """What a change did.

    Attributes:
        title: The settings as they were typed.
        settings: Name to value.
        environment: Variables that were set.
        measures: In the order of `Figures`.
        taken: Setting to whether the training had it; None: that was not to be seen.
        not_forecast: Why nothing was forecast; None: it was.
        failed: Why it could not be tried; None: it was.
        pairs: Runs with it, each beside one as it was.
        others_pct: What other programs took meanwhile, mean over all the runs (% of a core); None: not measured.
    """

    title: str
    settings: Mapping[str, Any]
    environment: Mapping[str, str | None]
    measures: tuple[Measure, ...]
    taken: Mapping[str, bool | None]
    not_forecast: str | None
    failed: str | None
    pairs: int
    others_pct: float | None = None


def figures_of(run: Run) -> Figures:
    """What a run came to."""
    tree, told = breakdown.of_run(run), training.of_run(run)
    summary = next((one for one in steps.of_run(run) if one.loop == Loop.TRAIN), None)
    peak = memory.of_run(run).peak
    return Figures(
        run_ns=tree.net_ns if tree is not None else None,
        training_ns=(tree.time(Tree.FIT) or None) if tree is not None else None,
        step_ns=summary.median_ns if summary else None,
        sample_ns=1e9 / summary.samples_per_s if summary and summary.samples_per_s else None,
        peak_bytes=peak.bytes if peak is not None else None,
        loss=told.losses[-1] if told and told.losses else None,
    )


def others_pct(runs: Sequence[Run]) -> float | None:
    """What other programs took while these ran, on average (% of a core); None: not measured of every one."""
    seen = [utilisation.machine_of_run(run).others_cpu_pct for run in runs]
    known = [one for one in seen if one is not None]
    return sum(known) / len(known) if seen and len(known) == len(seen) else None


def measure(name: str, plain: Sequence[Figures], changed: Sequence[Figures]) -> Measure:
    """One of the figures of runs as they were, and with a change."""
    before, after = _known(name, plain), _known(name, changed)
    if before is None or after is None:
        mean = [None if values is None else float(np.mean(values)) for values in (before, after)]
        return Measure(name, mean[0], mean[1], None, None)
    interval = None
    if min(len(before), len(after)) > 1:
        low, high = bootstrap.difference_of_means(np.asarray(after)[:, None], np.asarray(before)[:, None])
        interval = float(low[0]), float(high[0])
    one, other = float(np.mean(before)), float(np.mean(after))
    return Measure(name, one, other, other - one, interval)


def _known(name: str, figures: Sequence[Figures]) -> list[float] | None:
    values: list[Any] = [getattr(one, name) for one in figures]
    return None if not values or None in values else [float(value) for value in values]


def with_forecast(one: Measure, expected: Forecast) -> Measure:
    """The change that was forecast, of what it was in these runs."""
    if one.before is None:
        return one
    change = {
        "step_ns": one.before * (expected.step - 1),
        "sample_ns": one.before * (expected.sample - 1),
        "training_ns": expected.training_ns,
        "run_ns": expected.training_ns,
    }.get(one.name)
    return replace(one, expected=change)
