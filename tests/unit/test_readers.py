"""Readers of the sidecars' files: figures out of literal raw rows, and damaged files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dlprof.ingest.artifact import ArtifactError, Who
from dlprof.ingest.file_names import FileNames
from dlprof.ingest.own import cores, gpu, lines, stacks

WHO = Who("host", 0, 42, 1_000)
HEADER = {"format": "dlprof.cores/1", "ticks_per_s": 100, "page_bytes": 4096, "pid": 42, "cores": 2}


def write(path: Path, *rows: Any) -> Path:
    """A JSON-lines file."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def sample(time_ns: int, busy: int, idle: int, own: int, ticks: int, rss: int = 10) -> list[Any]:
    """A fast row of two cores: the first busy, the second idle."""
    total = busy + idle
    return ["c", time_ns, [[busy, 0, 0, 0, idle], [0, 0, 0, 0, total]], own, [[42, ticks, rss, 3, 100, 1]]]


def core_file(folder: Path) -> Path:
    """Two seconds of one process on one of two cores."""
    return write(
        folder / "cores.jsonl", HEADER,
        ["p", 1_000, 42, 1, "python x.py", False],
        ["m", 1_000, 5_000, 0, None, [2000.0, 1000.0], [[42, 7, 2, 11, 12]]],
        sample(1_000, 0, 0, 0, 0),
        sample(500_001_000, 40, 10, 1, 30, rss=20),
        ["m", 1_000_001_000, 4_000, 0, 61.5, [2000.0, 1000.0], [[42, 9, 4, 21, 22]]],
        sample(1_000_001_000, 80, 20, 2, 60),
        {"end": True, "cost_cpu_ns": 5, "missed": 0},
    )  # fmt: skip


def test_busy_shares_are_ticks_over_the_ticks_of_the_core(tmp_path: Path) -> None:
    """40 of 50 ticks are 80 percent; the idle core has 0."""
    tables, health, _ = cores.read(core_file(tmp_path), WHO)

    rows = tables["cores"].to_pylist()
    assert [(row["time_ns"], row["core"], row["busy_pct"]) for row in rows[:2]] == [
        (500_000_000, 0, 80.0),
        (500_000_000, 1, 0.0),
    ]
    assert health == []


def test_the_machine_is_split_into_the_tree_others_and_dlprof(tmp_path: Path) -> None:
    """In one second: 80 ticks busy, of which 60 are the script's and 2 dlprof's: 18 are others'."""
    row = cores.read(core_file(tmp_path), WHO)[0]["machine"].to_pylist()[0]

    assert (row["cpu_pct"], row["dlprof_cpu_pct"], row["others_cpu_pct"]) == (80.0, 2.0, 18.0)
    assert (row["memory_available_bytes"], row["temperature_c"]) == (4_000, 61.5)


def test_a_process_has_its_cpu_memory_and_counters(tmp_path: Path) -> None:
    """30 ticks in half a second are 60 percent of a core; counters come once a second, else null."""
    rows = cores.read(core_file(tmp_path), WHO)[0]["process_samples"].to_pylist()

    assert [(row["cpu_pct"], row["rss_bytes"]) for row in rows] == [(60.0, 81_920), (60.0, 40_960)]
    assert [row["switches_voluntary"] for row in rows] == [None, 9]


def test_a_file_without_its_end_is_kept_and_said_to_be_cut(tmp_path: Path) -> None:
    """The sampler was killed in the middle of a row."""
    path = core_file(tmp_path)
    path.write_text(path.read_text()[:-80])

    tables, health, trailer = cores.read(path, WHO)

    assert tables["cores"].num_rows == 2
    assert [entry.slug for entry in health] == ["cores-cut"]
    assert trailer == {}


def test_a_newer_version_is_refused(tmp_path: Path) -> None:
    """A reader does not guess."""
    with pytest.raises(ArtifactError, match="newer"):
        cores.read(write(tmp_path / "cores.jsonl", {**HEADER, "format": "dlprof.cores/2"}), WHO)


def test_gpu_rows_become_columns(tmp_path: Path) -> None:
    """Missing values stay null."""
    path = write(
        tmp_path / "gpu.jsonl", {"format": "dlprof.gpu/1", "columns": ["utilisation_pct", "power_w"], "gpus": [{"name": "A"}]},
        [2_000, 0, 50, None], {"end": True, "missing": [{"gpu": 0, "metric": "power_w", "reason": "Not Supported"}]},
    )  # fmt: skip

    table, health, _ = gpu.read(path, WHO)

    row = table.to_pylist()[0]
    assert (row["time_ns"], row["utilisation_pct"], row["power_w"]) == (1_000, 50.0, None)
    assert [entry.slug for entry in health] == ["gpu-metric-unsupported"]


def event(ph: str, name: str, file: str, line: int, ts: int) -> dict[str, Any]:
    """An event of py-spy's chrome trace."""
    return {
        "args": {"filename": file, "line": line},
        "cat": "py-spy",
        "name": name,
        "ph": ph,
        "pid": 42,
        "tid": 9,
        "ts": ts,
    }


