"""What ran on the devices: kernels by layer, and when GPUs were idle."""

from __future__ import annotations

import json
from collections.abc import Sequence

from rich.text import Text

from dlprof.analysis.device_time import DeviceTime, SpanOf
from dlprof.analysis.gpu_idle import GpuIdle, HostDoing
from dlprof.analysis.kernels import OF_HOST
from dlprof.report import worth_a_row
from dlprof.report.console import Page
from dlprof.report.model import KernelSums, LayerKernels, LineKernels, Report
from dlprof.units import duration, percent, safe

_BLAMED = 3
"""What the host did in most of an idle time."""


def kernels(page: Page, report: Report) -> None:
    """Kernels with most time, by layer."""
    sums = report.kernels
    if sums is None or not sums.rows:
        return
    page.title("Kernels", f"{_all(sums)}; more: dlprof kernels {page.typed or report.run}")
    names = ("layer", "direction", "on", "count", "time", "%", "operator")
    table = page.table(*[(name, "right" if name in ("count", "time", "%") else "left") for name in names])
    shown = [row for row in sums.rows if row.share >= worth_a_row.LEAST_SHARE] if page.brief else list(sums.rows)
    for row in shown or sums.rows:
        table.add_row(*_kernel_row(row))
    page.show(table)
    if shown and (rest := len(sums.rows) - len(shown)):
        page.say(f"{worth_a_row.others(rest)} of these, each below 1 %", "dim", 2)
    if sums.dropped_events:
        page.say(f"{sums.dropped_events} events were dropped by the profiler", "yellow", 2)
    if sums.by_line:
        _by_line(page, sums.by_line, page.typed or report.run)


def _by_line(page: Page, rows: Sequence[LineKernels], typed: str) -> None:
    """The same by the line that made them, for code that no clock in Python sees."""
    page.title("Kernels by line", f"of compiled functions; more: dlprof kernels {typed} --by line")
    names = ("line", "on", "count", "time", "%", "source")
    table = page.table(*[(name, "right" if name in ("count", "time", "%") else "left") for name in names])
    for row in rows:
        place = "(no line)" if row.file is None else f"{row.file}:{row.line}"
        share = f"{100 * row.share:.1f}"
        source = Text(safe(row.source or ""))
        table.add_row(Text(safe(place)), row.device, f"{row.count:,}", duration(row.total_ns), share, source)
    page.show(table)


def _all(sums: KernelSums) -> str:
    """Time of devices and of the host, each for itself: they run side by side."""
    if sums.all_of == OF_HOST:
        return f"{duration(sums.all_ns)} in all"
    host = f", {duration(sums.host_ns)} of operators on the host" if sums.host_ns else ""
    return f"{duration(sums.all_ns)} on devices{host}; shares are of each"


def _kernel_row(row: LayerKernels) -> list[Text | str]:
    layer = Text(safe(row.layer or "(no layer told)"))
    operator = Text(safe(row.op or f"({row.category})"))
    share = f"{100 * row.share:.1f}"
    return [layer, row.direction or "-", row.device, f"{row.count:,}", duration(row.total_ns), share, operator]


def busy(page: Page, report: Report) -> None:
    """How long each device was busy, and with what."""
    if not report.devices:
        return
    page.title("Devices", f"of the time from {_span(report.devices)}")
    several = len({time.rank for time in report.devices}) > 1
    for time in report.devices:
        whose = f"{_of_rank(time, several=several)}{_of_process(report, time)}"
        shares = [f"busy {percent(time.busy_ns, time.span_ns)} %, idle {percent(time.idle_ns, time.span_ns)} %"]
        shares.append(f"kernels computed {percent(time.compute_ns, time.span_ns)} %")
        page.say(f"{time.device}{whose} of {duration(time.span_ns)}: {', '.join([*shares, *_beside(time)])}", indent=2)


def _span(devices: Sequence[DeviceTime]) -> str:
    own = any(time.span_of is SpanOf.WINDOWS for time in devices)
    return "begin to end of the kernel windows" if own else "the first to the last kernel or copy of each"


def _beside(time: DeviceTime) -> list[str]:
    """Collectives and copies, where there were some."""
    parts = []
    if time.communication_ns:
        overlapped = percent(time.communication_overlapped_ns, time.communication_ns)
        share = percent(time.communication_ns, time.span_ns)
        parts.append(f"collectives ran {share} % ({overlapped} % of that beside computing)")
    if time.memory_ns:
        parts.append(f"copies and memsets {percent(time.memory_ns, time.span_ns)} %")
    return parts


def gpu_idle(page: Page, report: Report) -> None:
    """How long each GPU was idle, why, and what the host did meanwhile."""
    if not report.gpu_idle:
        return
    page.title("GPU idle", "time between the first and the last kernel in which nothing ran on the device")
    ranks = len({idle.rank for idle in report.gpu_idle})
    names = {time.number: time.device for time in report.devices}
    for idle in report.gpu_idle:
        share = percent(idle.idle_ns, idle.span_ns)
        name = (
            names.get(idle.device, f"gpu:{idle.device}") + _of_rank(idle, several=ranks > 1) + _of_process(report, idle)
        )
        page.say(f"{name} idle {duration(idle.idle_ns)} ({share} %): {_reasons(idle)}", indent=2)
        for doing in idle.host_doings[:_BLAMED]:
            page.say(f"{duration(doing.ns)} {safe(waiting_for(doing))}", "dim", 4)


def _of_rank(used: GpuIdle | DeviceTime, *, several: bool) -> str:
    """Whose the device is, where there are several ranks."""
    return f" of rank {used.rank}" if several and used.rank is not None else ""


def _of_process(report: Report, used: GpuIdle | DeviceTime) -> str:
    """Which process used the device, where there are several of its rank."""
    if used.pid is None:
        return ""
    told = (json.loads(source.facts or "{}") for source in report.sources)
    named = next(
        (one["process"] for one in told if one.get("pid") == used.pid and not one.get("is_numbered", True)), None
    )
    return f" of {safe(str(named))}" if named else f" of process {used.pid}"


def waiting_for(doing: HostDoing) -> str:
    """What the device waited for, in words."""
    if doing.name is None:
        return "waiting for the host, of which nothing was recorded"
    within = f" in {doing.within}" if doing.within else ""
    at = f", at {doing.at}" if doing.at else ""
    thread = ", on another thread than the one that launches" if doing.elsewhere else ""
    return f"waiting for the host, mostly in {doing.name}{within}{at}{thread}"


def _reasons(idle: GpuIdle) -> str:
    parts = (
        (idle.host_ns, "nothing was launched (host-bound)"),
        (idle.launch_ns, "launch latency"),
        (idle.wait_ns, "waiting on the device"),
        (idle.unknown_ns, "for causes that nothing tells: launches were not recorded, or were those of whole graphs"),
    )
    return ", ".join(f"{duration(time_ns)} {text}" for time_ns, text in parts if time_ns) or "in no gap"
