"""Traces of torch.profiler, of several versions: counts, totals and names that were found out without dlprof."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from pathlib import Path

import pytest

from dlprof.analysis import device_time, kernels
from dlprof.ingest.formats import kineto, registry
from dlprof.store import query
from tests.unit.ingest.imports import DATA, imported, of_kind, rows

# (file, kernels, their time in us, busiest kernel, its time in us, copies, wall time of kernels over all devices in us)
KINETO = [
    ("hta_a100_alexnet", 79, 10692.0, "ampere_sgemm_32x32_sliced1x4_tn", 2621.0, 19, 10630.0),
    ("hta_a100_triton", 1, 1.76, "triton_poi_fused_add_cos_sin_0", 1.76, 0, 1.76),
    ("hta_gp100_step_annotations", 130, 290.0, "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>", 100.0, 10, 290.0),
    ("hta_mi250_rocm62", 14, 110.881, "Cijk_Alik_Bljk_SB_Bias_AS_SAV_UserArgs_MT64x16x32", 17.6, 2, 110.881),
    ("hta_rank0", 1154, 606519.0, "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t", 396199.0, 50, 547303.0),
    ("hta_rank1", 1104, 651026.0, "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t", 379053.0, 50, 575496.0),
    ("tracelens_mi300x_sglang_decode", 555, 9765.437, "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x32x64", 2417.659, 3, 9759.752),
]  # fmt: skip


@pytest.mark.parametrize(("name", "count", "time", "busiest", "busiest_us", "copies", "union"), KINETO)
def test_kernels_of_torch_profiler_are_read_exactly(  # noqa: PLR0917
    tmp_path: Path, name: str, count: int, time: float, busiest: str, busiest_us: float, copies: int, union: float
) -> None:
    """From CUDA and ROCm, one kernel to a thousand; counts, sums, names, and wall time on the device."""
    run = imported(tmp_path, DATA / f"{name}.json.gz")
    rows = query.ask(
        run, "SELECT name, sum(dur_ns) / 1000.0 FROM kernels WHERE kind = 'kernel' GROUP BY 1 ORDER BY 2 DESC"
    ).rows

    found = of_kind(run, "kernel")
    assert found[0] == count
    assert found[1] == pytest.approx(time, abs=1e-6)
    assert of_kind(run, "transfer")[0] == copies
    assert rows[0][0].startswith(busiest)
    assert rows[0][1] == pytest.approx(busiest_us, abs=1e-6)
    on_wall = [row.union_ns or 0 for row in kernels.summarise(run, "device").rows if row.keys["kind"] == "kernel"]
    # The figure to compare with was summed in doubles of 10^12 us: the last digit is theirs.
    assert sum(on_wall) / 1000 == pytest.approx(union, abs=0.01)


def test_steps_that_a_trace_names_are_kept(tmp_path: Path) -> None:
    """Of ProfilerStep ranges: a kernel belongs to the step in which it was launched."""
    run = imported(tmp_path, DATA / "hta_gp100_step_annotations.json.gz")

    steps = {row.keys["step"]: row.count for row in kernels.summarise(run, "step", kinds=("kernel",)).rows}
    assert sum(steps.values()) == 130
    assert all(step is None or step >= 0 for step in steps)


def test_many_threads_of_many_processes_need_no_table_of_all_pairs(tmp_path: Path) -> None:
    """6,000 of each would be 36 million pairs; each of the threads that there are is a lane of its own."""
    events = [{"ph": "X", "cat": "cpu_op", "name": "f", "pid": n, "tid": 7 * n, "ts": n, "dur": 1} for n in range(6000)]
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    trace = kineto.read(path).trace
    assert trace is not None

    tracemalloc.start()
    again = kineto.read(path).trace
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert len({lane.process for lane in trace.lanes}) == 6000
    assert again is not None and peak < 100_000_000


def test_ranges_that_older_versions_file_as_operators_are_ranges(tmp_path: Path) -> None:
    """Steps and updates are no operators, and the next batch is waited for."""
    names = ("ProfilerStep#3", "Optimizer.step#SGD.step", "enumerate(DataLoader)#_Single.__next__", "aten::mm")
    events = [
        {"ph": "X", "cat": "Operator", "name": name, "pid": 1, "tid": 1, "ts": 10 * n, "dur": 9}
        for n, name in enumerate(names)
    ]
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    run = imported(tmp_path, path)

    kinds = {row["name"]: row["kind"] for row in run.rows("kernel_ops")}
    assert [kinds[name] for name in names] == ["annotation", "annotation", "input", "operator"]


def test_only_the_outermost_functions_of_python_are_kept(tmp_path: Path) -> None:
    """They tell when the host was in Python; all others are too many."""
    calls = [("main", 0, 100), ("helper", 10, 20), ("again", 120, 5)]
    events = [
        {"ph": "X", "cat": "python_function", "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": dur}
        for name, ts, dur in calls
    ]
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    run = imported(tmp_path, path)

    kept = query.ask(run, "SELECT kind, name FROM kernels ORDER BY start_ns").rows
    assert kept == [("python", "main"), ("python", "again")]


def _event(category: str, name: str, start: int, dur: int, thread: str, **args: object) -> dict[str, object]:
    process = 0 if thread.startswith("stream") else 13721
    return {
        "ph": "X", "cat": category, "name": name, "pid": process, "tid": thread, "ts": start, "dur": dur, "args": args,
    }  # fmt: skip


def test_a_bare_list_of_2020_that_begins_with_operators_alone_is_of_kineto(tmp_path: Path) -> None:
    """Categories have capitals, streams are threads of the device's process, and devices may be missing."""
    operators = [_event("Operator", "aten::add", at, 1, "456", **{"External id": at}) for at in range(3000)]
    device = [
        _event("Runtime", "cudaLaunchKernel", 3405, 5, "456", correlation=48, **{"external id": 4}),
        _event("Kernel", "sgemm", 3430, 15, "stream 7", correlation=48, device=0, **{"external id": 4}),
        _event("Memcpy", "Memcpy HtoD (Pageable -> Device)", 3450, 10, "stream 7", stream=7, correlation=34),
        _event("Memset", "Memset (Device)", 3470, 5, "stream 7", stream=7, correlation=40),
    ]
    path = tmp_path / "t.json"
    path.write_text(json.dumps([*operators, *device]))
    assert registry.find(path) is kineto.READER

    run = imported(tmp_path, path)

    assert rows(run, "SELECT kind, device, lane, count(*), sum(dur_ns) FROM kernels GROUP BY ALL ORDER BY ALL") == [
        ("kernel", "gpu:0", "stream 7", 1, 15_000),
        ("operator", "cpu", "456", 3000, 3_000_000),
        ("runtime", "cpu", "456", 1, 5_000),
        ("transfer", "gpu:0", "stream 7", 2, 15_000),
    ]
    assert rows(run, "SELECT delay_ns FROM kernels WHERE kind = 'kernel'") == [(25_000,)]


