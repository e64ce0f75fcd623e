"""The records of a raw stream."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from dlprof_probes import wire
from dlprof_probes.wire import Record

from dlprof.ingest.artifact import ArtifactError
from dlprof.ingest.own import wire_records
from dlprof.ingest.own.step_log import RECORD

HEAD = wire.MAGIC + bytes([wire.VERSION])


def step(number: int) -> bytes:
    """A step, by its number in the epoch."""
    return bytes(wire.STEP_RECORD.pack(Record.STEP, wire.STEP.size, 7, 2, 0, number, 1, *[0] * 8))


def stream(path: Path, *records: bytes, head: bytes = HEAD) -> Path:
    """A stream of these records."""
    target = path / "inproc.wire"
    target.write_bytes(head + b"".join(records))
    return target


def told(path: Path) -> list[tuple[int, bytes]]:
    """Type and payload of each record."""
    return [(kind, bytes(payload)) for _, kind, payload in wire_records.records(path)]


def test_records_come_in_order_with_their_offsets(tmp_path: Path) -> None:
    """Offsets are those of the file, behind its head."""
    first, second = wire.record(Record.NOTE, b"one"), wire.record(Record.NOTE, b"")
    found = list(wire_records.records(stream(tmp_path, first, second)))
    assert [(offset, bytes(payload)) for offset, _, payload in found] == [
        (len(HEAD), b"one"),
        (len(HEAD) + len(first), b""),
    ]


@pytest.mark.parametrize("count", [1, 8, 9, 20])
def test_steps_that_follow_each_other_come_one_by_one(tmp_path: Path, count: int) -> None:
    """Though many are looked at together."""
    note, steps = wire.record(Record.NOTE, b"x"), [step(n) for n in range(count)]
    found = told(stream(tmp_path, note, *steps, note))
    assert found[1:-1] == [(Record.STEP, one[wire.HEAD.size :]) for one in steps]


def test_records_of_one_size_are_rows(tmp_path: Path) -> None:
    """Two steps, with a note between them."""
    path = stream(tmp_path, step(4), wire.record(Record.NOTE, b"x"), step(5))
    (piece,) = wire_records.pieces(path)
    rows = piece.rows(np.array([0, 2]), RECORD)
    assert rows is not None
    assert rows["step"].tolist() == [4, 5]


def test_records_of_another_size_are_no_rows(tmp_path: Path) -> None:
    """A note among the steps."""
    (piece,) = wire_records.pieces(stream(tmp_path, step(4), wire.record(Record.NOTE, b"x"), step(5)))
    assert piece.rows(np.array([0, 1]), RECORD) is None


@pytest.mark.parametrize("piece", [1, 7, 64, 100, 1000])
def test_the_records_are_the_same_in_pieces_of_any_size(tmp_path: Path, piece: int) -> None:
    """A record may be larger than a piece, and end anywhere in one."""
    records = [wire.record(Record.NOTE, b"y" * 300), *(step(n) for n in range(30)), wire.record(Record.NOTE, b"")]
    path = stream(tmp_path, *records)
    whole = told(path)
    with patch.object(wire_records, "_PIECE", piece):
        assert told(path) == whole
    assert len(whole) == 32


def test_what_is_cut_in_the_middle_of_a_record_ends_before_it(tmp_path: Path) -> None:
    """Wherever the stream was cut."""
    records = [wire.record(Record.NOTE, b"one"), *(step(n) for n in range(12))]
    whole = HEAD + b"".join(records)
    ends = [len(HEAD)]
    for one in records:
        ends.append(ends[-1] + len(one))
    for cut in range(len(HEAD), len(whole)):
        path = tmp_path / "cut.wire"
        path.write_bytes(whole[:cut])
        assert len(told(path)) == sum(end <= cut for end in ends[1:])


def test_a_length_that_is_damaged_ends_the_stream(tmp_path: Path) -> None:
    """It says more than the file has: nothing is read for it."""
    damaged = wire.HEAD.pack(Record.NOTE, (1 << 32) - 1)
    assert told(stream(tmp_path, wire.record(Record.NOTE, b"one"), damaged, step(0))) == [(Record.NOTE, b"one")]


def test_another_file_is_no_stream(tmp_path: Path) -> None:
    """Nor is an empty one."""
    for head in (b"", b"{}", HEAD[:-2]):
        with pytest.raises(ArtifactError, match="not a stream"):
            told(stream(tmp_path, head=head))


def test_a_stream_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    """It is not guessed at."""
    with pytest.raises(ArtifactError, match="newer than this dlprof"):
        told(stream(tmp_path, head=wire.MAGIC + bytes([wire.VERSION + 1])))
