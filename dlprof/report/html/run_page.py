"""The page of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from msgspec import structs

from dlprof.analysis import breakdown, kernels, samples
from dlprof.analysis.breakdown import Breakdown
from dlprof.analysis.findings.finding import Diagnosis
from dlprof.analysis.phase_lookup import PhaseLookup
from dlprof.report import colours, diagnosis_json, kernel_json, summary
from dlprof.report.html import flames, page, source_lines, step_chart
from dlprof.report.html.names import cut
from dlprof.report.html.source_lines import SourceFile, SourceLine
from dlprof.report.model import MeasuredGpus, Report, UnmeasuredGpus
from dlprof.store.run import Run
from dlprof.units import size

_TOP = 25
_KERNEL_ROWS = 60
_EPOCHS = 500
_LINES = 6000
"""Lines of source that one page carries."""
_UNITS = {"pct": "%", "w": "W", "c": "°C", "mhz": "MHz"}


def make(run: Run, diagnosis: Diagnosis | None, no_diagnosis: str = "") -> str:
    """The page of a run.

    Args:
        run: The run.
        diagnosis: Its findings; None: it cannot be diagnosed.
        no_diagnosis: Why not.
    """
    report = summary.summarise(run, top=_TOP, diagnosis=diagnosis)
    tree = breakdown.of_run(run) or breakdown.without_phases(run)
    sampled = samples.of_run(run, PhaseLookup(run.table("phase_intervals")))
    files, left_out = _as_fits(source_lines.of_run(run, tree, sampled))
    findings = diagnosis_json.as_json(diagnosis, [run.name], None) if diagnosis else None
    table = kernel_json.as_json(kernels.summarise(run, "layer"), "layer", None)
    charts = {
        "steps": step_chart.of_run(run, report.loops),
        "flames": flames.of_run(run, sampled),
        "layers": _layers(tree),
    }
    return page.filled(
        "run.html",
        {**_phases(report), **charts},
        [run],
        title=_title(report),
        report=report,
        verdict="" if report.imported else report.verdict,
        diagnosis=findings,
        no_diagnosis=no_diagnosis,
        files=files,
        left_out=left_out,
        epochs=report.epochs[:_EPOCHS],
        gpus=_gpus(report.gpu),
        kernels=structs.replace(table, rows=table.rows[:_KERNEL_ROWS]),
        more_kernels=max(0, len(table.rows) - _KERNEL_ROWS),
        has={name: bool(chart) for name, chart in charts.items()},
        machine={"report.json": report, **({"diagnosis.json": findings} if findings else {})},
    )


def _phases(report: Report) -> dict[str, Any]:
    return {
        "kind": "run",
        "wall_ns": report.wall_ns,
        "phases": [{**structs.asdict(phase), "colour": colours.of_phase(phase.name)} for phase in report.phases],
        "unattributed_ns": report.unattributed_ns,
    }


def _title(report: Report) -> str:
    if report.imported:
        return f"{report.run} (imported)"
    return f"{Path(report.script or '').name} on {report.backend or report.source}"


@dataclass(frozen=True)
class Most:
    """The largest figures of a file's lines: cells are coloured by their share of these (ns)."""

    time_ns: int
    sampled_ns: int
    kernels_ns: int


@dataclass(frozen=True)
class ShownFile:
    """A file of which the page shows all lines."""

    name: str
    lines: Sequence[SourceLine]
    most: Most


def _as_fits(files: Sequence[SourceFile]) -> tuple[list[ShownFile], list[str]]:
    """Files as long as their lines fit; and the names of those that do not."""
    shown: list[ShownFile] = []
    left_out = []
    count = 0
    for file in files:
        if count + len(file.lines) > _LINES:
            left_out.append(file.name)
            continue
        count += len(file.lines)
        shown.append(ShownFile(file.name, file.lines, _most(file.lines)))
    return shown, left_out


def _most(lines: Sequence[SourceLine]) -> Most:
    return Most(
        max([1, *(line.time_ns or 0 for line in lines)]),
        max([1, *(line.sampled_ns or 0 for line in lines)]),
        max([1, *(line.kernels_ns or 0 for line in lines)]),
    )


def _layers(tree: Breakdown | None) -> list[dict[str, Any]]:
    """Kernel time of each layer by direction, those with most first (ns, in all steps)."""
    sums: dict[str, dict[str, int]] = {}
    for layer in tree.layers if tree else ():
        by_direction = sums.setdefault(layer.layer or "no layer", {})
        direction = layer.direction or "not known"
        by_direction[direction] = by_direction.get(direction, 0) + layer.ns
    order = sorted(sums, key=lambda name: -sum(sums[name].values()))
    return [{"layer": cut(name), "ns": sums[name]} for name in order]


def _gpus(gpu: MeasuredGpus | UnmeasuredGpus) -> list[dict[str, str]]:
    """What was measured of each GPU, for people: name and figure."""
    if isinstance(gpu, UnmeasuredGpus):
        return []
    return [dict(_figure(name, value) for name, value in asdict(use).items()) for use in gpu.gpus]


def _figure(name: str, value: str | float | None) -> tuple[str, str]:
    """The name of a figure without its unit, and the figure with it."""
    base, _, unit = name.rpartition("_")
    if isinstance(value, str) or name == "gpu":
        return name, str(value)
    if value is None:
        return base.replace("_", " ") or name, "not measured"
    return base.replace("_", " "), size(value) if unit == "bytes" else f"{value:.4g} {_UNITS.get(unit, unit)}"
