"""Pages: templates filled with what the reports say, and with the data that their charts draw."""

from __future__ import annotations

import math
import secrets
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import jinja2
from msgspec import structs

from dlprof import __version__
from dlprof.analysis import breakdown, kernels, samples
from dlprof.analysis.breakdown import Breakdown
from dlprof.analysis.compare import Comparison
from dlprof.analysis.findings.finding import Diagnosis
from dlprof.analysis.line_pairs import LinePair
from dlprof.report import colours, compare_json, diagnosis_json, kernel_json, strict_json, summary
from dlprof.report.compare_text import verdict as gap_verdict
from dlprof.report.html import flames, source_lines, timeline
from dlprof.report.html.pack import Pack, compressed
from dlprof.report.json_text import plain
from dlprof.report.model import MeasuredGpus, Report, UnmeasuredGpus
from dlprof.store.run import Run
from dlprof.units import duration, percent, size

_TOP = 25
_KERNEL_ROWS = 60
_EPOCHS = 500
_LAYER_ROWS = 60
_LINES = 6000
"""Lines of source that one page carries."""
_PAIRS = 400
_LEAST_SHARE = 0.005
"""Parts of a gap below this share of the larger wall time are drawn as one."""
_EVENTS = (1_200_000, 750_000, 400_000, 150_000, 50_000)
_PAGE_BYTES = 4_800_000
"""How large a page may become: of the numbers of events it draws the first one with which it is no larger."""
_UNITS = {"pct": "%", "w": "W", "c": "°C", "mhz": "MHz"}
_ASSETS = ("data.js", "charts.js", "timeline.js", "page.js")


def of_run(run: Run, diagnosis: Diagnosis | None, no_diagnosis: str = "") -> str:
    """The page of a run.

    Args:
        run: The run.
        diagnosis: Its findings; None: it cannot be diagnosed.
        no_diagnosis: Why not.
    """
    report = summary.summarise(run, top=_TOP)
    tree = breakdown.of_run(run) or breakdown.without_phases(run)
    sampled = samples.of_run(run, samples.Phases(run))
    files, left_out = _within(source_lines.of_run(run, tree, sampled))
    found = diagnosis_json.as_json(diagnosis, [run.name], None) if diagnosis else None
    table = kernel_json.as_json(kernels.summarise(run, "layer"), "layer", None)
    data = {
        "kind": "run",
        "wall_ns": report.wall_ns,
        "phases": [{**structs.asdict(phase), "colour": colours.of_phase(phase.name)} for phase in report.phases],
        "unattributed_ns": report.unattributed_ns,
        "steps": timeline.step_times(run, {loop.loop: loop.median_ns for loop in report.loops}),
        "flames": flames.of_run(run, sampled),
        "layers": _layers(tree),
    }
    return _filled(
        "run.html",
        data,
        [run],
        title=_title(report),
        report=report,
        verdict="" if report.imported else summary.verdict(report),
        diagnosis=found,
        no_diagnosis=no_diagnosis,
        files=files,
        left_out=left_out,
        epochs=report.epochs[:_EPOCHS],
        gpus=_gpus(report.gpu),
        kernels=structs.replace(table, rows=table.rows[:_KERNEL_ROWS]),
        more_kernels=max(0, len(table.rows) - _KERNEL_ROWS),
        has={name: bool(data[name]) for name in ("steps", "flames", "layers")},
        machine={"report.json": report, **({"diagnosis.json": found} if found else {})},
    )


def of_comparison(
    found: Comparison, lines: Sequence[LinePair], diagnosis: Diagnosis | None, no_diagnosis: str = ""
) -> str:
    """The page of a comparison.

    Args:
        found: The comparison.
        lines: Lines of both sides, joined; those that differ most first.
        diagnosis: Why A is slower than B; None: that cannot be said.
        no_diagnosis: Why not.
    """
    content = compare_json.as_json(found, lines)
    sides = (found.a, found.b)
    told = diagnosis_json.as_json(diagnosis, [side.runs[0].name for side in sides], found.parity) if diagnosis else None
    data = {
        "kind": "comparison",
        "labels": [side.label for side in sides],
        "walls_ns": [found.a_wall_ns, found.b_wall_ns],
        "waterfall": _waterfall(found),
        "layers_of_both": plain(content.layers[:_LAYER_ROWS]),
    }
    pairs = sorted(content.lines[:_PAIRS], key=lambda pair: (pair.file, pair.line))
    return _filled(
        "compare.html",
        data,
        [side.runs[0] for side in sides],
        title=f"{found.a.label} against {found.b.label}",
        found=content,
        labels=[side.label for side in sides],
        verdict=gap_verdict(found),
        diagnosis=told,
        no_diagnosis=no_diagnosis,
        layers=content.layers[:_LAYER_ROWS],
        pairs=pairs,
        more_pairs=len(content.lines) - len(pairs),
        most_ns=max([1, *(max(pair.a_ns or 0, pair.b_ns or 0) for pair in pairs)]),
        machine={"compare.json": content, **({"diagnosis.json": told} if told else {})},
    )


