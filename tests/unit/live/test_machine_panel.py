"""Cores, memory and GPUs on the screen."""

from __future__ import annotations

from dlprof.live.machine_panel import machine_panel
from dlprof.live.model import LiveRun, ProbeStatus
from dlprof.live.records import GpuFigures
from dlprof.live.rows import Signs, text
from tests.unit.live.live_runs import IDLE, S, cores, training


def panel(live: LiveRun, rows: int = 10, width: int = 39) -> list[str]:
    """Its rows as text, less the heading."""
    title, *rows_below = text(machine_panel(live, Signs(), width, rows))
    assert title.startswith("─ cores, memory, GPU ─")
    return [row.rstrip() for row in rows_below]


def test_every_core_has_a_bar() -> None:
    """And memory and GPU a row below."""
    assert panel(training()) == [
        " core 0    90 % █████████████████████▋",
        " core 1    10 % ██▍",
        " CPU 95 %   memory 614 MB (peak 614 MB), free 16.00 GB",
        " no GPU: no NVIDIA driver is installed",
    ]


def test_many_cores_become_a_strip_with_their_mean() -> None:
    """Where there is no row for each."""
    live = training()
    live.machine.cores_sample(cores(2 * S, [IDLE] * 128))
    live.machine.cores_sample(cores(3 * S, [(25, 0, 0, 0, 75)] * 128))

    assert panel(live)[:2] == [" 128 cores, mean 25 %", " " + "▃" * 37]


def test_a_gpu_is_shown_with_what_it_told() -> None:
    """What it did not tell is left out, and is no zero."""
    live = training()
    live.machine.gpu_names = ("NVIDIA H200",)
    figures = GpuFigures(utilisation_pct=87, power_w=412.4, memory_used_bytes=12.3e9, memory_total_bytes=141e9)
    live.machine.gpu_sample(0, figures)

    assert panel(live)[-1] == " GPU 0 NVIDIA H200  87 %  12.30 GB of 141.00 GB  412 W"


def test_gpus_without_a_name_have_a_row_each() -> None:
    """In the order of their numbers."""
    live = training()
    for number in (1, 0):
        live.machine.gpu_sample(number, GpuFigures(temperature_c=40 + number))

    assert panel(live)[-2:] == [" GPU 0  40 C", " GPU 1  41 C"]


def test_a_probe_without_a_sample_says_why() -> None:
    """Its reason, its state, or that none has come yet."""
    live = LiveRun("a", "b", 0)
    assert panel(live) == [" cores: starting", " memory: no sample yet", " GPU: starting"]

    live.probe_said("cores", ProbeStatus("on"))
    live.probe_said("gpu", ProbeStatus("failed", "the driver\x1b[2J is gone"))
    shown = panel(live)
    assert shown[0] == " cores: no sample yet"
    assert "\x1b" not in shown[2]
    assert shown[2].startswith(" GPU: the driver")
