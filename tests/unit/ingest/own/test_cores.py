"""The sampler's rows of cores and processes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dlprof.ingest.artifact import ArtifactError, ProcessId
from dlprof.ingest.own import cores
from dlprof.schema.manifest import PhaseThread


def test_children_that_come_and_go_between_two_samples_are_not_lost() -> None:
    """The kernel adds their ticks to their parent's when they are over."""
    shell_before, shell_after = [1, 5, 0, 1, 0, 0, 100], [1, 6, 0, 1, 0, 0, 190]

    assert cores._tree_ticks([shell_before], [shell_after]) == 91
    child_before = [2, 40, 0, 1, 0, 0, 0]  # 40 of its ticks were seen; at its end it had 60, which the shell has now
    assert cores._tree_ticks([shell_before, child_before], [[1, 6, 0, 1, 0, 0, 160]]) == 21
    assert cores._tree_ticks([[1, 5, 0, 1, 0, 0]], [[1, 9, 0, 1, 0, 0]]) == 4  # of an older dlprof


PROCESS = ProcessId("host", 0, 42, 1_000)


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
        folder / "cores.jsonl",
        HEADER,
        ["p", 1_000, 42, 1, "python x.py", False],
        ["m", 1_000, 5_000, 0, None, [2000.0, 1000.0], [[42, 7, 2, 11, 12]]],
        sample(1_000, 0, 0, 0, 0),
        sample(500_001_000, 40, 10, 1, 30, rss=20),
        ["m", 1_000_001_000, 4_000, 0, 61.5, [2000.0, 1000.0], [[42, 9, 4, 21, 22]]],
        sample(1_000_001_000, 80, 20, 2, 60),
        {"end": True, "cost_cpu_ns": 5, "missed": 0},
    )


def test_busy_shares_are_ticks_over_the_ticks_of_the_core(tmp_path: Path) -> None:
    """40 of 50 ticks are 80 percent; the idle core has 0."""
    tables, health, _ = cores.read(core_file(tmp_path), PROCESS)

    rows = tables["cores"].to_pylist()
    assert [(row["time_ns"], row["core"], row["busy_pct"]) for row in rows[:2]] == [
        (500_000_000, 0, 80.0),
        (500_000_000, 1, 0.0),
    ]
    assert health == []


def test_the_machine_is_split_into_the_tree_others_and_dlprof(tmp_path: Path) -> None:
    """In one second: 80 ticks busy, of which 60 are the script's and 2 dlprof's: 18 are others'."""
    row = cores.read(core_file(tmp_path), PROCESS)[0]["machine"].to_pylist()[0]

    assert (row["cpu_pct"], row["dlprof_cpu_pct"], row["others_cpu_pct"]) == (80.0, 2.0, 18.0)
    assert (row["memory_available_bytes"], row["temperature_c"]) == (4_000, 61.5)


def test_cores_are_busy_for_no_longer_than_their_ticks(tmp_path: Path) -> None:
    """25 ticks of two cores in a tenth of a second, where there is room for 20: some are of the time before."""
    begin, end = (
        ["c", 1_000, [[0, 0, 0, 0, 0]] * 2, 0, []],
        ["c", 100_001_000, [[13, 0, 0, 0, 0], [12, 0, 0, 0, 0]], 5, []],
    )
    counted: list[list[object]] = [["m", at, 5_000, 0, None, None, []] for at in (1_000, 100_001_000)]
    path = write(tmp_path / "cores.jsonl", HEADER, counted[0], begin, counted[1], end)

    row = cores.read(path, PROCESS)[0]["machine"].to_pylist()[0]

    assert (row["cpu_pct"], row["dlprof_cpu_pct"], row["others_cpu_pct"]) == (200.0, 40.0, 160.0)


def gone(time_ns: int, busy: int, idle: int, own: int) -> list[Any]:
    """A fast row that the traced process is no longer in."""
    return [*sample(time_ns, busy, idle, own, 0)[:4], []]


def ended(folder: Path, *between: list[Any]) -> Path:
    """A process that has ended before the last sample of a second in which 90 ticks were busy."""
    return write(
        folder / "cores.jsonl",
        HEADER,
        ["m", 1_000, 5_000, 0, None, None, [[42, 7, 2, 11, 12]]],
        sample(1_000, 0, 0, 0, 0),
        *between,
        ["m", 1_000_001_000, 4_000, 0, None, None, []],
        gone(1_000_001_000, 90, 10, 0),
    )


def test_ticks_that_ended_with_the_process_are_not_those_of_others(tmp_path: Path) -> None:
    """False before: all 90 were told of other programs. Up to the last look at it, 0.8 s: 76 of 80 are the script's."""
    rows = cores.read(ended(tmp_path, sample(800_001_000, 80, 0, 0, 76)), PROCESS)[0]["machine"].to_pylist()

    assert [(row["interval_ns"], row["cpu_pct"], row["others_cpu_pct"]) for row in rows] == [(800_000_000, 100.0, 5.0)]


def test_of_others_nothing_is_known_where_nobody_looked_before_the_end(tmp_path: Path) -> None:
    """The 90 ticks may be the script's, or another program's."""
    (row,) = cores.read(ended(tmp_path), PROCESS)[0]["machine"].to_pylist()

    assert (row["cpu_pct"], row["others_cpu_pct"]) == (90.0, None)


def test_a_process_has_its_cpu_memory_and_counters(tmp_path: Path) -> None:
    """30 ticks in half a second are 60 percent of a core; counters come once a second, else null."""
    rows = cores.read(core_file(tmp_path), PROCESS)[0]["process_samples"].to_pylist()

    assert [(row["cpu_pct"], row["rss_bytes"]) for row in rows] == [(60.0, 81_920), (60.0, 40_960)]
    assert [row["switches_voluntary"] for row in rows] == [None, 9]


