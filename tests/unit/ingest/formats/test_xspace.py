"""Traces of the profilers of TensorFlow and JAX."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from dlprof.analysis import kernels
from dlprof.ingest.artifact import ArtifactError
from dlprof.ingest.formats import xspace
from dlprof.ingest.parse import xplane
from dlprof.store import query
from tests.unit.ingest.formats.samples import put
from tests.unit.ingest.imports import DATA, imported, of_kind, rows
from tests.unit.ingest.protobuf import field, number


def test_an_xspace_of_jax_is_read_exactly(tmp_path: Path) -> None:
    """54 kernels on one of eight GPUs, with operator and program."""
    run = imported(tmp_path, DATA / "tracelens_jax_gemm_mi300x.xplane.pb")

    assert of_kind(run, "kernel") == (54, 3475.484)
    by_op = {
        (row.keys["op"], row.keys["device"]): row.count for row in kernels.summarise(run, "op", kinds=("kernel",)).rows
    }
    assert by_op["dot_general", "gpu:0"] == 18
    assert query.ask(run, "SELECT max(delay_ns) > 0 FROM kernels WHERE kind = 'kernel'").rows == [(True,)]


@pytest.mark.slow
def test_an_xspace_read_in_small_pieces_gives_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Events that a piece would cut wait for the next one."""
    path = DATA / "tracelens_jax_gemm_mi300x.xplane.pb"
    whole = imported(tmp_path / "a", path)
    monkeypatch.setattr(xplane, "PIECE_BYTES", 300)
    pieces = imported(tmp_path / "b", path)

    assert pieces.table("kernel_events").to_pylist() == whole.table("kernel_events").to_pylist()


def test_a_tpu_is_read_with_its_operations_copies_and_programs(tmp_path: Path) -> None:
    """Cores 0 and 1 of a TPU v6e: sums are those of the picoseconds in the file."""
    run = imported(tmp_path, DATA / "xprof_tpu_v6e.xplane.pb.gz")

    assert rows(
        run,
        "SELECT device, kind, lane, count(*), sum(dur_ns) FROM kernels WHERE device <> 'cpu' GROUP BY ALL ORDER BY ALL",
    ) == [
        ("tpu:0", "annotation", "XLA Modules", 60, 43_522_911_979),
        ("tpu:0", "kernel", "XLA Ops", 60, 3_323_785_842),
        ("tpu:0", "transfer", "Async XLA Ops", 60, 20_182_399_782),
        ("tpu:1", "annotation", "XLA Modules", 60, 45_179_599_023),
        ("tpu:1", "kernel", "XLA Ops", 60, 3_319_445_530),
    ]
    assert [gpu.name for gpu in run.manifest.gpus or ()] == ["TPU v6 Lite", "TPU v6 Lite"]


def test_an_operation_of_a_tpu_has_the_work_that_its_compiler_counted(tmp_path: Path) -> None:
    """A copy's bytes are with the copy beside the operations, not with those that begin it and wait for it."""
    run = imported(tmp_path, DATA / "xprof_tpu_v6e.xplane.pb.gz")
    query = "SELECT DISTINCT op, category, flops, bytes FROM kernels WHERE name = '{}' AND kind = '{}'"

    assert rows(run, query.format("all-reduce", "kernel")) == [("all-reduce", "collective", 1342177280, 10737418240)]
    assert rows(run, query.format("copy-start.2", "transfer")) == [("copy-start", "transfer", 0, 5368709120)]
    assert rows(run, query.format("copy-done.2", "kernel")) == [("copy-done", "transfer", 0, None)]


def test_lines_of_a_device_that_are_not_read_are_counted(tmp_path: Path) -> None:
    """Of a TPU the marks of its runtime; of the host nothing."""
    run = imported(tmp_path, DATA / "xprof_tpu_v6e.xplane.pb.gz")

    assert run.rows("skipped") == [
        {
            "source": "xprof_tpu_v6e.xplane.pb.gz",
            "what": "events on lines XLA TraceMe of devices",
            "events": 120,
            "why": "waits and marks of the runtime on the device, in which no operation runs",
        }
    ]


def _space(*planes: bytes) -> bytes:
    return b"".join(field(1, plane) for plane in planes)


def _plane(name: str, lines: Sequence[tuple[str, Sequence[int]]], names: Sequence[str], stats: Sequence[str]) -> bytes:
    """A plane; each event of a line lasts 2 us and has the first stat, whose value is its number."""
    plane = field(2, name.encode())
    for line, events in lines:
        parts = [number(1, event) + number(2, 5_000_000 * at) + number(3, 2_000_000) for at, event in enumerate(events)]
        stated = [part + (field(4, number(1, 1) + number(4, at)) if stats else b"") for at, part in enumerate(parts)]
        plane += field(3, field(2, line.encode()) + b"".join(field(4, part) for part in stated))
    for at, text in enumerate(names, 1):
        plane += field(4, number(1, at) + field(2, number(1, at) + field(2, text.encode())))
    for at, text in enumerate(stats, 1):
        plane += field(5, number(1, at) + field(2, number(1, at) + field(2, text.encode())))
    return plane


