"""Foreign traces, from file to figures: counts, totals and names that were found out without dlprof."""

from __future__ import annotations

import gzip
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis import gpu_idle, kernels
from dlprof.errors import CannotCreateError, NoInputError, UsageError
from dlprof.ingest.artifact import ArtifactError
from dlprof.ingest.formats import registry as formats
from dlprof.ingest.parse import chrome, xlines
from dlprof.pipeline import importing
from dlprof.store import query
from dlprof.store.run import Run

DATA = Path(__file__).parents[1] / "data" / "traces"


def imported(tmp_path: Path, *paths: Path, **more: Any) -> Run:
    """A run made of files."""
    return importing.import_files(paths, tmp_path / "run", reader=None, report=lambda _line: None, **more)


def of_kind(run: Run, kind: str) -> tuple[int, float]:
    """Executions of a kind, and their time in us."""
    rows = [row for row in kernels.summarise(run, "device").rows if row.keys["kind"] == kind]
    return sum(row.count for row in rows), sum(row.total_ns for row in rows) / 1000


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


def test_an_xspace_of_jax_is_read_exactly(tmp_path: Path) -> None:
    """54 kernels on one of eight GPUs, with operator and program."""
    run = imported(tmp_path, DATA / "tracelens_jax_gemm_mi300x.xplane.pb")

    assert of_kind(run, "kernel") == (54, 3475.484)
    by_op = {
        (row.keys["op"], row.keys["device"]): row.count for row in kernels.summarise(run, "op", kinds=("kernel",)).rows
    }
    assert by_op["dot_general", "gpu:0"] == 18
    assert query.ask(run, "SELECT max(delay_ns) > 0 FROM kernels WHERE kind = 'kernel'").rows == [(True,)]


def test_a_timeline_of_tensorflow_1_counts_each_execution_once(tmp_path: Path) -> None:
    """4,789 kernels, though the file tells most of them twice, and 21 copies."""
    run = imported(tmp_path, DATA / "tf1_kittibox.json.gz")
    by_op = {row.keys["op"]: row for row in kernels.summarise(run, "op", kinds=("kernel",)).rows}

    assert of_kind(run, "kernel") == (4789, 1848902.0)
    assert of_kind(run, "transfer")[0] == 21
    assert (by_op["Conv2D"].count, by_op["Conv2D"].total_ns) == (4626, 1_817_397_000)


def test_operators_of_mxnet_are_counted_once(tmp_path: Path) -> None:
    """The file tells each twice, as a pair on a thread and as an asynchronous one."""
    run = imported(tmp_path, DATA / "mxnet_gluon.json.gz")

    assert of_kind(run, "operator") == (510, 171050.0)


def nvprof_file(path: Path) -> Path:
    """A database of nvprof with two kernels, a copy, their calls and a range."""
    with sqlite3.connect(path) as database:
        database.executescript(
            """
            CREATE TABLE StringTable (_id_ INTEGER, value TEXT);
            INSERT INTO StringTable VALUES (1, 'sgemm'), (2, '{''mod'': ''F'', ''op'': ''linear'', ''args'': []}');
            CREATE TABLE CUPTI_ACTIVITY_KIND_DRIVER (x INTEGER);
            CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL (start, end, deviceId, streamId, correlationId, name);
            INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL VALUES (2000000000000001000, 2000000000000003000, 0, 7, 11, 1),
                (2000000000000006000, 2000000000000007000, 0, 7, 12, 1);
            CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, streamId, correlationId, bytes, copyKind);
            INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (2000000000000009000, 2000000000000009500, 0, 7, 13, 64, 2);
            CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, threadId, correlationId, cbid);
            INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (2000000000000000400, 2000000000000000600, 5, 11, 211),
                (2000000000000005500, 2000000000000005700, 5, 12, 211), (2000000000000008000, 2000000000000008100, 5, 13, 41);
            CREATE TABLE CUPTI_ACTIVITY_KIND_MARKER (timestamp, id, name, objectId, flags);
            INSERT INTO CUPTI_ACTIVITY_KIND_MARKER VALUES (2000000000000000100, 1, 2, x'010000000500000000000000', 2),
                (2000000000000004000, 1, 0, x'010000000500000000000000', 4);
            """
        )
    database.close()
    return path


def test_a_database_of_nvprof_gives_launches_ranges_and_gaps(tmp_path: Path) -> None:
    """The range names the operator; each gap is split at the launch of the kernel that ended it."""
    run = imported(tmp_path, nvprof_file(tmp_path / "net.sql"))

    rows = query.ask(
        run, "SELECT name, op, kind, dur_ns, delay_ns, bytes FROM kernels WHERE device = 'gpu:0' ORDER BY start_ns"
    ).rows
    assert rows == [
        ("sgemm", "F.linear", "kernel", 2000, 600, None), ("sgemm", None, "kernel", 1000, 500, None),
        ("memcpy DtoH", None, "transfer", 500, 1000, 64.0),
    ]  # fmt: skip
    gaps = query.ask(run, "SELECT dur_ns, host_ns, launch_ns, wait_ns FROM gpu_gaps ORDER BY start_ns").rows
    assert gaps == [(3000, 2500, 500, 0), (2000, 1000, 750, 250)]
    idle = gpu_idle.of_run(run)[0]
    assert (idle.span_ns, idle.idle_ns, idle.gaps) == (8500, 5000, 2)


