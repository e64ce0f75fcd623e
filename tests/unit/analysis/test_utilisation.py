"""Use of the machine."""

from __future__ import annotations

from dlprof.analysis import utilisation
from dlprof.analysis.utilisation import MachineUse
from dlprof.schema.manifest import Manifest
from tests.unit.runs import table


def test_the_machine_is_summed_over_processes_and_averaged_over_time() -> None:
    """Two processes of 100 and 50 %, then one of 200 % for three times as long."""
    machine = [
        {"time_ns": 1, "interval_ns": 10, "others_cpu_pct": 10.0, "memory_available_bytes": 80},
        {"time_ns": 2, "interval_ns": 30, "others_cpu_pct": 50.0, "memory_available_bytes": 60},
    ]
    samples = [
        {"time_ns": 1, "interval_ns": 10, "cpu_pct": 100.0, "rss_bytes": 5, "threads": 4, "faults_major": 1},
        {"time_ns": 1, "interval_ns": 10, "cpu_pct": 50.0, "rss_bytes": 6, "pid": 43, "threads": 9},
        {"time_ns": 2, "interval_ns": 30, "cpu_pct": 200.0, "rss_bytes": 10, "threads": 5, "faults_major": 7},
    ]

    found = utilisation.machine(table("machine", machine), lambda: [table("process_samples", samples)], 2, 42)

    assert found == MachineUse(
        tree_cpu_pct=187.5,
        others_cpu_pct=40.0,
        dlprof_cpu_pct=None,
        peak_rss_bytes=11,
        threads=5,
        processes=2,
        available_min_bytes=60,
        major_faults=7,
        switches_involuntary=None,
    )


def test_a_machine_that_was_not_measured_has_no_figures() -> None:
    """None of them is 0."""
    found = utilisation.machine(table("machine", []), list, 0, None)

    assert (found.tree_cpu_pct, found.others_cpu_pct, found.peak_rss_bytes) == (None, None, None)


def test_each_gpu_has_means_and_peaks() -> None:
    """Idleness, and clocks that were set, are no throttling."""
    rows = [
        {"time_ns": 1, "gpu": 1, "utilisation_pct": 20.0, "power_w": 100.0, "memory_used_bytes": 5, "throttle_reasons": 1},
        {"time_ns": 2, "gpu": 1, "utilisation_pct": 60.0, "power_w": 200.0, "memory_used_bytes": 7, "throttle_reasons": 4},
        {"time_ns": 2, "gpu": 0, "utilisation_pct": 0.0},
    ]  # fmt: skip

    first, second = utilisation.gpus(table("gpu", rows), Manifest())

    assert (first.gpu, first.utilisation_mean_pct, first.throttled_share) == (0, 0.0, None)
    assert (second.gpu, second.utilisation_mean_pct, second.power_mean_w, second.memory_peak_bytes) == (
        1,
        40.0,
        150.0,
        7,
    )
    assert second.throttled_share == 0.5
