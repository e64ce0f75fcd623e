"""The page of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from msgspec import structs

from dlprof.analysis import breakdown, kernels, memory_owners, samples
from dlprof.analysis.breakdown import Breakdown
from dlprof.analysis.findings.finding import Diagnosis
from dlprof.analysis.heap import HeapLine, most_telling
from dlprof.analysis.memory_owners import Owner
from dlprof.analysis.samples import Sample
from dlprof.report import colours, diagnosis_json, kernel_json, shared_pages, summary, trend_words
from dlprof.report.html import (
    absent,
    flames,
    hot_lines,
    kernel_groups,
    long_tracks,
    memory_chart,
    page,
    source_lines,
    step_chart,
    work_chart,
)
from dlprof.report.html.absent import Absent
from dlprof.report.html.hot_lines import Block
from dlprof.report.html.names import cut
from dlprof.report.html.source_lines import SourceFile
from dlprof.report.model import EpochTime, MeasuredGpus, Report, UnmeasuredGpus
from dlprof.store.run import Run
from dlprof.units import size

_TOP = 25
_EPOCHS = 500
_LAYERS = 40
"""Rows of what holds memory by layer, and of who allocated it."""
_LINES = 6000
"""Lines of source that one page carries."""
_NO_LAYER = "no layer"
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
    sampled = samples.by_phase(run)
    sources = source_lines.of_run(run, tree, sampled)
    whole_ns = report.wall_ns or _longest_ns(sources)
    files, left_out = _as_fits(sources, whole_ns)
    findings = diagnosis_json.as_json(diagnosis, [run.name], None) if diagnosis else None
    table = kernel_json.as_json(kernels.summarise(run, "layer"), "layer", None)
    rows = [row for row in table.rows if row.total_ns]
    charts = _charts(run, report, tree, sampled)
    work = work_chart.of_run(run)
    lacking = absent.measures(report)
    has = {name: bool(chart) for name, chart in charts.items()}
    has |= {"machine": len(lacking) < absent.MEASURES, "kernels": bool(rows)}
    epochs = report.epochs[:_EPOCHS]
    return page.filled(
        "run.html",
        {**_phases(report), **charts},
        [run],
        title=_title(report),
        report=report,
        verdict=report.verdict,
        diagnosis=findings,
        no_diagnosis=no_diagnosis,
        files=files,
        left_out=left_out,
        thinned_steps=[one for one in charts["steps"] if one["each"] > 1],
        whole_only=[name for name in ("steps", "epochs") if name in long_tracks.long_kinds(run)],
        many=long_tracks.MANY,
        whole_ns=whole_ns,
        whole_name="wall time" if report.wall_ns else "longest line's time",
        least_share=hot_lines.LEAST_SHARE,
        epochs=epochs,
        metric_names=list(dict.fromkeys(name for epoch in epochs for name in epoch.metrics or ())),
        gpus=_gpus(report.gpu),
        kernels=kernel_groups.of_rows(rows),
        dropped_events=table.dropped_events,
        **_of_memory(report),
        work=work,
        has=has,
        absent=_by_reason([*absent.parts(report, _parts(report, has, sources)), *lacking]),
        machine=_machine(report, epochs, findings),
    )


def _charts(run: Run, report: Report, tree: Breakdown | None, sampled: Sequence[Sample]) -> dict[str, Any]:
    of_stacks = flames.of_run(run, sampled)
    return {
        "steps": step_chart.of_run(run, report.step_summaries),
        "flames": of_stacks,
        "layers": _layers(tree),
        "memory": memory_chart.of_run(run) if report.memory is not None else None,
        "packages": flames.package_colours(of_stacks),
    }


def _machine(report: Report, epochs: Sequence[EpochTime], findings: Any) -> dict[str, Any]:
    """What the page carries for programs; epochs that it has no room for are counted."""
    left_out = len(report.epochs) - len(epochs)
    return {
        "report.json": structs.replace(report, epochs=tuple(epochs)),
        **({"diagnosis.json": findings} if findings else {}),
        **({"left_out": {"epochs": left_out}} if left_out else {}),
    }


def _parts(report: Report, has: Mapping[str, bool], sources: Sequence[SourceFile]) -> dict[str, bool]:
    """Whether the page has each part that a run can have."""
    return {
        "phases": bool(report.phases),
        "steps": has["steps"],
        "lines": bool(sources),
        "sampled stacks": has["flames"],
        "kernels": has["kernels"],
    }


def _by_reason(lacking: Sequence[Absent]) -> list[tuple[str, list[str]]]:
    """Reasons with what each of them has kept from the page."""
    found: dict[str, list[str]] = {}
    for one in lacking:
        found.setdefault(one.why, []).append(one.what)
    return list(found.items())


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
    on = f" on {report.ran_on}" if report.ran_on else ""
    return f"{Path(report.script or '').name}{on}"


@dataclass(frozen=True)
class ShownFile:
    """A file of which the page has all lines.

    Attributes:
        name: As in the tables.
        blocks: Its lines, shown or folded.
        hot: Whether one of them takes a share of the whole that is worth to be seen.
    """

    name: str
    blocks: Sequence[Block]
    hot: bool


def _as_fits(files: Sequence[SourceFile], whole_ns: int) -> tuple[list[ShownFile], list[str]]:
    """Files as long as their lines fit; and the names of those that do not."""
    shown: list[ShownFile] = []
    left_out = []
    count = 0
    for file in files:
        if count + len(file.lines) > _LINES:
            left_out.append(file.name)
            continue
        count += len(file.lines)
        hot = any(hot_lines.is_hot(line, whole_ns) for line in file.lines)
        shown.append(ShownFile(file.name, hot_lines.blocks(file.lines, whole_ns), hot))
    return shown, left_out


def _longest_ns(files: Sequence[SourceFile]) -> int:
    """The longest time of a line, where the run has no wall time to take shares of."""
    return max([1, *(line.time_ns or 0 for file in files for line in file.lines)])


def _layers(tree: Breakdown | None) -> list[dict[str, Any]]:
    """Kernel time of each layer by direction, those with most first (ns, in all steps)."""
    sums: dict[str, dict[str, int]] = {}
    for layer in tree.layers if tree else ():
        by_direction = sums.setdefault(layer.layer or _NO_LAYER, {})
        direction = layer.direction or "not known"
        by_direction[direction] = by_direction.get(direction, 0) + layer.ns
    if set(sums) <= {_NO_LAYER}:
        return []  # a bar for all of it would say nothing
    order = sorted(sums, key=lambda name: -sum(sums[name].values()))
    return [{"layer": cut(name), "ns": sums[name]} for name in order]


def _of_memory(report: Report) -> dict[str, Any]:
    """What the template shows of memory besides the report's own figures."""
    return {
        "held": _held(report),
        "layers_hold": _layers_hold(report),
        "growth_verdict": _growth_verdict(report),
        "allocating": _allocating(report),
        "trends": [trend_words.told(one) for one in report.memory.trends] if report.memory is not None else [],
    }


def _held(report: Report) -> list[tuple[str, int | None, str | None]]:
    """What memory is held for: kind, bytes, how that is known."""
    owners = report.memory.owners if report.memory is not None else ()
    return [
        (kind.value, value, memory_owners.how(owner for owner in owners if owner.kind == kind))
        for kind, value in memory_owners.by_kind(owners).items()
    ]


def _layers_hold(report: Report) -> list[Owner]:
    """What holds memory and is of a layer, the largest first."""
    owners = report.memory.owners if report.memory is not None else ()
    return [owner for owner in owners if owner.layer][:_LAYERS]


def _allocating(report: Report) -> Sequence[HeapLine]:
    """Lines that allocated memory, where that was recorded."""
    heap = report.memory.heap if report.memory is not None else None
    return most_telling(heap.lines, _LAYERS) if heap is not None else ()


def _growth_verdict(report: Report) -> str:
    return shared_pages.growth_verdict(report.memory) if report.memory is not None else ""


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
