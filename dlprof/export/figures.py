"""Figures of a run, as dashboards want them: named gauges with labels. What was not measured has no sample."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import pyarrow.compute as pc

from dlprof.analysis.findings.diagnose import brief
from dlprof.report.model import Report
from dlprof.report.summary import summarise
from dlprof.store.run import Run


@dataclass(frozen=True)
class Figure:
    """A figure with its samples.

    Attributes:
        name: Its name, in words joined by underscores.
        unit: `s`, `By` (bytes), or empty: a number of something.
        about: What it is, in one line.
        samples: Labels beside those of the run, and values; None: not measured.
    """

    name: str
    unit: str
    about: str
    samples: list[tuple[Mapping[str, str], float | None]] = field(default_factory=list)

    @property
    def known(self) -> list[tuple[Mapping[str, str], float]]:
        """The samples that were measured."""
        return [(labels, value) for labels, value in self.samples if value is not None and math.isfinite(value)]


@dataclass(frozen=True)
class Figures:
    """The figures of a run, those that have samples.

    Attributes:
        report: The report that they are of, with its findings.
        figures: See there.
    """

    report: Report
    figures: tuple[Figure, ...]


def of_run(run: Run) -> Figures:
    """The figures of a run; the causes are those of `dlprof diagnose`."""
    report = summarise(run, diagnosis=brief(run, within_s=math.inf))
    return Figures(report, tuple(figure for figure in _figures(report) if figure.known))


def of_epochs(run: Run) -> list[dict[str, Any]]:
    """What Keras computed for epochs: rows of the table `metrics` that are of no step and have a time, by that."""
    columns = ("loop_id", "epoch", "name", "value", "time_ns", "step")
    rows = run.filtered("metrics", columns, lambda piece: pc.is_null(piece["step"])).to_pylist()
    return sorted((row for row in rows if row["time_ns"] is not None), key=lambda row: row["time_ns"])


def _figures(report: Report) -> Iterator[Figure]:
    yield Figure("run_timestamp", "s", "When the run was made (Unix time).", [({}, _moment(report.created))])
    yield Figure("run_wall", "s", "Start to end of the traced process.", [({}, _seconds(report.wall_ns))])
    yield Figure("run_exit_code", "", "Exit code of the traced process.", [({}, report.exit.code)])
    yield Figure(
        "phase",
        "s",
        "Time of the main thread in a phase; fit.steps is a part of fit.",
        [({"phase": phase.name}, _seconds(phase.dur_ns)) for phase in report.phases],
    )
    yield Figure("unattributed", "s", "Wall time in no phase.", [({}, _seconds(report.unattributed_ns))])
    yield from _of_steps(report)
    yield Figure(
        "finding",
        "s",
        "Time that a cause costs, by dlprof's diagnosis.",
        [({"finding": cause.slug}, _seconds(cause.at_stake_ns)) for cause in report.findings or ()],
    )
    peak = report.memory.peak_bytes if report.memory else None
    yield Figure(
        "memory_peak", "By", "Largest sample of resident memory of the process and all below it.", [({}, peak)]
    )
    yield Figure(
        "overhead", "s", "What the run had to wait for dlprof's probes.", [({}, _seconds(report.overhead.tax_ns))]
    )


def _of_steps(report: Report) -> Iterator[Figure]:
    loops = report.step_summaries
    yield Figure("steps", "", "Steps of a kind of loop.", [({"loop": str(one.loop)}, one.count) for one in loops])
    yield Figure(
        "step",
        "s",
        "A steady step: median, and 95th percentile.",
        [
            ({"loop": str(one.loop), "quantile": quantile}, _seconds(value))
            for one in loops
            for quantile, value in (("0.5", one.median_ns), ("0.95", one.p95_ns))
        ],
    )
    yield Figure(
        "samples_per_second",
        "",
        "Samples per second in steady steps.",
        [({"loop": str(one.loop)}, one.samples_per_s) for one in loops],
    )


def _seconds(ns: int | None) -> float | None:
    return None if ns is None else ns / 1e9


def _moment(text: str) -> float | None:
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        return None
