"""What ran on the devices, on a terminal."""

from __future__ import annotations

import json
from dataclasses import replace

from msgspec import structs

from dlprof.analysis.device_time import DeviceTime, SpanOf
from dlprof.analysis.gpu_idle import GpuIdle, HostDoing
from dlprof.report.model import KernelSums, LayerKernels, LineKernels, Source
from dlprof.report.sections import devices
from tests.unit.report.reports import printed, report, rows
from tests.unit.runs import MS

DENSE = LayerKernels("dense", "forward", "MatMul", "matmul", "kernel", "gpu:0", 1250, 30 * MS, 0.75)
SUMS = KernelSums((DENSE,), 40 * MS, 10 * MS, 0, (), ())
IDLE = GpuIdle(
    0,
    100 * MS,
    40 * MS,
    30 * MS,
    6 * MS,
    4 * MS,
    9,
    [("Relu", 20 * MS), (None, 10 * MS)],
    0,
    [
        HostDoing("Relu", "## forward ##", "train.py(41): main", False, 20 * MS),
        HostDoing("## backward ##", None, None, True, 7 * MS),
        HostDoing(None, None, None, False, 3 * MS),
    ],
)
BUSY = DeviceTime(
    device="gpu:0", number=0, host="h", rank=0, span_ns=100 * MS, busy_ns=70 * MS, idle_ns=30 * MS, compute_ns=40 * MS,
    non_compute_ns=30 * MS, communication_ns=30 * MS, communication_overlapped_ns=10 * MS, memory_ns=5 * MS, events=3,
    events_ns=75 * MS, span_of=SpanOf.EVENTS, streams=(),
)  # fmt: skip


def test_a_layer_is_a_row() -> None:
    """With its operator last."""
    lines = printed(devices.kernels, report(kernels=SUMS))

    assert lines[0] == "Kernels  40.0 ms in all; more: dlprof kernels r"
    assert rows(lines[1:]) == [
        ["layer", "direction", "on", "count", "time", "%", "operator"],
        ["dense", "forward", "gpu:0", "1,250", "30.0 ms", "75.0", "MatMul"],
    ]


def test_kernels_without_a_layer_or_an_operator_say_so() -> None:
    """The category stands in for the operator."""
    loose = structs.replace(DENSE, layer=None, direction=None, op=None)

    lines = printed(devices.kernels, report(kernels=structs.replace(SUMS, rows=(loose,))))

    assert rows(lines[2:]) == [["(no layer told)", "-", "gpu:0", "1,250", "30.0 ms", "75.0", "(matmul)"]]


def test_events_that_the_profiler_dropped_are_told() -> None:
    """The sums lack them."""
    lines = printed(devices.kernels, report(kernels=structs.replace(SUMS, dropped_events=7)))

    assert lines[-1].strip() == "7 events were dropped by the profiler"


def test_a_run_without_kernels_has_no_section() -> None:
    """Nor has one in which none of them took time."""
    assert printed(devices.kernels, report()) == []
    assert printed(devices.kernels, report(kernels=structs.replace(SUMS, rows=()))) == []


def test_idle_time_of_a_gpu_has_its_reasons() -> None:
    """And what the host did in most of it."""
    lines = [line.strip() for line in printed(devices.gpu_idle, report(gpu_idle=(IDLE,)))]

    assert " ".join(lines[1:3]) == (
        "gpu:0 idle 40.0 ms (40.0 %): 30.0 ms nothing was launched (host-bound), 6.00 ms launch latency, "
        "4.00 ms waiting on the device"
    )
    assert " ".join(lines[3:]) == (
        "20.0 ms waiting for the host, mostly in Relu in ## forward ##, at train.py(41): main "
        "7.00 ms waiting for the host, mostly in ## backward ##, on another thread than the one that launches "
        "3.00 ms waiting for the host, of which nothing was recorded"
    )


def test_three_causes_of_idle_time_are_shown() -> None:
    """Those with most time."""
    idle = replace(IDLE, host_doings=[HostDoing(f"op{n}", None, None, False, MS) for n in range(5)])

    lines = printed(devices.gpu_idle, report(gpu_idle=(idle,)))

    assert [line.split()[-1] for line in lines if "waiting for the host" in line] == ["op0", "op1", "op2"]


def test_idle_time_of_no_known_cause_is_told_apart() -> None:
    """It is not called a wait of the device."""
    unknown = replace(IDLE, host_ns=0, launch_ns=0, wait_ns=0, unknown_ns=40 * MS)

    lines = printed(devices.gpu_idle, report(gpu_idle=(unknown,)))

    assert " ".join(line.strip() for line in lines[1:3]) == (
        "gpu:0 idle 40.0 ms (40.0 %): 40.0 ms for causes that nothing tells: launches were not recorded, or were "
        "those of whole graphs"
    )


def test_a_device_has_its_shares_of_the_span() -> None:
    """Busy and idle, and with what it was busy; each rank's device is named with it."""
    lines = printed(devices.busy, report(devices=(BUSY, replace(BUSY, rank=1, communication_ns=0, memory_ns=0))))

    assert " ".join(" ".join(lines).split()) == (
        "Devices of the time from the first to the last kernel or copy of each "
        "gpu:0 of rank 0 of 100 ms: busy 70.0 %, idle 30.0 %, kernels computed 40.0 %, "
        "collectives ran 30.0 % (33.3 % of that beside computing), copies and memsets 5.0 % "
        "gpu:0 of rank 1 of 100 ms: busy 70.0 %, idle 30.0 %, kernels computed 40.0 %"
    )


def test_a_run_without_gpus_has_no_idle_time() -> None:
    """Nothing is printed."""
    assert printed(devices.gpu_idle, report()) == []


def test_lines_that_made_kernels_have_a_table_of_their_own() -> None:
    """Where a trace tells them."""
    made = LineKernels("train.py", 5, "h = x @ w", "operator", "cpu", 10, 30 * MS, 0.75)
    loose = structs.replace(made, file=None, line=None, source=None, total_ns=10 * MS, share=0.25)

    lines = printed(devices.kernels, report(kernels=structs.replace(SUMS, by_line=(made, loose))))

    assert lines[-4] == "Kernels by line  of compiled functions; more: dlprof kernels r --by line"
    assert rows(lines[-3:]) == [
        ["line", "on", "count", "time", "%", "source"],
        ["train.py:5", "cpu", "10", "30.0 ms", "75.0", "h = x @ w"],
        ["(no line)", "cpu", "10", "10.0 ms", "25.0"],
    ]


def test_a_device_of_one_of_several_processes_says_whose_it_is() -> None:
    """Its number alone would be that of two devices."""
    both = (replace(BUSY, pid=7), replace(BUSY, pid=8))
    lines = [line.strip() for line in printed(devices.busy, report(devices=both))]

    named = [line.partition(" of 100")[0] for line in lines if line.startswith("gpu:")]
    assert named == ["gpu:0 of process 7", "gpu:0 of process 8"]
    (line,) = (
        line for line in printed(devices.gpu_idle, report(gpu_idle=(replace(IDLE, pid=8),))) if "idle 40" in line
    )
    assert line.strip().startswith("gpu:0 of process 8 idle 40.0 ms")


def test_a_process_that_its_file_calls_by_a_text_is_called_so() -> None:
    """The number of the tables is made up."""
    told = Source("f.json", "kineto", 1, 0, json.dumps({"pid": 7, "process": "[TP00] 41", "is_numbered": False}))
    lines = printed(devices.busy, report(devices=(replace(BUSY, pid=7),), sources=(told,)))

    assert lines[1].strip().startswith("gpu:0 of [TP00] 41 of 100 ms")
