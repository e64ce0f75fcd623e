"""A folder with a trace of each rank becomes a run of ranks."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis import ranks
from dlprof.errors import BadDataError, CannotCreateError, NoInputError
from dlprof.pipeline import importing_ranks, ranked
from dlprof.pipeline.importing_here import Here
from tests.unit.ingest.imports import DATA

HTA = {
    0: (675_191, 210_320, 337_336, 1_222_847, 14.95),
    1: (651_136, 271_973, 308_077, 1_231_186, 19.93),
}
"""What HolisticTraceAnalysis 0.5.0 tells of two of its own traces, with the last step in: idle, computing, other and all
time of each rank (us), and the share of its collectives beside computation (%)."""


def silent(_line: str) -> None:
    """Say nothing."""


def trace(rank: int | None, world: int = 2) -> dict[str, Any]:
    """A trace of torch.profiler of two steps with a kernel each."""
    told = {"backend": "nccl", "rank": rank, "world_size": world}
    events: list[dict[str, Any]] = []
    for step in (0, 1):
        begin = 1000.0 * step
        events += [
            {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1, "tid": 1, "ts": begin,
             "dur": 1000.0, "args": {}},
            {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": begin + 100, "dur": 300.0,
             "args": {"device": 0, "stream": 7, "correlation": step}},
        ]  # fmt: skip
    return {"schemaVersion": 1, "traceEvents": events, **({"distributedInfo": told} if rank is not None else {})}


def written(folder: Path, *names: str, **traces: dict[str, Any]) -> Path:
    """A folder with traces; of `names` those of ranks 0, 1 ..."""
    folder.mkdir(exist_ok=True)
    for number, name in enumerate(names):
        (folder / name).write_text(json.dumps(trace(number, len(names))))
    for name, content in traces.items():
        (folder / f"{name}.json").write_text(json.dumps(content))
    return folder


def test_each_trace_is_a_rank_of_one_run(tmp_path: Path) -> None:
    """By what it says of itself, not by its name; what is no trace is passed over."""
    folder = written(tmp_path / "in", "b.json", "a.json")
    (folder / "notes.txt").write_text("mine")

    made = importing_ranks.import_folder(folder, tmp_path / "out", reader=None, report=silent, by=Here(1))

    assert (made.ranks, made.refused, made.passed_over) == ({0: "b.json", 1: "a.json"}, {}, ["notes.txt"])
    found = ranked.find(str(tmp_path / "out"))
    assert found is not None
    assert (found.world, found.missing) == (2, ())
    summary = ranks.of_run(found)
    assert [(one.rank, one.steps, one.median_ns) for one in summary.ranks] == [(0, 2, 1_000_000), (1, 2, 1_000_000)]
    assert [(one.rank, one.busy_ns, one.idle_ns) for one in summary.devices] == [(n, 600_000, 700_000) for n in (0, 1)]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["manifest.json", "rank-000", "rank-001"]


def test_a_file_that_cannot_be_read_does_not_cost_the_others(tmp_path: Path) -> None:
    """Nor does one whose rank is there already, or that has none."""
    folder = written(tmp_path / "in", "a.json", again=trace(0), none=trace(None), rank7=trace(None))
    (folder / "cut.json.gz").write_bytes(gzip.compress(json.dumps(trace(1)).encode())[:200])

    made = importing_ranks.import_folder(folder, tmp_path / "out", reader="kineto", report=silent, by=Here(1))

    assert made.ranks == {0: "a.json", 7: "rank7.json"}
    assert made.refused["again.json"] == "rank 0 is there already, of a.json"
    assert made.refused["none.json"] == "neither the trace nor the name of its file tells a rank"
    assert made.refused["cut.json.gz"]
    assert not list((tmp_path / "out").glob(".file*"))


def test_without_a_rank_no_run_is_left(tmp_path: Path) -> None:
    """A folder without traces, one without ranks, and an output that is taken."""
    with pytest.raises(NoInputError, match="There is no trace in"):
        importing_ranks.import_folder(written(tmp_path / "in"), tmp_path / "out", reader=None, report=silent)
    written(tmp_path / "in", none=trace(None))
    with pytest.raises(BadDataError, match=r"No rank could be read. none.json: neither the trace"):
        importing_ranks.import_folder(tmp_path / "in", tmp_path / "out", reader=None, report=silent, by=Here(1))
    assert [path.name for path in tmp_path.iterdir()] == ["in"]
    with pytest.raises(CannotCreateError, match="exists and is not empty"):
        importing_ranks.import_folder(tmp_path / "in", tmp_path, reader=None, report=silent)


@pytest.mark.slow
def test_the_command_makes_the_same_in_copies_of_its_process(tmp_path: Path) -> None:
    """Nothing has begun a thread there; what is no trace is named."""
    folder = written(tmp_path / "in", *(f"{number}.json" for number in range(4)))
    (folder / "notes.txt").write_text("mine")
    command = [sys.executable, "-m", "dlprof", "import", "in", "-o", "out", "--jobs", "2"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stdout) == (0, "out\n"), done.stderr
    assert "passed over, as of no known format: notes.txt" in done.stderr
    alone = importing_ranks.import_folder(folder, tmp_path / "alone", reader=None, report=silent, by=Here(1))
    assert sorted(alone.ranks) == [0, 1, 2, 3]
    made = [ranked.find(str(tmp_path / name)) for name in ("out", "alone")]
    events = [[one.run.table("kernel_events").to_pylist() for one in found.members] for found in made if found]
    assert events[0] == events[1]


@pytest.mark.slow
def test_figures_of_public_traces_are_those_of_hta(tmp_path: Path) -> None:
    """To the microsecond; and the rank that it takes for the straggler comes last to most collectives."""
    folder = tmp_path / "in"
    folder.mkdir()
    for rank in (0, 1):
        shutil.copy(DATA / f"hta_rank{rank}.json.gz", folder)
    importing_ranks.import_folder(folder, tmp_path / "out", reader=None, report=silent, by=Here(1))
    found = ranked.find(str(tmp_path / "out"))
    assert found is not None
    assert found.world == 128
    summary = ranks.of_run(found)
    told = {
        one.rank: (
            *(round(ns / 1000) for ns in (one.idle_ns, one.compute_ns, one.non_compute_ns, one.span_ns)),
            round(100 * one.communication_overlapped_ns / one.communication_ns, 2),
        )
        for one in summary.devices
    }
    assert told == HTA
    assert (summary.device_collectives.count, summary.device_collectives.last_share) == (10, {0: 0.3, 1: 0.7})


def test_a_folder_of_logs_is_told_where_its_trace_lies(tmp_path: Path) -> None:
    """Profilers of TensorFlow and JAX put it below."""
    deep = tmp_path / "logs" / "plugins" / "profile" / "2026_01_02"
    deep.mkdir(parents=True)
    (deep / "host.xplane.pb").write_bytes(b"x")

    with pytest.raises(NoInputError, match="no trace in .* itself; folders below are not searched") as caught:
        importing_ranks.import_folder(tmp_path / "logs", None, reader=None, report=silent)

    assert caught.value.hint is not None
    assert caught.value.hint.endswith("plugins/profile/2026_01_02/host.xplane.pb")


@pytest.mark.parametrize(("suffix", "is_told"), [("pt.trace.json", True), ("trace.json", False)])
def test_files_that_tell_no_rank_may_be_of_one_process(tmp_path: Path, suffix: str, is_told: bool) -> None:
    """As PyTorch's handler names those of its cycles: the refusal says how to import them.

    Others may be one profile in several formats, as JAX writes it.
    """
    folder = written(tmp_path / "in", first=trace(None), second=trace(None))
    for path in list(folder.iterdir()):
        path.rename(folder / f"{path.stem.partition('.')[0]}.{suffix}")

    with pytest.raises(BadDataError) as caught:
        importing_ranks.import_folder(folder, tmp_path / "out", reader=None, report=silent)

    hint = f"cycles of one process: dlprof import {folder}/*, without the folder itself"
    assert caught.value.hint == (hint if is_told else None)


def test_a_folder_with_one_profile_in_several_formats_is_told_as_one_process(tmp_path: Path) -> None:
    """As JAX writes it: the form that tells most is to be imported."""
    folder = written(tmp_path / "in", first=trace(None), second=trace(None))
    (folder / "first.json").rename(folder / "vm.trace.json")
    (folder / "second.json").rename(folder / "perfetto_trace.json")

    with pytest.raises(BadDataError) as caught:
        importing_ranks.import_folder(folder, tmp_path / "out", reader=None, report=silent, by=Here(1))

    assert caught.value.hint == f"the trace of one process: dlprof import {folder / 'vm.trace.json'}"


def test_of_several_cycles_of_each_rank_those_of_one_time_are_taken(tmp_path: Path) -> None:
    """Though the larger file of rank 1 is of another cycle."""
    traces = {}
    for name, rank, begin in (
        ("a", 0, 10**18),
        ("b", 0, 10**18 + 10**10),
        ("c", 1, 10**18 + 10**10),
        ("d", 1, 2 * 10**18),
    ):
        traces[name] = {**trace(rank), "baseTimeNanoseconds": begin}
    traces["d"]["note"] = "x" * 5000
    folder = written(tmp_path / "in", **traces)

    made = importing_ranks.import_folder(folder, tmp_path / "out", reader=None, report=silent, by=Here(1))

    assert made.ranks == {0: "b.json", 1: "c.json"}
    assert made.refused == {
        "a.json": "rank 0 is there already, of b.json",
        "d.json": "rank 1 is there already, of c.json",
    }
