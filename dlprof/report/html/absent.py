"""What a page does not show, and why: an empty section would only look like a fault."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dlprof.report.model import Report, UnmeasuredGpus

_TABLES = {
    "phases": ("phases", "phase_intervals"),
    "steps": ("steps",),
    "lines": ("lines",),
    "sampled stacks": ("stacks", "frames"),
    "kernels": ("kernel_ops", "kernel_events"),
    "CPU of the process tree": ("process_samples", "machine"),
    "CPU of other processes": ("process_samples", "machine"),
    "memory": ("process_samples", "machine"),
    "cores": ("cores",),
    "samples of the GPU": ("gpu",),
}
"""What a part is drawn of."""
_PROBES = {"phases": "phases", "steps": "phases", "lines": "lines", "sampled stacks": "stacks", "kernels": "kernels"}
"""The probe that would have measured a part."""
MEASURES = 5
"""Of how many measures of the machine a page can say that it lacks them."""


@dataclass(frozen=True)
class Absent:
    """A part of the page that is left out."""

    what: str
    why: str


def parts(report: Report, shown: Mapping[str, bool]) -> list[Absent]:
    """The parts that are left out, each with its reason.

    Args:
        report: The report of the run.
        shown: Whether the page has the part of this name.
    """
    return [Absent(name, _why(report, _PROBES.get(name), name)) for name, is_shown in shown.items() if not is_shown]


def measures(report: Report) -> list[Absent]:
    """What was not measured of the machine."""
    process = report.process
    known = {
        "CPU of the process tree": process.tree_cpu_pct is not None,
        "CPU of other processes": process.others_cpu_pct is not None,
        "memory": process.peak_rss_bytes is not None,
        "cores": any(core.mean_pct is not None for core in report.cores),
    }
    found = [Absent(name, _why(report, "cores", name)) for name, is_known in known.items() if not is_known]
    if isinstance(report.gpu, UnmeasuredGpus):
        name = "samples of the GPU"
        found.append(Absent(name, _why(report, None, name) if report.imported else report.gpu.reason))
    return found


def _why(report: Report, probe: str | None, part: str) -> str:
    lost = report.missing(*_TABLES[part])
    if lost:
        return lost
    if report.imported:
        return "the imported files hold none"
    told = report.probe(probe) if probe else None
    if told is None:
        return "nothing was seen of it"
    return told.reason or "there was none"
