"""What ran on the devices: kernels by layer, and when GPUs were idle."""

from __future__ import annotations

from rich.text import Text

from dlprof.analysis.gpu_idle import GpuIdle
from dlprof.analysis.kernels import OF_HOST
from dlprof.report.console import Page
from dlprof.report.model import KernelSums, LayerKernels, Report
from dlprof.units import duration, percent, safe

_BLAMED = 3
"""What the host did in most of an idle time."""


def kernels(page: Page, report: Report) -> None:
    """Kernels with most time, by layer."""
    sums = report.kernels
    if sums is None or not sums.rows:
        return
    page.title("Kernels", f"{_all(sums)}; more: dlprof kernels {report.run}")
    names = ("layer", "direction", "on", "count", "time", "%", "operator")
    table = page.table(*[(name, "right" if name in ("count", "time", "%") else "left") for name in names])
    for row in sums.rows:
        table.add_row(*_kernel_row(row))
    page.show(table)
    if sums.dropped_events:
        page.say(f"{sums.dropped_events} events were dropped by the profiler", "yellow", 2)


def _all(sums: KernelSums) -> str:
    """Time of devices and of the host, each for itself: they run side by side."""
    if sums.all_of == OF_HOST:
        return f"{duration(sums.all_ns)} in all"
    host = f", {duration(sums.host_ns)} of operators on the host" if sums.host_ns else ""
    return f"{duration(sums.all_ns)} on devices{host}; shares are of each"


def _kernel_row(row: LayerKernels) -> list[Text | str]:
    layer = Text(safe(row.layer or "(no layer)"))
    operator = Text(safe(row.op or f"({row.category})"))
    share = f"{100 * row.share:.1f}"
    return [layer, row.direction or "-", row.device, f"{row.count:,}", duration(row.total_ns), share, operator]


def gpu_idle(page: Page, report: Report) -> None:
    """How long each GPU was idle, why, and what the host did meanwhile."""
    if not report.gpu_idle:
        return
    page.title("GPU idle", "time between the first and the last kernel in which nothing ran on the device")
    for idle in report.gpu_idle:
        share = percent(idle.idle_ns, idle.span_ns)
        page.say(f"gpu:{idle.device} idle {duration(idle.idle_ns)} ({share} %): {_reasons(idle)}", indent=2)
        for name, time_ns in idle.blamed[:_BLAMED]:
            page.say(f"{duration(time_ns)} while the host ran {safe(name or 'what no profiler saw')}", "dim", 4)


def _reasons(idle: GpuIdle) -> str:
    parts = (
        (idle.host_ns, "nothing was launched (host-bound)"),
        (idle.launch_ns, "launch latency"),
        (idle.wait_ns, "waiting on the device"),
    )
    return ", ".join(f"{duration(time_ns)} {text}" for time_ns, text in parts)
