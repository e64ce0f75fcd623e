"""The part of the screen that shows cores, memory and GPUs."""

from __future__ import annotations

import statistics

from rich.segment import Segment

from dlprof.live.machine import Machine
from dlprof.live.model import LiveRun
from dlprof.live.records import GpuFigures
from dlprof.live.rows import BAR, DIM, Row, Signs
from dlprof.schema.vocabulary import ProbeState
from dlprof.units import safe, size


def machine_panel(live: LiveRun, signs: Signs, width: int, rows: int) -> list[Row]:
    """At most `rows` rows (two at least), the heading among them."""
    below = [_memory(live.machine), *_gpus(live)][: max(1, rows - 2)]
    cores = _cores(live, signs, width, rows - 1 - len(below))
    return [signs.title("cores, memory, GPU", width), *cores, *below]


def _cores(live: LiveRun, signs: Signs, width: int, rows: int) -> list[Row]:
    """A row for each core; a strip of all where there are too many."""
    busy_pct = live.machine.busy_pct
    if busy_pct is None:
        return [[Segment(f" cores: {_why_nothing(live, 'cores')}", DIM)]]
    if len(busy_pct) <= rows:
        return [
            [Segment(f" core {number:<3}{pct:4.0f} % "), signs.bar(pct / 100, width - 15)]
            for number, pct in enumerate(busy_pct)
        ]
    blocks = "".join(signs.blocks[min(7, max(0, int(pct / 12.5)))] for pct in busy_pct)
    per_row = max(1, width - 2)
    strips = [blocks[start : start + per_row] for start in range(0, len(blocks), per_row)]
    mean = f" {len(busy_pct)} cores, mean {statistics.fmean(busy_pct):.0f} %"
    return [[Segment(mean)], *([Segment(f" {strip}", BAR)] for strip in strips)][: max(1, rows)]


def _memory(machine: Machine) -> Row:
    if machine.rss_bytes is None:
        return [Segment(" memory: no sample yet", DIM)]
    text = f" CPU {machine.cpu_pct:.0f} %  " if machine.cpu_pct is not None else ""
    text += f" memory {size(machine.rss_bytes)} (peak {size(machine.peak_rss_bytes)})"
    if machine.available_bytes is not None:
        text += f", free {size(machine.available_bytes)}"
    return [Segment(text)]


def _gpus(live: LiveRun) -> list[Row]:
    machine = live.machine
    if not machine.gpus:
        what = "no GPU" if live.probe("gpu").state == ProbeState.UNAVAILABLE else "GPU"
        return [[Segment(f" {what}: {_why_nothing(live, 'gpu')}", DIM)]]
    names = dict(enumerate(machine.gpu_names))
    return [[Segment(_gpu(number, names.get(number), machine.gpus[number]))] for number in sorted(machine.gpus)]


def _gpu(number: int, name: str | None, figures: GpuFigures) -> str:
    used, total = figures.memory_used_bytes, figures.memory_total_bytes
    parts = (
        f" GPU {number}" + (f" {safe(name)}" if name else ""),
        _figure(figures.utilisation_pct, "%"),
        "" if used is None else f"{size(used)} of {size(total)}",
        _figure(figures.power_w, "W"),
        _figure(figures.temperature_c, "C"),
    )
    return "  ".join(part for part in parts if part)


def _figure(value: float | None, unit: str) -> str:
    return "" if value is None else f"{value:.0f} {unit}"


def _why_nothing(live: LiveRun, probe: str) -> str:
    """Why a probe has given nothing (yet)."""
    state, reason = live.probe(probe)
    return safe(reason or ("no sample yet" if state == ProbeState.ON else state))