@pytest.mark.parametrize("older", [True, False])
def test_nsight_systems_is_read_in_both_layouts(tmp_path: Path, older: bool) -> None:
    """Version 2 lacks tables and columns that version 3 has."""
    path = tmp_path / "report.sqlite"
    with sqlite3.connect(path) as database:
        database.executescript(
            f"""
            CREATE TABLE StringIds (id INTEGER, value TEXT);
            INSERT INTO StringIds VALUES (1, 'saxpy'), (2, 'cudaLaunchKernel_v7000'), (3, 'forward');
            CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, correlationId, demangledName);
            INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (500, 900, 0, 7, 1, 1);
            CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId, nameId);
            INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (100, 200, 281474993487873, 1, 2);
            CREATE TABLE NVTX_EVENTS (start, end, eventType, globalTid, {"text" if older else "text, textId"});
            INSERT INTO NVTX_EVENTS VALUES (50, 300, 59, 281474993487873, {"'forward'" if older else "NULL, 3"}),
                (0, NULL, 75, 281474993487873, {"'domain'" if older else "'domain', NULL"});
            CREATE TABLE {"EXPORT_META_DATA" if older else "META_DATA_EXPORT"} (name, value);
            """
        )
    database.close()
    run = imported(tmp_path, path)

    rows = query.ask(run, "SELECT name, op, dur_ns, delay_ns FROM kernels WHERE kind = 'kernel'").rows
    assert rows == [("saxpy", "forward", 400, 400)]


def test_several_ranks_are_put_on_one_time_line(tmp_path: Path) -> None:
    """By their wall clocks; each row knows its rank."""
    run = imported(tmp_path, DATA / "hta_rank0.json.gz", DATA / "hta_rank1.json.gz")

    rows = query.ask(
        run, "SELECT rank, count(*), min(start_ns) FROM kernels WHERE kind = 'kernel' GROUP BY 1 ORDER BY 1"
    ).rows
    assert [row[:2] for row in rows] == [(0, 1154), (1, 1104)]
    starts = {row["source"]: row["start_ns"] for row in run.rows("kernel_windows")}
    assert starts == {"hta_rank0.json.gz": 0, "hta_rank1.json.gz": 192_000}


def test_a_file_without_absolute_time_is_placed_and_named(tmp_path: Path) -> None:
    """At the beginning, with a warning."""
    run = imported(tmp_path, DATA / "hta_mi250_rocm62.json.gz", DATA / "nvprof_gpu_trace.csv.gz")

    assert [row["slug"] for row in run.rows("health")] == ["trace-not-aligned"]
    assert "nvprof_gpu_trace.csv.gz" in run.rows("health")[0]["message"]
    assert {row["source"]: row["start_ns"] for row in run.rows("kernel_windows")}["nvprof_gpu_trace.csv.gz"] == 0


def test_steps_that_a_trace_names_are_kept(tmp_path: Path) -> None:
    """Of ProfilerStep ranges: a kernel belongs to the step in which it was launched."""
    run = imported(tmp_path, DATA / "hta_gp100_step_annotations.json.gz")

    steps = {row.keys["step"]: row.count for row in kernels.summarise(run, "step", kinds=("kernel",)).rows}
    assert sum(steps.values()) == 130
    assert all(step is None or step >= 0 for step in steps)


@pytest.mark.parametrize("name", ["hta_a100_alexnet.json.gz", "mxnet_gluon.json.gz", "tf1_kittibox.json.gz"])
def test_a_file_read_in_small_pieces_gives_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Wherever the pieces end."""
    whole = imported(tmp_path / "a", DATA / name)
    monkeypatch.setattr(chrome, "PIECE_BYTES", 3001)
    pieces = imported(tmp_path / "b", DATA / name)

    assert pieces.table("kernel_events").num_rows == whole.table("kernel_events").num_rows
    assert pieces.table("kernel_events")["dur_ns"].to_pylist() == whole.table("kernel_events")["dur_ns"].to_pylist()


def test_an_xspace_read_in_small_pieces_gives_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Events that a piece would cut wait for the next one."""
    path = DATA / "tracelens_jax_gemm_mi300x.xplane.pb"
    whole = imported(tmp_path / "a", path)
    monkeypatch.setattr(xlines, "PIECE_BYTES", 300)
    pieces = imported(tmp_path / "b", path)

    assert pieces.table("kernel_events").to_pylist() == whole.table("kernel_events").to_pylist()


