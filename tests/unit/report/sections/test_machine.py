"""What the machine did, on a terminal."""

from __future__ import annotations

from dataclasses import replace

from dlprof.analysis.utilisation import GpuUse
from dlprof.report.model import CoreLoad, MeasuredGpus
from dlprof.report.sections import machine
from tests.unit.report.reports import printed, process_use, report, rows

GPU = GpuUse(0, "T4", 87.4, 2_000_000_000, 16_000_000_000, None, 61.2, 70.0, 1500.0, None, None, None, 0.25)


def test_a_core_has_its_mean_and_its_use_over_the_run() -> None:
    """A blank where nothing was measured."""
    cores = (CoreLoad(0, 50.04, (0.0, 99.0, None, 50.0)), CoreLoad(1, None, (None,)))

    lines = [line.strip() for line in printed(machine.cores, report(cores=cores), ascii_only=True)]

    assert lines[1:3] == ["core 0    50.0 %  _# =", "core 1         -"]


def test_use_of_the_machine_is_told_in_cores() -> None:
    """And what was not measured is said to be so."""
    use = process_use(tree_cpu_pct=150.0, others_cpu_pct=7.0, peak_rss_bytes=3_000_000, processes=2, threads=9)

    lines = [line.strip() for line in printed(machine.cores, report(cores=(CoreLoad(0, 1.0, (1.0,)),), process=use))]

    assert lines[2] == "process tree 1.50 cores, others 0.07 cores, dlprof's helpers not measured"
    assert lines[3] == "memory peak 3 MB in 2 process(es), 9 threads; least available -"


def test_of_many_cores_thirty_two_are_shown() -> None:
    """With the mean of all."""
    cores = tuple(CoreLoad(n, 100.0 if n < 20 else 0.0, (1.0,)) for n in range(40))

    lines = [line.strip() for line in printed(machine.cores, report(cores=cores))]

    assert len([line for line in lines if line.startswith("core ")]) == 32
    assert "... 8 more cores; mean of all 50.0 %" in lines


def test_cores_that_were_not_sampled_say_why() -> None:
    """Nothing more is said of the machine."""
    assert [line.strip() for line in printed(machine.cores, report())] == [
        "Cores and memory",
        "not measured, because nothing was recorded",
    ]


def test_a_gpu_is_a_row() -> None:
    """Means and peaks, with their units."""
    lines = printed(machine.gpu, report(gpu=MeasuredGpus(True, (GPU,))))

    assert rows(lines[2:]) == [["0 T4", "87", "2.00 GB of 16.00 GB", "61 W", "70 C", "1500 MHz", "25 %"]]


def test_what_a_gpu_does_not_tell_is_a_dash() -> None:
    """Not 0."""
    silent = replace(GPU, name=None, utilisation_mean_pct=None, power_mean_w=None, throttled_share=None)

    lines = printed(machine.gpu, report(gpu=MeasuredGpus(True, (silent,))))

    assert rows(lines[2:]) == [["0", "-", "2.00 GB of 16.00 GB", "-", "70 C", "1500 MHz", "-"]]


def test_gpus_that_were_not_sampled_say_why() -> None:
    """In one line."""
    assert [line.strip() for line in printed(machine.gpu, report())] == ["GPU", "not measured, because no driver"]
