"""Figures of a run as Prometheus' text format (version 0.0.4): for the textfile collector of its node_exporter.

Times are seconds, as its conventions ask; what was not measured has no sample. Labels tell the script and the backend
of the run, so that a newer run of the same takes the place of an older one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import BinaryIO

from dlprof.analysis.findings.diagnose import brief
from dlprof.report.model import Report
from dlprof.report.summary import summarise
from dlprof.store.run import Run
from dlprof.units import safe


@dataclass(frozen=True)
class Metric:
    """A metric with its samples.

    Attributes:
        name: Its name, without `dlprof_`.
        about: What it is, in one line.
        samples: Labels beside those of the run, and values; None: not measured.
    """

    name: str
    about: str
    samples: list[tuple[Mapping[str, str], float | None]] = field(default_factory=list)


def write(run: Run, out: BinaryIO) -> str:
    """Write the figures.

    Args:
        run: The run.
        out: Where to.

    Returns:
        How much was written.
    """
    report = summarise(run, diagnosis=brief(run, within_s=math.inf))
    own = {"script": report.script or "", "backend": report.backend or "", "host": report.machine.host}
    lines, count = [], 0
    for metric in _metrics(report):
        known = [(labels, value) for labels, value in metric.samples if value is not None and math.isfinite(value)]
        if known:
            lines += [f"# HELP dlprof_{metric.name} {metric.about}", f"# TYPE dlprof_{metric.name} gauge"]
            lines += [_sample(metric.name, {**own, **labels}, value) for labels, value in known]
            count += len(known)
    out.write("".join(f"{line}\n" for line in lines).encode("utf-8", "replace"))
    return f"{count} samples"


def _metrics(report: Report) -> Iterator[Metric]:
    yield Metric("run_timestamp_seconds", "When the run was made (Unix time).", [({}, _moment(report.created))])
    yield Metric("run_wall_seconds", "Start to end of the traced process.", [({}, _seconds(report.wall_ns))])
    yield Metric("run_exit_code", "Exit code of the traced process.", [({}, report.exit.code)])
    yield Metric(
        "phase_seconds",
        "Time of the main thread in a phase; fit.steps is a part of fit.",
        [({"phase": phase.name}, _seconds(phase.dur_ns)) for phase in report.phases],
    )
    yield Metric("unattributed_seconds", "Wall time in no phase.", [({}, _seconds(report.unattributed_ns))])
    yield from _of_steps(report)
    yield Metric(
        "finding_seconds",
        "Time that a cause costs, by dlprof's diagnosis.",
        [({"finding": cause.slug}, _seconds(cause.at_stake_ns)) for cause in report.findings or ()],
    )
    peak = report.memory.peak_bytes if report.memory else None
    yield Metric(
        "memory_peak_bytes", "Largest sample of resident memory of the process and all below it.", [({}, peak)]
    )
    yield Metric(
        "overhead_seconds", "What the run had to wait for dlprof's probes.", [({}, _seconds(report.overhead.tax_ns))]
    )


def _of_steps(report: Report) -> Iterator[Metric]:
    loops = report.step_summaries
    yield Metric("steps", "Steps of a kind of loop.", [({"loop": str(one.loop)}, one.count) for one in loops])
    yield Metric(
        "step_seconds",
        "A steady step: median, and 95th percentile.",
        [
            ({"loop": str(one.loop), "quantile": quantile}, _seconds(value))
            for one in loops
            for quantile, value in (("0.5", one.median_ns), ("0.95", one.p95_ns))
        ],
    )
    yield Metric(
        "samples_per_second",
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


def _sample(name: str, labels: Mapping[str, str], value: float) -> str:
    told = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels.items())
    return f"dlprof_{name}{{{told}}} {value!r}"


def _escaped(text: str) -> str:
    return safe(text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
