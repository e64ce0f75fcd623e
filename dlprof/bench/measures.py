"""What is measured of a run in a benchmark, and the sums over its repeats."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dlprof.analysis import utilisation
from dlprof.bench.results import CellResult
from dlprof.report import summary
from dlprof.schema.vocabulary import Loop, Phase
from dlprof.store.run import Run

MEASURES: Mapping[str, str] = {
    "wall_s": "whole process (s)",
    "construct_s": "model construction (s)",
    "graph_compile_s": "graph compilation in fit (s)",
    "fit_s": "fit in all (s)",
    "predict_s": "predict in all (s)",
    "first_epoch_s": "first epoch (s)",
    "later_epochs_s": "all epochs but the first (s)",
    "step_ms": "steady step (ms)",
    "samples_per_s": "samples per second, steady",
    "loss": "loss of the last epoch",
}
"""Measures of a run, and what they mean."""
RANK_MEASURES: Mapping[str, str] = {
    "train_s": "steady training: steps x median step (s)",
    "train_input_s": "of it input (s)",
    "train_wait_s": "of it waits for later ranks in collectives (s)",
    "train_transfer_s": "of it transfer in collectives (s)",
    "train_kernels_s": "of it kernels (s)",
    "train_contention_s": "main threads without a core in it (s)",
}
"""Further measures of a run of ranks, each a mean of its ranks."""
_RESAMPLES = 2000
RUNS_FOR_INTERVAL = 3
"""Runs that an interval needs."""
NOISY_SHARE = 0.5
"""A median is noisy whose interval, or of fewer runs whose values, span more than this share of it."""


def measure(run: Run) -> dict[str, float | None]:
    """The measures of a run; None where a run has none of that kind."""
    report = summary.summarise(run, top=1)
    phases = {phase.name: phase.dur_ns for phase in report.phases}
    loops = {loop.loop: loop for loop in report.step_summaries}
    steady = loops.get(Loop.TRAIN) or loops.get(Loop.PREDICT) or loops.get(Loop.TEST)
    epochs = [epoch.dur_ns for epoch in report.epochs]
    losses = [epoch.metrics["loss"] for epoch in report.epochs if "loss" in epoch.metrics]
    return {
        "wall_s": _seconds(report.wall_ns),
        "construct_s": _seconds(phases.get(Phase.CONSTRUCT)),
        "graph_compile_s": _seconds(phases.get(Phase.FIT_GRAPH_COMPILE)),
        "fit_s": _seconds(phases.get(Phase.FIT)),
        "predict_s": _seconds(phases.get(Phase.PREDICT)),
        "first_epoch_s": _seconds(epochs[0]) if epochs else None,
        "later_epochs_s": _seconds(sum(epochs[1:])) if len(epochs) > 1 else None,
        "step_ms": _milliseconds(steady.median_ns) if steady else None,
        "samples_per_s": steady.samples_per_s if steady else None,
        "loss": losses[-1] if losses else None,
    }


def others_share(run: Run) -> float | None:
    """What other programs used of the cores of the machine during a run; None: not measured."""
    used, cores = utilisation.machine_of_run(run).others_cpu_pct, run.manifest.machine.cores
    return used / 100 / cores if used is not None and cores else None


def _milliseconds(ns: int | None) -> float | None:
    return None if ns is None else ns / 1e6


def _seconds(ns: int | None) -> float | None:
    return None if ns is None else ns / 1e9


@dataclass(frozen=True)
class Row:
    """All repeats of a work on a backend, with one number of ranks, on one machine.

    Attributes:
        work, backend: Which.
        runs: Runs that came to their end.
        failed: Why the others failed, each reason once.
        medians: Median of each measure; a measure that no run has is missing.
        intervals: 95 % interval of each median (bootstrap over the runs); missing for fewer than 3 runs.
        ranks: With how many ranks; None: without a launcher.
        node: Name of the machine; None: not told.
        noisy: Measures whose runs differ so much that their medians tell little (`NOISY_SHARE`).
    """

    work: str
    backend: str
    runs: int
    failed: Sequence[str]
    medians: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]]
    ranks: int | None = None
    node: str | None = None
    noisy: Sequence[str] = ()


def rows(results: Sequence[CellResult], seed: int) -> list[Row]:
    """The table: a row per work, backend, number of ranks and machine, sorted."""
    groups: dict[tuple[str, str, int, str], list[CellResult]] = {}
    for result in results:
        groups.setdefault((result.work, result.backend, result.ranks or 0, result.node or ""), []).append(result)
    table = []
    for (work, backend, ranks, node), group in sorted(groups.items()):
        good = [result.measures for result in group if not result.error]
        names = (*MEASURES, *(RANK_MEASURES if ranks else ()))
        values = {name: [v for measured in good if (v := measured.get(name)) is not None] for name in names}
        known = {name: seen for name, seen in values.items() if seen and all(math.isfinite(v) for v in seen)}
        failed = dict.fromkeys(result.error for result in group if result.error)
        medians = {name: statistics.median(seen) for name, seen in known.items()}
        intervals = {name: interval(seen, seed) for name, seen in known.items() if len(seen) >= RUNS_FOR_INTERVAL}
        spans = {name: intervals.get(name) or (min(seen), max(seen)) for name, seen in known.items()}
        noisy = tuple(name for name, span in spans.items() if _is_noisy(medians[name], span))
        reasons = tuple(failed)
        table.append(Row(work, backend, len(good), reasons, medians, intervals, ranks or None, node or None, noisy))
    return table


def _is_noisy(median: float, span: tuple[float, float]) -> bool:
    return span[1] - span[0] > NOISY_SHARE * abs(median)


def interval(values: Sequence[float], seed: int) -> tuple[float, float]:
    """95 % interval of the median, by drawing as many values again and again from those seen."""
    draw = random.Random(seed)  # noqa: S311  (a sample, not a secret)
    medians = sorted(statistics.median(draw.choices(values, k=len(values))) for _ in range(_RESAMPLES))
    return medians[int(0.025 * _RESAMPLES)], medians[int(0.975 * _RESAMPLES) - 1]
