"""The tables of nvprof with a row per kernel, copy or call, as text."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.ingest.artifact import ArtifactError
from dlprof.ingest.formats import nvprof_trace_text, registry
from tests.unit.ingest.formats.samples import put
from tests.unit.ingest.imports import imported, rows

GPU = """\
    ==31050== NVPROF is profiling process 31050, command: ./pi-gpu 1000000000
    ==31050== Profiling result:
       Start  Duration            Grid Size      Block Size     Regs*    SSMem*    DSMem*      Size  Throughput  SrcMemType  DstMemType           Device   Context    Stream  Name
    182.84ms  23.136us                    -               -         -         -         -  256.00KB  10.552GB/s    Pageable      Device  Tesla P100-PCIE         1         7  [CUDA memcpy HtoD]
    182.89ms  1.9769ms            (512 1 1)       (128 1 1)        31        0B        0B         -           -           -           -  Tesla P100-PCIE         1         7  setup_rng(curandStateXORWOW*, unsigned long) [118]
    184.87ms  11.450ms            (512 1 1)       (128 1 1)        19        0B        0B         -           -           -           -  Tesla P100-PCIE         1         7  throw_dart(curandStateXORWOW*, int*, unsigned long*) [119]
    196.33ms  40.704us                    -               -         -         -         -  512.00KB  11.996GB/s      Device    Pageable  Tesla P100-PCIE         1         7  [CUDA memcpy DtoH]

    Regs: Number of registers used per CUDA thread.
"""
"""A log of a Tesla P100, as a public course on GPUs shows it."""

API = """\
==6999== Profiling result:
   Start  Duration  Name
108.38ms  6.2130us  cuDeviceGetCount
182.88ms  4.3540us  cudaLaunchKernel (setup_rng(curandStateXORWOW*, unsigned long) [118])
196.20ms     840ns  cudaDeviceSynchronize
"""
"""As NVIDIA's Profiler User's Guide shows it."""


def test_kernels_and_copies_have_the_times_that_are_printed(tmp_path: Path) -> None:
    """Titles tell where the columns are, also where the table is indented."""
    path = put(tmp_path, GPU, "log.txt")
    assert registry.find(path) is nvprof_trace_text.READER

    run = imported(tmp_path, path)

    assert rows(
        run, "SELECT kind, name, device, lane, start_ns, dur_ns, bytes FROM kernels ORDER BY start_ns"
    ) == [
        ("transfer", "[CUDA memcpy HtoD]", "gpu:0", "stream 7", 0, 23_136, 262144),
        ("kernel", "setup_rng(curandStateXORWOW*, unsigned long)", "gpu:0", "stream 7", 50_000, 1_976_900, None),
        ("kernel", "throw_dart(curandStateXORWOW*, int*, unsigned long*)", "gpu:0", "stream 7", 2_030_000, 11_450_000, None),
        ("transfer", "[CUDA memcpy DtoH]", "gpu:0", "stream 7", 13_490_000, 40_704, 524288),
    ]  # fmt: skip
    assert [gpu.name for gpu in run.manifest.gpus or ()] == ["Tesla P100-PCIE"]


def test_how_coarse_the_times_are_is_said(tmp_path: Path) -> None:
    """Five digits of milliseconds are tens of microseconds."""
    run = imported(tmp_path, put(tmp_path, GPU, "log.txt"))

    assert [(row["slug"], row["severity"]) for row in run.rows("health")][-1] == ("times-rounded", "warning")
    assert "the coarsest to 10,000 ns" in run.rows("health")[-1]["message"]


def test_a_call_of_the_api_is_linked_to_the_kernel_that_it_launched(tmp_path: Path) -> None:
    """By the number in brackets; both tables may be in one log."""
    run = imported(tmp_path, put(tmp_path, API + "\n" + GPU, "log.txt"))

    assert rows(run, "SELECT kind, delay_ns FROM kernels WHERE name LIKE 'setup_rng%'") == [("kernel", 10_000)]
    assert rows(run, "SELECT kind, count(*) FROM kernels WHERE device = 'cpu' GROUP BY ALL ORDER BY ALL") == [
        ("runtime", 2),
        ("wait", 1),
    ]


@pytest.mark.parametrize("old, new", [("182.89ms", "  soon  "), ("1.9769ms", "1.9769 h")])
def test_a_row_that_does_not_fit_its_titles_names_its_line(tmp_path: Path, old: str, new: str) -> None:
    """And no traceback."""
    with pytest.raises(ArtifactError, match="line 5: .* is not a time"):
        imported(tmp_path, put(tmp_path, GPU.replace(old, new), "log.txt"))