def test_arrows_and_what_the_device_repeats_are_counted(tmp_path: Path) -> None:
    """Category by category, whichever way the file is read."""
    run = imported(tmp_path, DATA / "hta_gp100_step_annotations.json.gz")

    assert {row["what"]: row["events"] for row in run.rows("skipped")} == {
        "arrows of category ac2g": 320,
        "events of category Trace": 1,
        "events of category gpu_user_annotation": 10,
        "instants": 2,
    }


def test_devices_of_intel_are_called_xpu_and_their_runtime_launches(tmp_path: Path) -> None:
    """As Kineto's XPUPTI plug-in writes them."""
    events = [
        _event("cpu_op", "aten::mm", 100, 50, "456", **{"External id": 1}),
        _event("xpu_runtime", "urEnqueueKernelLaunch", 110, 5, "456", correlation=7),
        _event("xpu_runtime", "urEventWait", 120, 30, "456", correlation=9),
        {**_event("kernel", "gemm_kernel", 130, 15, "7", correlation=7, device=1), "pid": 1},
    ]
    path = tmp_path / "t.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    run = imported(tmp_path, path)

    assert rows(run, "SELECT kind, name, device, delay_ns FROM kernels ORDER BY start_ns") == [
        ("operator", "aten::mm", "cpu", None),
        ("runtime", "urEnqueueKernelLaunch", "cpu", None),
        ("wait", "urEventWait", "cpu", None),
        ("kernel", "gemm_kernel", "xpu:1", 20_000),
    ]