EVENTS = [
    event("B", "thread (77): MainThread", "", 0, 100),
    event("B", "main", "/s/mlp.py", 5, 100),
    event("B", "_find_and_load", "<frozen importlib._bootstrap>", 1, 100),
    event("B", "fit", "/env/lib/python3.11/site-packages/keras/model.py", 9, 100),
    event("E", "fit", "/env/lib/python3.11/site-packages/keras/model.py", 9, 300),
    event("E", "_find_and_load", "<frozen importlib._bootstrap>", 1, 300),
    event("E", "main", "/s/mlp.py", 5, 450),
    event("E", "thread (77): MainThread", "", 0, 450),
]


def stack_file(folder: Path, events: list[dict[str, Any]], **anchor: Any) -> Path:
    """A segment with its anchor."""
    path = folder / "stacks-000.json"
    path.write_text(json.dumps(events))
    (folder / "stacks-000.anchor.json").write_text(json.dumps({"before_ns": 900, "after_ns": 1_000, **anchor}))
    return path


def test_stacks_stand_from_one_change_to_the_next(tmp_path: Path) -> None:
    """Pseudo frames and the import machinery are left out; files are named shortly."""
    found = stacks.Stacks(WHO, FileNames("/s"))
    found.add(stack_file(tmp_path, EVENTS))

    tables = found.tables()
    rows = tables["stacks"].to_pylist()
    assert [(r["thread_id"], r["thread"], r["start_ns"], r["dur_ns"], r["stack_id"]) for r in rows] == [
        (77, "MainThread", 100_000, 200_000, 0),
        (77, "MainThread", 300_000, 150_000, 1),
    ]
    frames = [(f["stack_id"], f["depth"], f["function"], f["file"], f["line"]) for f in tables["frames"].to_pylist()]
    assert frames == [(0, 0, "main", "mlp.py", 5), (0, 1, "fit", "keras/model.py", 9), (1, 0, "main", "mlp.py", 5)]


def test_a_thread_without_a_name_is_not_the_main_thread(tmp_path: Path) -> None:
    """TensorFlow calls generators from threads that Python did not start; the first thread seen is the main one."""
    events = [
        event("B", "thread (77)", "", 0, 100),
        event("B", "main", "/s/mlp.py", 5, 100),
        event("E", "main", "/s/mlp.py", 5, 450),
        {**event("B", "thread (78)", "", 0, 200), "tid": 10},
        {**event("B", "batches", "/s/mlp.py", 9, 200), "tid": 10},
        {**event("E", "batches", "/s/mlp.py", 9, 300), "tid": 10},
    ]
    found = stacks.Stacks(WHO, FileNames("/s"))
    found.add(stack_file(tmp_path, events))

    rows = found.tables()["stacks"].to_pylist()
    assert [(row["thread_id"], row["thread"]) for row in rows] == [(77, "MainThread"), (78, "thread 78")]


def test_what_py_spy_could_not_read_is_counted(tmp_path: Path) -> None:
    """More than a fifth of all stacks."""
    health = stacks.Stacks(WHO, FileNames("/s")).add(stack_file(tmp_path, EVENTS, samples=70, errors=30, behind=True))

    assert [entry.slug for entry in health] == ["stacks-incomplete", "stacks-behind"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100, deadline=None)
@given(
    sequence=st.lists(st.tuples(st.sampled_from("BEX"), st.sampled_from("abc"), st.integers(0, 50)), max_size=30),
    cut=st.integers(0, 2000),
)
def test_a_damaged_trace_gives_an_artifact_error_or_what_is_whole(
    sequence: list[tuple[str, str, int]], cut: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Any order of events, cut anywhere."""
    folder = tmp_path_factory.mktemp("stacks")
    path = stack_file(folder, [event(ph, name, "/s/x.py", 1, ts) for ph, name, ts in sequence])
    path.write_bytes(path.read_bytes()[:cut])
    found = stacks.Stacks(WHO, FileNames("/s"))

    try:
        found.add(path)
    except ArtifactError:
        return
    assert all(row[3] > 0 for row in found.rows)


def test_lines_that_never_ran_are_listed_with_no_hits(tmp_path: Path) -> None:
    """A function's whole source is there; times are in nanoseconds."""
    source = ["def f(x):", "    if x:", "        return 1", "    return 2", "", "f(0)"]
    counts = {"file": "/s/a.py", "first_line": 1, "function": "f", "lines": [[2, 1, 30], [4, 1, 20]]}
    path = tmp_path / "lines.json"
    path.write_text(json.dumps({"format": "dlprof.lines/1", "unit_ns": 2.0, "functions": [counts]}))

    rows = lines.read(path, WHO, FileNames("/s"), lambda file: source).to_pylist()

    assert [(row["line"], row["hits"], row["time_ns"]) for row in rows] == [
        (1, 0, 0),
        (2, 1, 60),
        (3, 0, 0),
        (4, 1, 40),
    ]
    assert rows[2]["source"] == "        return 1"


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"format": "dlprof.lines/9", "unit_ns": 1, "functions": []}'])
def test_damaged_line_counts_are_refused(content: str, tmp_path: Path) -> None:
    """With the file's name."""
    path = tmp_path / "lines.json"
    path.write_text(content)

    with pytest.raises(ArtifactError, match=r"lines\.json"):
        lines.read(path, WHO, FileNames("/s"), lambda file: [])