def test_names_in_another_encoding_cost_nothing_else(tmp_path: Path) -> None:
    """A byte that is not UTF-8 becomes a replacement character."""
    path = tmp_path / "t.json"
    path.write_bytes(
        b'{"schemaVersion": 1, "traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "a\xff", "ts": 1, "dur": 2, "pid": 1, "tid": 1}]}'
    )

    assert kernels.summarise(imported(tmp_path, path), "op").rows[0].keys["op"] == "a\N{REPLACEMENT CHARACTER}"


def test_events_that_make_no_sense_are_counted(tmp_path: Path) -> None:
    """And the others are read."""
    events = ['{"ph": "X", "cat": "cpu_op", "name": "good", "ts": 1, "dur": 2, "pid": 1, "tid": 1}',
              '{"ph": "X", "cat": "cpu_op", "name": "far", "ts": 1e300, "dur": 2, "pid": 1, "tid": 1}',
              '{"ph": "X", "cat": "cpu_op", "name": "odd", "ts": {}, "dur": 2, "pid": 1, "tid": 1}']  # fmt: skip
    path = tmp_path / "t.json"
    path.write_text('{"schemaVersion": 1, "traceEvents": [' + ",".join(events) + "]}")
    run = imported(tmp_path, path)

    assert [row.keys["op"] for row in kernels.summarise(run, "op").rows] == ["good"]
    assert kernels.summarise(run, "op").dropped_events == 2


def test_a_format_can_be_forced_and_an_unknown_one_is_refused(tmp_path: Path) -> None:
    """With those there are."""
    with pytest.raises(UsageError, match="There is no format zz"):
        importing.import_files([DATA / "hta_rank0.json.gz"], tmp_path / "run", reader="zz", report=print)
    run = importing.import_files(
        [DATA / "hta_a100_triton.json.gz"], tmp_path / "run", reader="chrome", report=lambda _line: None
    )
    assert run.rows("sources")[0]["format"] == "chrome"


def test_an_output_folder_with_something_in_it_is_not_touched(tmp_path: Path) -> None:
    """Before any file is read."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "mine").write_text("x")

    with pytest.raises(CannotCreateError, match="exists and is not empty"):
        imported(tmp_path, DATA / "hta_a100_triton.json.gz")
    with pytest.raises(NoInputError):
        importing.import_files([tmp_path / "none.json"], tmp_path / "other", reader=None, report=print)


def test_run_metadata_of_tensorflow_1_is_read_exactly(tmp_path: Path) -> None:
    """259 operators of the device, not those that `/host:CPU` repeats; times as TensorFlow's own timeline has them."""
    run = imported(tmp_path, DATA / "tf1_mlp_step.runmeta.pb.gz")

    assert of_kind(run, "operator")[0] == 259
    assert of_kind(run, "operator")[1] == pytest.approx(26699, rel=0.01)  # the timeline cuts each off to microseconds
    counts = {row.keys["op"]: row.count for row in kernels.summarise(run, "op").rows}
    assert (counts["MatMul"], counts["_FusedMatMul"], counts["ReadVariableOp"]) == (5, 3, 38)
    layers = {(row.keys["layer"], row.keys["direction"]) for row in kernels.summarise(run, "layer").rows}
    assert {("dense_1", "forward"), ("dense_1", "backward"), ("RMSprop", "update")} <= layers


def test_a_trace_of_cntk_is_read_exactly(tmp_path: Path) -> None:
    """3,256 executions of nodes with pass and operator; the passes around them count for nothing."""
    run = imported(tmp_path, DATA / "cntk_mlp.json.gz")

    assert of_kind(run, "operator") == (3256, 463770.0)
    times = query.ask(
        run, "SELECT direction, count(*), sum(dur_ns) FROM kernels WHERE op = 'Times' GROUP BY 1 ORDER BY 1"
    )
    assert times.rows == [("backward", 48, 35457000), ("forward", 126, 55187000)]
    updates = query.ask(run, "SELECT count(*) > 0, bool_and(direction = 'update') FROM kernels WHERE op = 'Sqrt'")
    assert updates.rows == [(True, True)]


@pytest.mark.parametrize("name", ["tf1_mlp_step.runmeta.pb.gz", "cntk_mlp.json.gz"])
def test_a_cut_trace_of_an_older_engine_is_refused_or_says_so(tmp_path: Path, name: str) -> None:
    """One sentence with the place of the damage, or what is left with a line about what is missing."""
    whole = gzip.decompress((DATA / name).read_bytes())
    path = tmp_path / name.removesuffix(".gz")
    path.write_bytes(whole[: len(whole) * 2 // 3])

    with pytest.raises(ArtifactError) as caught:
        imported(tmp_path, path)

    assert caught.value.offset is not None


def test_every_reader_says_what_it_reads() -> None:
    """Names are unique, and none claims a text that is nothing."""
    readers = formats.all_readers()
    nothing = formats.Sample(Path("x.txt"), b"hello world\n" * 100)

    assert len({reader.name for reader in readers}) == len(readers) == 16
    assert not [reader.name for reader in readers if reader.claims(nothing)]
    assert gzip.compress(b"")  # packed files are told by their first bytes
