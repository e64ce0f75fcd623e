"""The tables of nvprof with counters of kernels."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.ingest.artifact import ArtifactError
from dlprof.ingest.formats import nvprof_counters, registry
from tests.unit.ingest.formats.samples import put
from tests.unit.ingest.imports import imported, rows

TEXT = """\
==19128== Profiling application: ./native.o 1 0.01
==19128== Profiling result:
==19128== Metric result:
Invocations                               Metric Name                        Metric Description         Min         Max         Avg
Device "GeForce GTX 1070 (0)"
    Kernel: getError(int, int, float*, float*, float*)
          1                            gld_efficiency             Global Memory Load Efficiency     100.00%     100.00%     100.00%
          1                        shared_utilization                 Shared Memory Utilization    Idle (0)    Idle (0)    Idle (0)
    Kernel: void better_reduce_kernel<unsigned int=1024>(float*, float*, unsigned int, unsigned int)
       1000                      dram_read_throughput             Device Memory Read Throughput  1.1655GB/s  1.1655GB/s  1.1651GB/s
"""
"""Rows of `gradient/native.profile` and `opencv/non_shared/pyrup.profile` of sankarmanoj/thrust2D."""

CSV = """\
==15227== Metric result:
"Device","Kernel","Invocations","Metric Name","Metric Description","Min","Max","Avg"
"Tesla K20c (0)","__kernel___forma_kernel__0__(float*, int, int, float*)",3,"flop_count_sp","Floating Point Operations(Single Precision)",673384360,673384360,673384360
"""
EVENTS = """\
==41== Event result:
Invocations                                Event Name         Min         Max         Avg       Total
Device "Tesla K40 (1)"
    Kernel: axpy(int)
          2                            warps_launched          10          30          20          40
"""


def test_metrics_are_counters_with_their_units(tmp_path: Path) -> None:
    """A level is its number; what is no number has none."""
    path = put(tmp_path, TEXT, "log.txt")
    assert registry.find(path) is nvprof_counters.READER

    run = imported(tmp_path, path)

    query = "SELECT device, counter, title, unit, count, min_value, max_value, mean_value FROM kernel_counters ORDER BY counter"
    assert rows(run, query) == [
        (0, "dram_read_throughput", "Device Memory Read Throughput", "GB/s", 1000, 1.1655, 1.1655, 1.1651),
        (0, "gld_efficiency", "Global Memory Load Efficiency", "%", 1, 100.0, 100.0, 100.0),
        (0, "shared_utilization", "Shared Memory Utilization", "level", 1, 0.0, 0.0, 0.0),
    ]
    assert run.rows("health")[0]["slug"] == "counters-only"


def test_metrics_as_csv_and_events_are_the_same_table(tmp_path: Path) -> None:
    """Events have no description."""
    run = imported(tmp_path, put(tmp_path, CSV, "a.csv"), put(tmp_path, EVENTS, "b.txt"))

    assert rows(run, "SELECT device, kernel, counter, title, count, mean_value FROM kernel_counters ORDER BY device") == [
        (0, "__kernel___forma_kernel__0__(float*, int, int, float*)", "flop_count_sp",
         "Floating Point Operations(Single Precision)", 3, 673384360.0),
        (1, "axpy(int)", "warps_launched", None, 2, 20.0),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (TEXT.replace("          1           ", "        one           ", 1), "line 7: 'one' is not a whole number"),
        (EVENTS.replace("          20", ""), "line 5: 5 columns instead of 6"),
        (EVENTS.replace("    Kernel: axpy(int)\n", ""), "counters before the first kernel"),
        (CSV.splitlines()[1] + "\n", "no table of metrics or events with rows"),
    ],
)
def test_a_damaged_table_names_the_line(tmp_path: Path, content: str, message: str) -> None:
    """And no run is left."""
    with pytest.raises(ArtifactError, match=message):
        imported(tmp_path, put(tmp_path, content, "log.txt"))