def test_a_loop_of_a_tpu_holds_its_operations_and_is_not_added_to_them(tmp_path: Path) -> None:
    """Steps and programs lie on lanes of their own; a SparseCore is a part of its device."""
    loop, product = "%while.1 = (f32[2]{0}) while((f32[2]{0}) %t)", "%dot.3 = f32[2]{0} convolution(f32[2]{0} %a)"
    core = _plane("/device:TPU:1", [("Steps", [3]), ("XLA Ops", [1, 2, 2])], [loop, product, "7"], [])
    sparse = _plane("/device:TPU:1 SparseCore 0", [("Sparse Core Ops", [1])], ["%gather.1 = f32[2]{0} gather(%a)"], [])
    path = put(tmp_path, _space(core, sparse), "t.xplane.pb")

    assert rows(imported(tmp_path, path), "SELECT device, kind, name, lane, dur_ns FROM kernels ORDER BY ALL") == [
        ("tpu:1", "annotation", "7", "Steps", 2000),
        ("tpu:1", "annotation", "while.1", "XLA Ops", 2000),
        ("tpu:1", "kernel", "dot.3", "XLA Ops", 2000),
        ("tpu:1", "kernel", "dot.3", "XLA Ops", 2000),
        ("tpu:1", "kernel", "gather.1", "SparseCore 0: Sparse Core Ops", 2000),
    ]


def test_a_host_without_operators_and_without_a_device_gives_the_work_of_the_framework(tmp_path: Path) -> None:
    """Such a file has nothing else to tell."""
    path = put(tmp_path, _space(_plane("/host:CPU", [("main", [1, 1])], ["PjitFunction(f)"], [])), "t.xplane.pb")

    assert rows(imported(tmp_path, path), "SELECT kind, name, dur_ns FROM kernels") == [
        ("runtime", "PjitFunction(f)", 2000),
        ("runtime", "PjitFunction(f)", 2000),
    ]


def test_a_step_that_the_script_numbered_is_a_range_with_that_number(tmp_path: Path) -> None:
    """`StepTraceAnnotation("train", step_num=...)`, of JAX and TensorFlow."""
    plane = _plane("/host:CPU", [("main", [1, 1])], ["train"], ["step_num"])
    run = imported(tmp_path, put(tmp_path, _space(plane), "t.xplane.pb"))

    assert rows(run, "SELECT kind, name FROM kernels ORDER BY name") == [
        ("annotation", "train step 0"),
        ("annotation", "train step 1"),
    ]


def test_a_step_is_one_however_its_maker_calls_it(tmp_path: Path) -> None:
    """Keras' callback calls it `Profiled batch`; that it has a number tells that it is a step."""
    names = ["Profiled batch", "My round"]
    plane = _plane("/host:CPU", [("main", [1, 1]), ("other", [2])], names, ["step_num"])
    run = imported(tmp_path, put(tmp_path, _space(plane), "t.xplane.pb"))

    assert rows(run, "SELECT kind, name FROM kernels ORDER BY name") == [
        ("annotation", "Profiled batch 0"),
        ("annotation", "Profiled batch 1"),
        ("annotation", "step 0 (My round)"),
    ]
    assert [step["step"] for step in run.rows("steps")] == [0, 1]


_COMPILES = _plane(
    "/host:CPU", [("python", [1, 2, 3, 4])], ["$a.py:14 load", "$time sleep", "backend_compile", "Add:Add"], []
)


def test_compilation_and_functions_of_python_are_read_of_a_foreign_file(tmp_path: Path) -> None:
    """They would be told as idle, and their events as marks of the framework."""
    run = imported(tmp_path, put(tmp_path, _space(_COMPILES), "t.xplane.pb"))

    assert rows(run, "SELECT kind, name FROM kernels ORDER BY start_ns") == [
        ("python", "a.py(14): load"),
        ("python", "time.sleep"),
        ("operator", "backend_compile"),
        ("operator", "Add:Add"),
    ]
    assert run.rows("skipped") == []


def test_of_a_window_of_a_run_of_its_own_only_operators_are_read(tmp_path: Path) -> None:
    """There compilation is a phase: as a kernel it would be counted twice."""
    trace = xspace.read_window(put(tmp_path, _space(_COMPILES), "t.xplane.pb")).trace

    assert trace is not None
    assert [trace.names[name] for name in trace.events.take().name.tolist()] == ["Add:Add"]


def test_a_file_of_planes_that_nobody_reads_is_refused(tmp_path: Path) -> None:
    """A run without an event would say that nothing happened."""
    plane = _plane("/host:python-tracer", [("main", [1, 1])], ["$a.py:1 f"], [])

    with pytest.raises(ArtifactError, match=r"nothing in it could be read as xspace: .*plane /host:python-tracer"):
        imported(tmp_path, put(tmp_path, _space(plane), "t.xplane.pb"))
