"""Perfetto's own traces."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest

from dlprof.export import perfetto as export
from dlprof.ingest.artifact import ArtifactError
from dlprof.ingest.formats import perfetto, registry
from tests.unit import runs
from tests.unit.ingest.formats.samples import PERFETTO, event, packet, put, track
from tests.unit.ingest.imports import DATA, imported, rows
from tests.unit.ingest.protobuf import field, number


def test_slices_are_what_their_category_and_track_say(tmp_path: Path) -> None:
    """A device is named by a track or by one that it lies in; texts may be interned."""
    path = put(tmp_path, PERFETTO, "out.pftrace")
    assert registry.find(path) is perfetto.READER

    run = imported(tmp_path, path)

    assert rows(run, "SELECT kind, name, device, lane, start_ns, dur_ns FROM kernels ORDER BY start_ns") == [
        ("runtime", "hipLaunchKernel", "cpu", "main", 0, 400),
        ("kernel", "gemm", "gpu:2", "QUEUE [1]", 500, 400),
        ("transfer", "HOST_TO_DEVICE", "gpu:2", "QUEUE [1]", 1000, 100),
    ]
    assert {row["what"]: row["events"] for row in run.rows("skipped")} == {
        "instants": 1,
        "values of counters": 1,
        "packets of other data sources": 1,
    }


def test_packed_packets_are_unpacked(tmp_path: Path) -> None:
    """Perfetto packs them with zlib."""
    packed = field(1, number(10, 1) + field(50, zlib.compress(PERFETTO)))
    run = imported(tmp_path, put(tmp_path, track(7, "x") + packed, "out.pftrace"))

    assert rows(run, "SELECT count(*), sum(dur_ns) FROM kernels") == [(3, 900)]


def test_a_writers_own_clock_counts_from_the_snapshot(tmp_path: Path) -> None:
    """Clock 64 here counts microseconds from its last time; the wall clock tells when the trace was taken."""
    clocks = [(6, 5_000_000, b""), (1, 1_700_000_000_005_000_000, b""), (64, 0, number(3, 1) + number(4, 1000))]
    snapshot = field(6, b"".join(field(1, number(1, key) + number(2, time) + more) for key, time, more in clocks))
    defaults = packet(field(59, number(58, 64) + field(11, number(11, 9))))
    events = [packet(number(8, step), field(11, number(9, kind))) for step, kind in ((10, 1), (5, 1), (1, 2), (4, 2))]
    trace = packet(snapshot + number(13, 1)) + defaults + track(9, "t") + b"".join(events)
    run = imported(tmp_path, put(tmp_path, trace, "out.pftrace"))

    assert rows(run, "SELECT start_ns, dur_ns, nested_ns FROM kernels ORDER BY start_ns") == [
        (0, 10_000, 1_000),
        (5_000, 1_000, 0),
    ]
    assert (run.manifest.recorded or "").startswith("2023-11-14T22:13:20")


def test_what_dlprof_exports_comes_back_with_the_same_sums(tmp_path: Path) -> None:
    """Kind by kind and lane by lane, beside the tracks that dlprof adds; idle time is no kernel."""
    run = imported(tmp_path, DATA / "hta_gp100_step_annotations.json.gz")
    with (tmp_path / "run.pftrace").open("wb") as target:
        export.write(run, target)
    again = imported(tmp_path / "again", tmp_path / "run.pftrace")
    query = "SELECT kind, device, lane, count(*), sum(dur_ns) FROM kernels GROUP BY ALL ORDER BY ALL"
    lanes = {row[2] for row in rows(run, query)}

    assert [row for row in rows(again, query) if row[2] in lanes] == rows(run, query)
    assert len(rows(run, query)) == 8
    assert {row["what"] for row in again.rows("skipped")} == {"slices of idle devices"}


def test_a_file_that_dlprof_exported_is_told_as_such(tmp_path: Path) -> None:
    """By the label of its process."""
    with (tmp_path / "own.pftrace").open("wb") as target:
        export.write(runs.trained(tmp_path / "mlp"), target)
    run = imported(tmp_path / "again", tmp_path / "own.pftrace")

    said = {row["slug"]: row["message"] for row in run.rows("health")}
    assert said["trace-own-export"].startswith("own.pftrace was exported by dlprof from the run mlp, which holds more")


def _process(key: int, pid: int, name: str) -> bytes:
    """The track of a process, and of a thread in it."""
    own = field(60, number(1, key) + field(3, number(1, pid) + field(6, name.encode())))
    return packet(own) + track(key + 1, "main", key)


def _span(place: int, begin: int, end: int, name: str) -> bytes:
    return event(begin, 1, place, field(23, name.encode())) + event(end, 2, place)


def test_processes_of_one_file_are_told_apart(tmp_path: Path) -> None:
    """A track is of the process that it lies in; a group may be named after one."""
    tracks = [_process(1, 41, "trainer"), _process(11, 42, "loader"), track(21, "loader: gpu:0"), track(22, "s", 21)]
    spans = [_span(2, 1000, 1400, "step"), _span(12, 1000, 1900, "decode"), _span(22, 1500, 1600, "resize")]
    run = imported(tmp_path, put(tmp_path, b"".join([*tracks, *spans]), "out.pftrace"))

    assert rows(run, "SELECT pid, name, kind, start_ns, dur_ns FROM kernels ORDER BY pid, start_ns") == [
        (41, "step", "operator", 0, 400),
        (42, "decode", "operator", 0, 900),
        (42, "resize", "kernel", 500, 100),
    ]
    assert [row["file"] for row in run.rows("sources")] == [
        "out.pftrace (trainer, process 41)",
        "out.pftrace (loader, process 42)",
    ]


def test_a_device_of_no_process_leaves_them_together(tmp_path: Path) -> None:
    """Nobody knows which of them launched its kernels."""
    tracks = [_process(1, 41, "a"), _process(11, 42, "b"), track(21, "GPU 0")]
    spans = [_span(2, 1000, 1400, "f"), _span(12, 1000, 1900, "g"), _span(21, 1500, 1600, "gemm")]
    run = imported(tmp_path, put(tmp_path, b"".join([*tracks, *spans]), "out.pftrace"))

    assert [(row["slug"], row["count"]) for row in run.rows("health")] == [("trace-processes-joined", 2)]
    assert len(run.rows("sources")) == 1


@pytest.mark.parametrize(
    ("trace", "message"),
    [
        (PERFETTO[:-3], "damaged: a field of"),
        (track(7, "x") + field(1, number(10, 1) + field(50, b"no zlib")), "packed packets that are damaged"),
        (track(7, "x") + event(5, 2, 7), "end"),
    ],
)
def test_damaged_traces_are_refused_or_told(tmp_path: Path, trace: bytes, message: str) -> None:
    """With the place, and no run is left; an end without a begin is a line of health."""
    path = put(tmp_path, trace, "out.pftrace")
    if message != "end":
        with pytest.raises(ArtifactError, match=message):
            imported(tmp_path, path)
    else:
        assert imported(tmp_path, path).rows("health")[0]["slug"] == "trace-unpaired"
