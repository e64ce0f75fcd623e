"""Tables of rocprof and rocprofv3."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.ingest.artifact import ArtifactError
from dlprof.ingest.formats import registry, rocprof_csv
from tests.unit.ingest.formats.samples import put
from tests.unit.ingest.imports import imported, rows

V1 = (
    '"Index","KernelName","gpu-id","queue-id","queue-index","pid","tid","grd","wgr","lds","scr","arch_vgpr","accum_vgpr",'
    '"sgpr","wave_size","sig","obj","DispatchNs","BeginNs","EndNs","CompleteNs","DurationNs"\n'
    '0,"bodyForce(Body*, float, int) [clone .kd]",0,0,0,3670615,3670615,65536,256,0,0,20,4,16,64,"0x0","0x7f7b27c04500",'
    "1591372809346673,1591372809872935,1591372836189584,1591372836215944,26316649\n"
    '1,"bodyForce(Body*, float, int) [clone .kd]",0,0,2,3670615,3670615,65536,256,0,0,20,4,16,64,"0x0","0x7f7b27c04500",'
    "1591372836774261,1591372837000949,1591372863116796,1591372863132315,26115847\n"
)
"""The `results.csv` of rocprof 5.3, as a public guide shows it."""

KERNELS = (
    '"Kind","Agent_Id","Queue_Id","Stream_Id","Thread_Id","Dispatch_Id","Kernel_Id","Kernel_Name","Correlation_Id",'
    '"Start_Timestamp","End_Timestamp"\n'
    '"KERNEL_DISPATCH","Agent 4",1,1,852831,1,10,"void addition_kernel<float>(float*, int)",1,1551874061244694,1551874061255734\n'
    '"KERNEL_DISPATCH","Agent 4",2,1,852831,2,13,"subtract_kernel(float*, int)",2,1551874061259214,1551874061270254\n'
)
"""Rows of `kernel_trace.csv` in ROCm's own guide to rocprofv3, without the columns on sizes."""

CALLS = (
    '"Domain","Function","Process_Id","Thread_Id","Correlation_Id","Start_Timestamp","End_Timestamp"\n'
    '"HIP_RUNTIME_API","hipLaunchKernel",7,852831,1,1551874061240000,1551874061241000\n'
    '"HIP_RUNTIME_API","hipDeviceSynchronize",7,852831,3,1551874061260000,1551874061270500\n'
    '"MARKER_CORE_API","step 1",7,852831,4,1551874061230000,1551874061280000\n'
)
"""As that guide shows `hip_api_trace.csv` and `marker_api_trace.csv`."""


def test_kernels_of_rocprof_have_the_times_of_the_device(tmp_path: Path) -> None:
    """Not those of the dispatch, which come before."""
    path = put(tmp_path, V1, "results.csv")
    assert registry.find(path) is rocprof_csv.READER

    query = "SELECT kind, name, device, lane, start_ns, dur_ns FROM kernels ORDER BY start_ns"
    assert rows(imported(tmp_path, path), query) == [
        ("kernel", "bodyForce(Body*, float, int)", "gpu:0", "queue 0", 0, 26316649),
        ("kernel", "bodyForce(Body*, float, int)", "gpu:0", "queue 0", 27128014, 26115847),
    ]


def test_tables_of_one_run_of_rocprofv3_share_a_clock(tmp_path: Path) -> None:
    """Nothing is moved against the other; markers are ranges."""
    run = imported(tmp_path, put(tmp_path, KERNELS, "kernel_trace.csv"), put(tmp_path, CALLS, "hip_api_trace.csv"))

    assert rows(run, "SELECT kind, name, device, start_ns, dur_ns FROM kernels ORDER BY start_ns") == [
        ("annotation", "step 1", "cpu", 0, 50_000),
        ("runtime", "hipLaunchKernel", "cpu", 10_000, 1_000),
        ("kernel", "void addition_kernel<float>(float*, int)", "gpu:4", 14_694, 11_040),
        ("kernel", "subtract_kernel(float*, int)", "gpu:4", 29_214, 11_040),
        ("wait", "hipDeviceSynchronize", "cpu", 30_000, 10_500),
    ]
    assert [row["slug"] for row in run.rows("health")] == []


def test_copies_sums_and_counters_are_tables_of_their_own(tmp_path: Path) -> None:
    """A copy is on the device at the other end; sums have no times, and counters are no kernels."""
    copies = (
        '"Kind","Direction","Source_Agent_Id","Destination_Agent_Id","Correlation_Id","Start_Timestamp","End_Timestamp"\n'
        '"MEMORY_COPY","MEMORY_COPY_HOST_TO_DEVICE","Agent 0","Agent 4",0,100,300\n'
        '"MEMORY_COPY","MEMORY_COPY_DEVICE_TO_HOST","Agent 4","Agent 0",0,400,450\n'
    )
    sums = (
        '"Name","Calls","TotalDurationNs","AverageNs","Percentage","MinNs","MaxNs","StdDev"\n'
        '"hipLaunchKernel",3,900,300,75,200,400,1\n"vecAdd(float*)",3,300,100,25,90,110,1\n'
    )
    counters = (
        '"Correlation_Id","Dispatch_Id","Agent_Id","Queue_Id","Kernel_Name","Counter_Name","Counter_Value"\n'
        '1,1,"Agent 1",1,"mul","MemUnitBusy",5.5\n2,2,"Agent 1",1,"mul","MemUnitBusy",6.5\n'
    )
    files = [put(tmp_path, text, f"{name}.csv") for name, text in (("a", copies), ("b", sums), ("c", counters))]
    run = imported(tmp_path, *files)

    assert rows(run, "SELECT kind, name, device, dur_ns FROM kernels ORDER BY start_ns") == [
        ("transfer", "HOST_TO_DEVICE", "gpu:4", 200),
        ("transfer", "DEVICE_TO_HOST", "gpu:4", 50),
    ]
    assert rows(run, "SELECT kind, name, count, total_ns, min_ns FROM kernel_totals JOIN kernel_ops USING (op_id)") == [
        ("runtime", "hipLaunchKernel", 3, 900, 200),
        ("kernel", "vecAdd(float*)", 3, 300, 90),
    ]
    assert rows(run, "SELECT kernel, counter, count, min_value, mean_value FROM kernel_counters") == [
        ("mul", "MemUnitBusy", 2, 5.5, 6.0)
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("1591372836189584", "1", "line 2: a time from 1591372809872935 to 1"),
        ("1591372809872935", "-1", "line 2: '-1' is not a whole number"),
        (",26316649\n", "\n", "line 2: 21 columns instead of 22"),
        ("0,0,0,3670615", "gpu,0,0,3670615", "line 2: 'gpu' is not the number of a device"),
    ],
)
def test_a_damaged_row_names_its_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    """And no run is left."""
    with pytest.raises(ArtifactError, match=message):
        imported(tmp_path, put(tmp_path, V1.replace(old, new, 1), "results.csv"))
