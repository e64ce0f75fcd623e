"""The Chrome trace format in pieces, and what is odd in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.analysis import kernels
from dlprof.ingest.parse import chrome
from tests.unit.ingest.imports import DATA, imported


@pytest.mark.parametrize("name", ["hta_a100_alexnet.json.gz", "mxnet_gluon.json.gz", "tf1_kittibox.json.gz"])
def test_a_file_read_in_small_pieces_gives_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Wherever the pieces end."""
    whole = imported(tmp_path / "a", DATA / name)
    monkeypatch.setattr(chrome, "PIECE_BYTES", 3001)
    pieces = imported(tmp_path / "b", DATA / name)

    assert pieces.table("kernel_events").num_rows == whole.table("kernel_events").num_rows
    assert pieces.table("kernel_events")["dur_ns"].to_pylist() == whole.table("kernel_events")["dur_ns"].to_pylist()


def test_names_in_another_encoding_cost_nothing_else(tmp_path: Path) -> None:
    """A byte that is not UTF-8 becomes a replacement character."""
    path = tmp_path / "t.json"
    path.write_bytes(
        b'{"schemaVersion": 1, "traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "a\xff", "ts": 1, "dur": 2, "pid": 1, "tid": 1}]}'
    )

    assert kernels.summarise(imported(tmp_path, path), "op").rows[0].keys["op"] == "a\N{REPLACEMENT CHARACTER}"


def test_events_that_make_no_sense_are_counted(tmp_path: Path) -> None:
    """And the others are read."""
    events = [
        '{"ph": "X", "cat": "cpu_op", "name": "good", "ts": 1, "dur": 2, "pid": 1, "tid": 1}',
        '{"ph": "X", "cat": "cpu_op", "name": "far", "ts": 1e300, "dur": 2, "pid": 1, "tid": 1}',
        '{"ph": "X", "cat": "cpu_op", "name": "odd", "ts": {}, "dur": 2, "pid": 1, "tid": 1}',
    ]
    path = tmp_path / "t.json"
    path.write_text('{"schemaVersion": 1, "traceEvents": [' + ",".join(events) + "]}")
    run = imported(tmp_path, path)

    assert [row.keys["op"] for row in kernels.summarise(run, "op").rows] == ["good"]
    assert kernels.summarise(run, "op").dropped_events == 2


def test_a_byte_order_mark_is_no_part_of_the_trace(tmp_path: Path) -> None:
    """Programs of Windows put one before an object, as before a list."""
    for head, tail in ((b'{"traceEvents": [', b"]}"), (b"[", b"]")):
        path = tmp_path / "t.json"
        path.write_bytes(b"\xef\xbb\xbf" + head + b'{"ph": "X", "name": "a", "ts": 1, "dur": 2}' + tail)

        assert [event.name for piece in chrome.ChromeFile(path).pieces() for event in piece] == ["a"]
