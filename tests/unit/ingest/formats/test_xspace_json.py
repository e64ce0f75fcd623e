"""What the profilers of TensorFlow and JAX write for viewers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dlprof.ingest.formats import registry, xspace_json
from dlprof.pipeline import importing
from tests.unit.ingest.imports import imported, rows


def _named(pid: int, process: str, *threads: str) -> list[dict[str, Any]]:
    told = [{"ph": "M", "pid": pid, "name": "process_name", "args": {"name": process}}]
    lines = [
        {"ph": "M", "pid": pid, "tid": tid, "name": "thread_name", "args": {"name": name}}
        for tid, name in enumerate(threads)
    ]
    return [*told, *lines]


def _span(name: str, begin: float, dur: float, pid: int = 701, tid: int = 0, **args: str) -> dict[str, Any]:
    return {"ph": "X", "pid": pid, "tid": tid, "name": name, "ts": begin, "dur": dur, "args": args}


def _file(tmp_path: Path, *events: dict[str, Any]) -> Path:
    path = tmp_path / "vm.trace.json"
    path.write_text(json.dumps({"displayTimeUnit": "ns", "traceEvents": [*events, {}]}))
    return path


def test_waits_and_marks_of_jax_are_no_operators(tmp_path: Path) -> None:
    """Only instructions of compiled programs are; a step has its number."""
    path = _file(
        tmp_path,
        *_named(701, "/host:CPU", "python", "tf_XLAPjRtCpuClient/1"),
        _span("train", 0, 50, step_num="3"),
        _span("$pjit.py:250 cache_miss", 1, 30),
        _span("dot.3", 10, 20, tid=1, hlo_op="dot.3", hlo_module="jit_f", run_id="-5"),
        _span("end: dot.3", 30, 1, tid=1),
        _span("ThunkExecutor::Execute (wait for completion)", 31, 9, tid=1),
        _span("CommonPjRtBuffer::Await", 40, 5),
    )
    assert registry.find(path) is xspace_json.READER

    run = imported(tmp_path, path)

    assert rows(run, "SELECT kind, name, dur_ns FROM kernels ORDER BY start_ns") == [
        ("annotation", "train step 3", 50_000),
        ("python", "pjit.py(250): cache_miss", 30_000),
        ("operator", "dot.3", 20_000),
        ("wait", "ThunkExecutor::Execute (wait for completion)", 9_000),
        ("wait", "CommonPjRtBuffer::Await", 5_000),
    ]
    assert [(row["what"], row["events"]) for row in run.rows("skipped")] == [("events of threads of the host", 1)]


def test_compilation_is_work_of_the_host(tmp_path: Path) -> None:
    """It would be told as idle; what of it runs in other threads is not told once more, what calls it does no work."""
    path = _file(
        tmp_path,
        *_named(701, "/host:CPU", "python"),
        _span("$compiler.py:292 backend_compile_and_load", 0, 100),
        _span("backend_compile_and_load", 1, 90),
        _span("PjRtCpuClient::Compile", 5, 80),
    )

    run = imported(tmp_path, path)

    assert rows(run, "SELECT kind, name, category, dur_ns FROM kernels ORDER BY start_ns") == [
        ("python", "compiler.py(292): backend_compile_and_load", "other", 100_000),
        ("operator", "backend_compile_and_load", "compile", 90_000),
    ]


def test_ranges_that_wait_for_data_are_ranges_and_others_of_the_host_are_counted(tmp_path: Path) -> None:
    """`TraceAnnotation("data_load")` of JAX looks like any mark of the framework, but for its name."""
    path = _file(
        tmp_path,
        *_named(701, "/host:CPU", "python"),
        _span("data_load", 0, 10),
        _span("save_ckpt", 10, 10),
        _span("dot", 20, 5, hlo_op="dot", hlo_module="jit_f"),
    )

    run = imported(tmp_path, path)

    assert rows(run, "SELECT kind, name FROM kernels ORDER BY start_ns") == [
        ("annotation", "data_load"),
        ("operator", "dot"),
    ]
    assert [(row["what"], row["events"]) for row in run.rows("skipped")] == [("events of threads of the host", 1)]


def test_that_the_ends_of_operations_are_missing_is_said(tmp_path: Path) -> None:
    """Their calls may be over long before them."""
    path = _file(tmp_path, *_named(701, "/host:CPU", "python"), _span("dot", 0, 1, hlo_op="dot", hlo_module="jit_f"))

    run = imported(tmp_path, path)

    assert [(row["slug"], row["severity"]) for row in run.rows("health")] == [("trace-calls-only", "warning")]


def test_streams_of_a_gpu_are_read_and_lines_that_repeat_them_are_not(tmp_path: Path) -> None:
    """As in the XSpace itself."""
    path = _file(
        tmp_path,
        *_named(1, "/device:GPU:0", "Stream #14(Compute)", "XLA Ops", "Steps"),
        _span("gemm", 0, 4, pid=1, correlation_id="7"),
        _span("MemcpyH2D", 4, 2, pid=1),
        _span("fusion", 0, 4, pid=1, tid=1),
        _span("5", 0, 6, pid=1, tid=2),
    )

    run = imported(tmp_path, path)

    assert rows(run, "SELECT kind, name, device, dur_ns FROM kernels ORDER BY start_ns, kind DESC") == [
        ("kernel", "gemm", "gpu:0", 4_000),
        ("annotation", "5", "gpu:0", 6_000),
        ("transfer", "MemcpyH2D", "gpu:0", 2_000),
    ]
    assert [(row["what"], row["events"]) for row in run.rows("skipped")] == [("events on lines XLA Ops of devices", 1)]


def test_a_file_of_marks_alone_shows_the_work_of_the_framework(tmp_path: Path) -> None:
    """It would seem empty otherwise."""
    path = _file(tmp_path, *_named(701, "/host:CPU", "python"), _span("ParseArguments", 0, 3))

    run = imported(tmp_path, path)

    assert rows(run, "SELECT kind, name, dur_ns FROM kernels") == [("runtime", "ParseArguments", 3_000)]


def test_several_forms_of_one_profile_are_counted_once(tmp_path: Path) -> None:
    """As `dlprof import plugins/profile/RUN/*` would add them; the first form has most in it."""
    folder = tmp_path / "profile"
    folder.mkdir()
    content = _file(tmp_path, *_named(701, "/host:CPU", "python"), _span("dot", 0, 1, hlo_op="dot")).read_text()
    files = [folder / name for name in ("perfetto_trace.json", "vm.trace.json", "other.trace.json")]
    for file in files:
        file.write_text(content)
    said: list[str] = []

    run = importing.import_files(files, tmp_path / "run", reader=None, report=said.append)

    assert [row["file"] for row in run.rows("sources")] == ["vm.trace.json", "other.trace.json"]
    assert said[0] == "perfetto_trace.json: not taken: another form of vm.trace.json, which tells more"
    assert xspace_json.repeated(files[1], [*files, folder / "vm.xplane.pb"]) == folder / "vm.xplane.pb"
    assert xspace_json.repeated(files[1], [*files, tmp_path / "vm.xplane.pb"]) is None
