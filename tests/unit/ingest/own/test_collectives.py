"""Collectives in the raw stream become rows."""

from __future__ import annotations

from pathlib import Path

import pytest
from dlprof_probes.inproc.recorder import Recorder

from dlprof.ingest.artifact import ProcessId
from dlprof.ingest.own import collectives, wire
from dlprof.ingest.own.wire_stream import Stream

HOST = ProcessId("h", 3, 42, 1000)


def recorded(folder: Path, *rows: tuple[int, ...]) -> Stream:
    """A stream with collectives: number, begin, blocked, end, bytes."""
    (folder / "status").write_bytes(b" " * 1024)
    recorder = Recorder(str(folder / "inproc.wire"), str(folder / "status"), lambda _path: True)
    for row in rows:
        recorder.collective(("all_reduce", "0", row[0]), row[1:4], row[4])
    recorder.finish()
    return wire.read(folder / "inproc.wire")


def test_a_collective_is_a_row_with_its_ordinal_and_its_rank(tmp_path: Path) -> None:
    """Times are those of the run; bytes that are not known are null."""
    stream = recorded(tmp_path, (0, 1100, 1100, 1150, 400), (1, 1200, 1230, 1250, -1))
    rows = collectives.table(stream.collectives, HOST).to_pylist()
    whose = {"host": "h", "rank": 3, "pid": 42, "kind": "all_reduce", "process_group": "0"}
    assert rows == [
        {**whose, "ordinal": 0, "start_ns": 100, "dur_ns": 50, "blocked_ns": 50, "bytes": 400},
        {**whose, "ordinal": 1, "start_ns": 200, "dur_ns": 50, "blocked_ns": 20, "bytes": None},
    ]
    assert stream.complete


@pytest.mark.parametrize("row", [(0, 1200, 1100, 1300, 4), (0, 1200, 1250, 1240, 4), (0, 1100, 1100, 1150, -2)])
def test_one_whose_times_make_no_sense_is_damage(tmp_path: Path, row: tuple[int, ...]) -> None:
    """What was before it is read."""
    stream = recorded(tmp_path, (0, 1100, 1100, 1150, 4), row)
    assert len(stream.collectives) == 1
    assert "a collective makes no sense" in (stream.damage or "")
