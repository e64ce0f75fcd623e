"""How long each device was busy and idle."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dlprof.analysis import device_time
from dlprof.analysis.device_time import DeviceTime, SpanOf, StreamTime
from dlprof.pipeline.importing import import_files
from dlprof.store.run import Run
from tests.unit.analysis.rows import event, in_memory, op, window
from tests.unit.runs import table

DATA = Path(__file__).parents[2] / "data" / "traces"
SHARED = Path(os.environ.get("DLPROF_SHARED_TRACES", "/nowhere"))
US = 1_000
HTA = {
    "hta_rank0.json.gz": (675_191, 210_320, 337_336, 1_222_847, 14.95),
    "hta_rank1.json.gz": (651_136, 271_973, 308_077, 1_231_186, 19.93),
    "hta_gp100_step_annotations.json.gz": (7_446, 290, 1, 7_737, None),
    "hta_mi250_rocm62.json.gz": (8_762.845, 110.881, 38.161, 8_911.887, None),
    "tracelens_mi300x_sglang_decode.json.gz": (463_977.018, 9_759.749, 13.177, 473_749.944, None),
    # HTA counts the host's synchronisations with a stream as time of the device: 181 us of 66,327 us.
    "hta_a100_alexnet.json.gz": (12_929_684, 10_637, 55_690, 12_996_011, None),
}
"""What HolisticTraceAnalysis 0.5.0 says: idle, compute, non-compute and kernel time (us), overlapped communication (%).

`TraceAnalysis(include_last_profiler_step=True)` with HTA_DISABLE_NS_ROUNDING=1, `get_temporal_breakdown` and
`get_comm_comp_overlap`.
"""
HTA_LARGE = {
    "kineto/hta_a100_rank3of8.json.gz": (76_007, 281_336, 107_251, 464_594, 46.24),
    "kineto/hta_a100_nccl_rank0of2.json.gz": (503_050.991, 115_655.847, 41_844.167, 660_551.006, 15.61),
    "kineto/kineto_resnet50_nw0_v100.pt.trace.json.gz": (392_919, 591_532, 12_026, 996_477, None),
    "kineto/tracelens_mi300x_ddp_resnet18.json.gz": (3_032_409.244, 358_908.852, 31.545, 3_391_349.641, None),
}
"""The same of files that are too large to be kept here: DLPROF_SHARED_TRACES names the folder that has them."""
KERNELS = [op(0, "kernel", "gemm"), op(1, "kernel", "nccl", category="collective"), op(2, "transfer", "copy")]


def imported(path: Path, folder: Path) -> Run:
    """A foreign trace as a run."""
    return import_files([path], folder / "run", reader=None, report=lambda _: None)


def events(*rows: dict[str, object], **tables: object) -> list[DeviceTime]:
    """The devices of a run of these events."""
    return device_time.of_run(
        in_memory(
            kernel_ops=table("kernel_ops", [*KERNELS, op(3, "operator", "aten::mm")]),
            kernel_events=table("kernel_events", list(rows)),
            **tables,  # type: ignore[arg-type]
        )
    )


def test_every_part_of_a_devices_time() -> None:
    """A gemm of 0-40 on stream 7, a collective of 30-60 on stream 9, a copy of 70-80 on 7: 10 are idle."""
    found = events(
        event(0, 0, 40, 0, lane="stream 7"),
        event(1, 30, 30, 0, lane="stream 9"),
        event(2, 70, 10, 0, lane="stream 7"),
    )

    assert found == [
        DeviceTime(
            device="gpu:0",
            number=0,
            host="h",
            rank=0,
            span_ns=80,
            busy_ns=70,
            idle_ns=10,
            compute_ns=40,
            non_compute_ns=30,
            communication_ns=30,
            communication_overlapped_ns=10,
            memory_ns=10,
            events=3,
            events_ns=80,
            span_of=SpanOf.EVENTS,
            streams=(StreamTime("stream 7", 2, 50), StreamTime("stream 9", 1, 30)),
        )
    ]


def test_ranks_that_use_a_device_of_one_number_have_a_device_each() -> None:
    """GPU 0 of rank 0 and GPU 0 of rank 1 are two: neither waits for the other."""
    found = events(event(0, 0, 10, 0, rank=0), event(0, 500, 20, 0, rank=1))

    assert [(time.rank, time.span_ns, time.idle_ns) for time in found] == [(0, 10, 0), (1, 20, 0)]


def test_processes_of_one_rank_that_use_devices_of_one_number_have_a_device_each() -> None:
    """As in a file that was merged of several; their times are not added."""
    found = events(event(0, 0, 10, 0, pid=7), event(0, 5, 20, 0, pid=8))

    assert [(time.pid, time.span_ns, time.busy_ns) for time in found] == [(7, 10, 10), (8, 20, 20)]


def test_the_span_of_an_own_run_is_its_windows() -> None:
    """A window of 100 with kernels of 40-60 is idle for 80; what ran after it is not counted."""
    found = events(
        event(0, 40, 20, 0),
        event(0, 150, 20, 0),
        kernel_windows=table("kernel_windows", [window(0, 100, 1)]),
    )

    assert [(time.span_ns, time.busy_ns, time.idle_ns, time.span_of) for time in found] == [
        (100, 20, 80, "kernel windows")
    ]


def test_time_between_windows_is_nobodys() -> None:
    """Two traced stretches are summed, each from its first to its last event."""
    found = events(event(0, 0, 10, 0), event(0, 1000, 20, 0, window=1))

    assert [(time.span_ns, time.idle_ns) for time in found] == [(30, 0)]


def test_a_run_on_the_host_has_no_device() -> None:
    """Operators of the host are not work of a device."""
    assert events(event(3, 0, 10)) == []


@pytest.mark.parametrize("name", HTA)
def test_busy_and_idle_are_those_of_hta(name: str, tmp_path: Path) -> None:
    """Within 1 %, on HTA's own sample traces and on those of AMD's."""
    _same_as_hta(DATA / name, HTA[name], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", HTA_LARGE)
def test_busy_and_idle_of_large_traces_are_those_of_hta(name: str, tmp_path: Path) -> None:
    """Within 1 %, on traces that are not kept in the repository."""
    if not (SHARED / name).is_file():
        pytest.skip(f"DLPROF_SHARED_TRACES names no folder with {name}")
    _same_as_hta(SHARED / name, HTA_LARGE[name], tmp_path)


def _same_as_hta(path: Path, hta: tuple[float, float, float, float, float | None], folder: Path) -> None:
    idle, compute, non_compute, span, overlapped = hta
    (found,) = device_time.of_run(imported(path, folder))
    ours = [found.idle_ns, found.compute_ns, found.non_compute_ns, found.span_ns]
    assert ours == pytest.approx([idle * US, compute * US, non_compute * US, span * US], rel=0.01, abs=US)
    if overlapped is not None:
        share = 100 * found.communication_overlapped_ns / found.communication_ns
        assert share == pytest.approx(overlapped, rel=0.01)
