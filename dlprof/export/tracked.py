"""A run as trackers of experiments take it: parameters, figures, what was computed in each epoch, and files."""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dlprof.analysis import training
from dlprof.analysis.findings import diagnose
from dlprof.errors import NoInputError, UsageError
from dlprof.export import figures
from dlprof.report.html import run_page
from dlprof.report.json_text import finite, plain
from dlprof.report.model import Report
from dlprof.store.run import Run
from dlprof.units import safe

NS_IN_MS = 1_000_000


@dataclass(frozen=True)
class Value:
    """What was computed in an epoch.

    Attributes:
        name: As Keras calls it: `loss`, `val_accuracy`.
        place: Running number among those of its name, over all trainings of the run: from 0.
        value: It.
        time_ms: When (Unix time, ms).
    """

    name: str
    place: int
    value: float
    time_ms: int


@dataclass(frozen=True)
class Tracked:
    """A run.

    Attributes:
        key: What tells it from all other runs.
        name: Of the run.
        script: File name of what was run.
        began_ms, ended_ms: Unix time (ms).
        failed: Whether its process ended with an error.
        parameters: What it was run with.
        figures: Times in seconds, sizes in bytes, numbers: `phase_s/fit.steps`.
        values: In order of time.
        verdict: Where the time went, in a sentence.
        files: Names and contents: the report as JSON, the page.
    """

    key: str
    name: str
    script: str
    began_ms: int
    ended_ms: int
    failed: bool
    parameters: Mapping[str, str]
    figures: Mapping[str, float]
    values: Sequence[Value]
    verdict: str
    files: Mapping[str, bytes]

    @property
    def said(self) -> str:
        """How much it is, in a few words."""
        return (
            f"{len(self.parameters)} parameters, {len(self.figures)} figures, {len(self.values)} values of epochs, "
            f"{' and '.join(self.files)}"
        )


def of_run(run: Run) -> Tracked:
    """What a tracker is told of a run.

    Raises:
        NoInputError: It is not known when it was.
    """
    zero = run.manifest.clock.origin_wall_ns
    if zero is None:
        raise NoInputError(
            f"{run.name} cannot go to a tracker: it is not known when it was.",
            hint="runs of dlprof trace know; traces that were imported may not",
        )
    found = figures.of_run(run)
    process = run.manifest.process
    return Tracked(
        key=f"{zero}-{process.pid}",
        name=run.name,
        script=os.path.basename(found.report.script or run.name),  # noqa: PTH119  (a path of another machine)
        began_ms=zero // NS_IN_MS,
        ended_ms=(zero + (run.wall_ns or 0)) // NS_IN_MS,
        failed=bool(process.exit_code or process.signal),
        parameters=_parameters(run, found.report),
        figures={_name(one, labels): value for one in found.figures for labels, value in one.known},
        values=_values(run, zero),
        verdict=found.report.verdict,
        files={"report.json": _json(found.report), "page.html": _page(run)},
    )


_UNITS = {"s": "_s", "By": "_bytes", "": ""}


def _name(figure: figures.Figure, labels: Mapping[str, str]) -> str:
    """`phase_s/fit.steps`, `step_s/train/0.5`."""
    return "/".join((figure.name + _UNITS[figure.unit], *(safe(label) for label in labels.values())))


def _parameters(run: Run, report: Report) -> dict[str, str]:
    told = {
        "script": report.script,
        "arguments": " ".join(report.arguments) or None,
        "backend": report.backend,
        "engine": " ".join(filter(None, (report.engine.name, report.engine.version))) if report.engine else None,
        "keras": report.keras_version,
        "python": report.python_version,
        "host": report.machine.host,
        **_of_training(training.of_run(run)),
    }
    return {name: safe(str(value)) for name, value in told.items() if value is not None}


def _of_training(one: training.Training | None) -> dict[str, Any]:
    if one is None:
        return {}
    return {
        "batch_size": one.batch_size,
        "samples": one.samples,
        "weights": one.weights.get("count"),
        **one.settings,
        **{f"optimizer.{name}": value for name, value in one.optimizer.items()},
        **{f"threads.{name}": value for name, value in one.threads.items()},
    }


def _values(run: Run, zero: int) -> tuple[Value, ...]:
    counts: Counter[str] = Counter()
    found = []
    for row in figures.of_epochs(run):
        name = row["name"]
        if not math.isfinite(row["value"]):
            continue  # trackers refuse it
        found.append(Value(name, counts[name], row["value"], (zero + row["time_ns"]) // NS_IN_MS))
        counts[name] += 1
    return tuple(found)


def _json(report: Report) -> bytes:
    return json.dumps(finite(plain(report)), ensure_ascii=False, indent=1, default=str).encode("utf-8", "replace")


def _page(run: Run) -> bytes:
    try:
        page = run_page.make(run, diagnose.diagnose(run))
    except UsageError as error:
        page = run_page.make(run, None, error.message)
    return page.encode("utf-8", "replace")
