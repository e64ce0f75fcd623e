"""What the machine did: cores and memory, GPUs; and of each probe why it measured nothing."""

from __future__ import annotations

from dlprof.analysis.utilisation import GpuUse
from dlprof.report import overhead_words
from dlprof.report.console import Page
from dlprof.report.model import CoreLoad, ProcessUse, Report, UnmeasuredGpus
from dlprof.units import resample, safe, size, strip

_CORES = 32
"""Cores that are shown one by one."""


def cores(page: Page, report: Report) -> None:
    """How busy each core was over the run, and what used it."""
    page.title("Cores and memory", "busy share over the run" if report.cores else "")
    if not report.cores:
        not_measured(page, report, "cores")
        return
    for core in report.cores[:_CORES]:
        page.say(_core(page, core), indent=2)
    if len(report.cores) > _CORES:
        mean = sum(core.mean_pct or 0 for core in report.cores) / len(report.cores)
        page.say(f"... {len(report.cores) - _CORES} more cores; mean of all {mean:.1f} %", "dim", 2)
    page.say(_cpu(report.process), indent=2)
    page.say(_memory(report.process), indent=2)


def _core(page: Page, core: CoreLoad) -> str:
    mean = f"{core.mean_pct:5.1f} %" if core.mean_pct is not None else "      -"
    drawn = strip(resample(core.strip_pct, page.console.width - 24), ascii_only=page.ascii)
    return f"core {core.core:<3} {mean}  {drawn}"


def _cpu(use: ProcessUse) -> str:
    return (
        f"process tree {_in_cores(use.tree_cpu_pct)}, others {_in_cores(use.others_cpu_pct)}, "
        f"{overhead_words.HELPERS} {_in_cores(use.dlprof_cpu_pct)}"
    )


def _memory(use: ProcessUse) -> str:
    return (
        f"memory peak {size(use.peak_rss_bytes)} in {use.processes} process(es), {use.threads or '-'} threads; "
        f"least available {size(use.available_min_bytes)}"
    )


def _in_cores(pct: float | None) -> str:
    return "not measured" if pct is None else f"{pct / 100:.2f} cores"


def gpu(page: Page, report: Report) -> None:
    """Means and peaks of each GPU."""
    page.title("GPU")
    if isinstance(report.gpu, UnmeasuredGpus):
        page.say(f"not measured, because {safe(report.gpu.reason)}", indent=2)
        return
    names = ("gpu", "kernels running %", "memory", "power", "temp.", "SM clock", "throttled")
    table = page.table(*[(name, "right") for name in names])
    for use in report.gpu.gpus:
        table.add_row(*_gpu_row(use))
    page.show(table)


def _gpu_row(use: GpuUse) -> list[str]:
    return [
        f"{use.gpu} {use.name or ''}",
        _figure(use.utilisation_mean_pct, ""),
        f"{size(use.memory_peak_bytes)} of {size(use.memory_total_bytes)}",
        _figure(use.power_mean_w, " W"),
        _figure(use.temperature_peak_c, " C"),
        _figure(use.sm_clock_mean_mhz, " MHz"),
        _figure(use.throttled_share and 100 * use.throttled_share, " %"),
    ]


def _figure(value: float | None, unit: str) -> str:
    return "-" if value is None else f"{value:.0f}{unit}"


def not_measured(page: Page, report: Report, probe: str) -> None:
    """Say why a probe measured nothing."""
    told = report.probe(probe)
    reason = (told.reason if told is not None else None) or "nothing was recorded"
    page.say(f"not measured, because {safe(reason)}", indent=2)