def test_that_several_processes_are_told_as_one_is_said(tmp_path: Path) -> None:
    """Where nothing says which of them launched what ran on a device."""
    path = tmp_path / "merged.json"
    spans = [
        {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": pid, "tid": 1, "ts": 1, "dur": 2} for pid in (7, 8)
    ]
    spans.append({"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 2, "dur": 2})
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": spans}))

    run = imported(tmp_path, path)

    assert [(row["slug"], row["count"]) for row in run.rows("health")] == [("trace-processes-joined", 2)]


def _merged(tmp_path: Path, label: str) -> Path:
    """The traces of two ranks in one file, as programs put them that merge traces."""
    events = []
    for rank in (0, 1):
        for event in json.loads(gzip.decompress((DATA / f"hta_rank{rank}.json.gz").read_bytes()))["traceEvents"]:
            events.append({**event, "pid": f"[{label}{rank}] {event['pid']}"} if label else event)
    path = tmp_path / "merged.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    return path


@pytest.mark.parametrize("label", ["TP", ""])
def test_ranks_that_were_merged_into_one_file_are_told_apart(tmp_path: Path, label: str) -> None:
    """Each device is of the rank that launched its kernels, by its label, else by the numbers of their calls."""
    run = imported(tmp_path, _merged(tmp_path, label))

    query = "SELECT pid, device, count(*) FROM kernels WHERE kind = 'kernel' GROUP BY ALL ORDER BY device"
    (first, *of_first), (second, *of_second) = rows(run, query)
    assert (of_first, of_second) == (["gpu:0", 1154], ["gpu:1", 1104])
    assert first != second
    busy = [(round(time.busy_ns / 1e3), round(time.span_ns / 1e3)) for time in device_time.of_run(run)]
    assert sorted(busy) == [(547656, 1222847), (580050, 1231186)]
    assert "trace-processes-joined" not in [row["slug"] for row in run.rows("health")]


@pytest.mark.parametrize("copies", [1, 20_000])
def test_durations_that_are_left_out_are_counted_and_told(tmp_path: Path, copies: int) -> None:
    """They would be missing in all sums without a word; those of events without one are not asked for."""
    event = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "args": {"External id": 1}}
    events = [{**event, "ts": 100 * at, "dur": 50, "note": "x" * 400} for at in range(2 * copies)]
    for one in events[::2]:
        del one["dur"]
    path = tmp_path / "t.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))

    run = imported(tmp_path, path)

    assert [(row["slug"], row["count"]) for row in run.rows("health")] == [("trace-untimed", copies)]


@pytest.mark.parametrize("copies", [1, 20_000])
def test_negative_durations_are_counted_and_told(tmp_path: Path, copies: int) -> None:
    """How long such an event took is not known; in large files, which are read as tables, too."""
    event = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "args": {"External id": 1}}
    events = [{**event, "ts": 100 * at, "dur": -50 if at % 2 else 50, "note": "x" * 400} for at in range(2 * copies)]
    path = tmp_path / "t.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))

    run = imported(tmp_path, path)

    assert [(row["slug"], row["count"]) for row in run.rows("health")] == [("trace-negative", copies)]