def _filled(template: str, data: Mapping[str, Any], runs: Sequence[Run], **content: Any) -> str:
    """The page with its data and the time lines of runs, as fine as fits."""
    assets = resources.files("dlprof.report.html") / "assets"
    script = "\n".join((assets / name).read_text(encoding="utf-8") for name in _ASSETS)
    drawn = [timeline.of_run(run) for run in runs]
    place = f"data-{secrets.token_hex(16)}"  # nothing in a run can have this name
    page = (
        _environment()
        .get_template(template)
        .render(
            version=__version__,
            style=(assets / "page.css").read_text(encoding="utf-8"),
            script=script,
            library=compressed((assets / "echarts" / "echarts.min.js").read_bytes()),
            has_timeline=any(drawn),
            data=place,
            **content,
        )
    )
    for most in _EVENTS:
        pack = Pack()
        lines = [timeline.packed(one, pack, most // len(runs)) if one else None for one in drawn]
        text = pack.text({**data, "timelines": lines})
        if len(page) + len(text) <= _PAGE_BYTES:
            break
    return page.replace(place, text)


def _title(report: Report) -> str:
    if report.imported:
        return f"{report.run} (imported)"
    return f"{Path(report.script or '').name} on {report.backend or report.source}"


def _within(files: Sequence[source_lines.SourceFile]) -> tuple[list[dict[str, Any]], list[str]]:
    """Files as long as their lines fit, each with its largest figures; and the names of those that do not."""
    shown: list[dict[str, Any]] = []
    left_out = []
    count = 0
    for file in files:
        if count + len(file.lines) > _LINES:
            left_out.append(file.name)
            continue
        count += len(file.lines)
        most = {
            column: max([1, *(value for line in file.lines if (value := getattr(line, column)) is not None)])
            for column in ("time_ns", "sampled_ns", "kernels_ns")
        }
        shown.append({"name": file.name, "lines": file.lines, "most": most})
    return shown, left_out


def _layers(tree: Breakdown | None) -> list[dict[str, Any]]:
    """Kernel time of each layer by direction, those with most first (ns, in all steps)."""
    sums: dict[str, dict[str, int]] = {}
    for one in tree.layers if tree else ():
        by_direction = sums.setdefault(one.layer or "no layer", {})
        direction = one.direction or "not known"
        by_direction[direction] = by_direction.get(direction, 0) + one.ns
    order = sorted(sums, key=lambda layer: -sum(sums[layer].values()))
    return [{"layer": timeline.cut(layer), "ns": sums[layer]} for layer in order]


def _waterfall(found: Comparison) -> list[dict[str, Any]]:
    """From B's wall time to A's: parts of the gap in order of their size; small ones as one; they sum to the gap."""
    least = _LEAST_SHARE * max(found.a_wall_ns, found.b_wall_ns)
    large = [item for item in found.items if abs(item.delta_ns) >= least]
    small = [item for item in found.items if abs(item.delta_ns) < least]
    rest = sum(item.delta_ns for item in small)
    return [
        *({"path": item.path, "delta_ns": item.delta_ns, "noise": item.noise, "ci_ns": item.ci_ns} for item in large),
        {"path": "smaller parts", "delta_ns": rest, "noise": all(item.noise for item in small), "ci_ns": None},
        {"path": "unattributed", "delta_ns": found.unattributed_ns, "noise": False, "ci_ns": None},
    ]


def _gpus(gpu: MeasuredGpus | UnmeasuredGpus) -> list[dict[str, str]]:
    """What was measured of each GPU, for people: name and figure."""
    if isinstance(gpu, UnmeasuredGpus):
        return []
    return [dict(_figure(name, value) for name, value in structs.asdict(use).items()) for use in gpu.gpus]


def _figure(name: str, value: str | float | None) -> tuple[str, str]:
    """The name of a figure without its unit, and the figure with it."""
    base, _, unit = name.rpartition("_")
    if isinstance(value, str) or name == "gpu":
        return name, str(value)
    if value is None:
        return base.replace("_", " ") or name, "not measured"
    return base.replace("_", " "), size(value) if unit == "bytes" else f"{value:.4g} {_UNITS.get(unit, unit)}"


@cache
def _environment() -> jinja2.Environment:
    """Templates in which every text from outside is escaped."""
    environment = jinja2.Environment(
        autoescape=True, loader=jinja2.PackageLoader("dlprof.report.html", "templates"), trim_blocks=True,
        lstrip_blocks=True, undefined=jinja2.StrictUndefined,
    )  # fmt: skip
    environment.filters.update(
        duration=duration, size=size, percent=percent, count=_count, in_script=_in_script, shade=_shade, place=_place
    )
    return environment


def _count(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def _in_script(value: Any) -> str:
    """JSON that cannot end the element that it stands in; the template marks it as safe."""
    text = strict_json.dumps(plain(value), default=str, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _shade(value: float | None, most: float) -> int:
    """Strength of a cell's colour, 0 to 8, by the share of the largest figure."""
    if not value or value <= 0:
        return 0
    return max(1, min(8, round(8 * math.sqrt(value / most))))


def _place(file: str | None, line: int | None = None) -> str:
    """Name of the anchor of a line, or of a file: one that no character of the name can break out of."""
    text = "".join(c if c.isascii() and c.isalnum() else f"_{ord(c):x}_" for c in file or "")
    return f"{text}-{line}" if line else text
