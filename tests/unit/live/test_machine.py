"""Figures of cores, processes, memory and GPUs between two samples."""

from __future__ import annotations

import pytest

from dlprof.live.machine import Machine
from dlprof.live.records import GpuFigures
from tests.unit.live.live_runs import IDLE, MS, cores


def test_use_of_cores_and_processes_is_that_since_the_sample_before() -> None:
    """Ticks since the sample before; a process that is new counts from its first sample."""
    machine = Machine()
    machine.units(4096, 100)
    machine.cores_sample(cores(0, [IDLE, IDLE], (10, 100, 1000)))
    assert machine.busy_pct is None
    assert machine.cpu_pct is None

    machine.cores_sample(cores(100 * MS, [(5, 1, 2, 0, 2), (0, 0, 0, 0, 10)], (10, 109, 500), (11, 50, 100)))

    assert machine.busy_pct == (60.0, 0.0)
    assert machine.cpu_pct == pytest.approx(90.0)
    assert machine.rss_bytes == 600 * 4096
    assert machine.peak_rss_bytes == 1000 * 4096


def test_a_sample_in_which_a_core_counted_nothing_changes_nothing() -> None:
    """The kernel counts in ticks: none yet is no 0 %."""
    machine = Machine()
    machine.cores_sample(cores(0, [IDLE]))
    machine.cores_sample(cores(100 * MS, [(9, 0, 0, 0, 1)]))
    machine.cores_sample(cores(101 * MS, [(9, 0, 0, 0, 1)]))

    assert machine.busy_pct == (90.0,)


def test_the_memory_of_a_tree_that_has_just_ended_is_that_of_its_last_sample() -> None:
    """Its use of cores is not known any more."""
    machine = Machine()
    machine.cores_sample(cores(0, [IDLE], (10, 0, 3)))
    machine.cores_sample(cores(100 * MS, [(9, 0, 0, 0, 1)]))

    assert machine.rss_bytes == 3 * 4096
    assert machine.cpu_pct is None


def test_a_figure_that_a_gpu_did_not_tell_keeps_its_last_value() -> None:
    """Some are read once a second; what was never told is not known."""
    machine = Machine()
    machine.gpu_sample(0, GpuFigures(utilisation_pct=87, temperature_c=40))
    machine.gpu_sample(0, GpuFigures(utilisation_pct=90))

    assert machine.gpus == {0: GpuFigures(utilisation_pct=90, temperature_c=40)}