def test_a_file_without_its_end_is_kept_and_has_no_trailer(tmp_path: Path) -> None:
    """The sampler was killed in the middle of a row."""
    path = core_file(tmp_path)
    path.write_text(path.read_text()[:-80])

    tables, health, trailer = cores.read(path, PROCESS)

    assert tables["cores"].num_rows == 2
    assert (health, trailer) == ([], {})


def test_a_newer_version_is_refused(tmp_path: Path) -> None:
    """A reader does not guess."""
    with pytest.raises(ArtifactError, match="newer"):
        cores.read(write(tmp_path / "cores.jsonl", {**HEADER, "format": "dlprof.cores/2"}), PROCESS)


def test_kinds_and_limits_of_memory_come_once_a_second(tmp_path: Path) -> None:
    """A dlprof that did not look at them wrote shorter rows."""
    counters = [42, 7, 2, 11, 12, 5, 5, 5, 5, 9]
    path = write(
        tmp_path / "cores.jsonl",
        HEADER,
        ["m", 1_000, 5_000, 0, None, None, [counters]],
        sample(1_000, 0, 0, 0, 0),
        sample(500_001_000, 40, 10, 1, 30),
        ["m", 1_000_001_000, 4_000, 0, None, None, [[*counters, 60, 30, 10, 1, 200, 900, 80, 70]], [1] * 4,
         [1000, None, 500, 100, 0]],
        sample(1_000_001_000, 80, 20, 2, 60),
    )  # fmt: skip
    tables = cores.read(path, PROCESS)[0]

    kinds = ("anonymous_bytes", "file_bytes", "shared_bytes", "swap_bytes", "peak_rss_bytes", "address_space_bytes",
             "pss_bytes", "uss_bytes")  # fmt: skip
    assert [[row[name] for name in kinds] for row in tables["process_samples"].to_pylist()] == [
        [None] * 8,
        [60, 30, 10, 1, 200, 900, 80, 70],
    ]
    (machine,) = tables["machine"].to_pylist()
    assert (machine["limit_address_space_bytes"], machine["limit_data_bytes"]) == (1000, None)
    assert (machine["limit_group_bytes"], machine["group_used_bytes"], machine["group_killed_count"]) == (500, 100, 0)


def test_open_descriptors_and_their_limit_come_last(tmp_path: Path) -> None:
    """An older dlprof has neither."""
    counters = [42, 7, 2, 11, 12, 5, 5, 5, 5, 9, 60, 30, 10, 1, 200, 900, 80, 70]
    path = write(
        tmp_path / "cores.jsonl",
        HEADER,
        ["m", 1_000, 5_000, 0, None, None, [counters], [1] * 4, [1000, None, 500, 100, 0]],
        sample(1_000, 0, 0, 0, 0),
        sample(500_001_000, 40, 10, 1, 30),
        ["m", 1_000_001_000, 4_000, 0, None, None, [[*counters, 33]], [1] * 4, [1000, None, 500, 100, 0, 1024]],
        sample(1_000_001_000, 80, 20, 2, 60),
    )
    tables = cores.read(path, PROCESS)[0]

    assert [row["descriptors"] for row in tables["process_samples"].to_pylist()] == [None, 33]
    assert [row["limit_descriptors"] for row in tables["machine"].to_pylist()] == [1024]


def test_what_descriptors_are_is_a_row_for_each_name(tmp_path: Path) -> None:
    """Of the process that has them."""
    named = ["h", 2_000, 42, "descriptors", 40, 38, [["/data/#.log", 30], ["/dev/null", 3]]]
    tables = cores.read(write(tmp_path / "cores.jsonl", HEADER, sample(1_000, 0, 0, 0, 0), named), PROCESS)[0]

    names = ("pid", "time_ns", "kind", "count", "looked_at", "name", "of_name")
    assert [tuple(row[name] for name in names) for row in tables["handles"].to_pylist()] == [
        (42, 1_000, "descriptors", 40, 38, "/data/#.log", 30),
        (42, 1_000, "descriptors", 40, 38, "/dev/null", 3),
    ]


def test_the_main_threads_counters_go_on_with_those_of_a_thread_that_has_the_phases(tmp_path: Path) -> None:
    """From 1 s on: of 0.9 s that it ran the main one ran none. What is told of threads comes before its second's row."""
    s = 1_000_000_000

    def second(n: int, main: int, worker: int) -> list[list[Any]]:
        told = [42, 0, 0, 0, 0, 9, 9, main, 0]
        return [["t", n * s + 1_000, [[501, worker, 0]]], ["m", n * s + 1_000, 5_000, 0, None, None, [told]],
                sample(n * s + 1_000, 50 * n, 50 * n, 0, 50 * n)]  # fmt: skip

    rows = [*second(0, 0, 0), *second(1, s // 2, 0), *second(2, s // 2, 9 * s // 10), *second(3, s // 2, 9 * s // 5)]
    path = write(tmp_path / "cores.jsonl", HEADER, *rows, {"end": True, "cost_cpu_ns": 5, "missed": 0})
    turn = PhaseThread(thread="worker", thread_id=7, system_id=501, start_ns=s, end_ns=3 * s)
    found = [
        row
        for name, piece in cores.Samples(path, PROCESS, [turn]).pieces()
        if name == "process_samples"
        for row in piece.to_pylist()
    ]

    assert [row["main_run_ns"] for row in found] == [s // 2, 14 * s // 10, 23 * s // 10]
