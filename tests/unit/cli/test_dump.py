"""`dlprof dump`."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tests.unit.runs import dlprof, trained


def dumped(capsys: pytest.CaptureFixture[str], *arguments: object) -> list[object]:
    """The records that are printed."""
    assert dlprof("dump", *arguments) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_a_table_is_a_record_a_row(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No more than asked for."""
    tables = trained(tmp_path / "r").folder.tables

    records = dumped(capsys, tables / "steps.parquet", "--limit", 2)

    assert [record["step"] for record in records if isinstance(record, dict)] == [0, 1]


@pytest.mark.parametrize(("content", "records"), [([1, {"a": 2}], [1, {"a": 2}]), ({"a": 2}, [{"a": 2}])])
def test_json_is_a_record_an_element(
    tmp_path: Path, content: object, records: list[object], capsys: pytest.CaptureFixture[str]
) -> None:
    """An object is one; compressed or not."""
    (tmp_path / "a.json").write_text(json.dumps(content))
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(json.dumps(content).encode()))

    assert dumped(capsys, tmp_path / "a.json") == dumped(capsys, tmp_path / "a.json.gz") == records


def test_lines_are_shown_up_to_a_cut(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Which is said."""
    (tmp_path / "cores.jsonl").write_text('{"a": 1}\n{"a": 2}\n{"a": ')

    assert dlprof("dump", tmp_path / "cores.jsonl") == 0

    printed = capsys.readouterr()
    assert printed.out == '{"a": 1}\n{"a": 2}\n'
    assert printed.err == "line 3 is cut\n"


def test_a_stream_that_is_cut_is_shown_up_to_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The header and no trailer."""
    from dlprof_probes import wire

    begin = wire.MAGIC + bytes([wire.VERSION]) + wire.record(wire.Record.META, wire.json_payload({"pid": 42}))
    (tmp_path / "inproc.wire").write_bytes(begin)

    assert dlprof("dump", tmp_path / "inproc.wire") == 0
    assert "the stream ends without a trailer" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["a.json", "a.json.gz", "a.parquet"])
def test_a_damaged_file_ends_with_4(tmp_path: Path, name: str) -> None:
    """It is no bug of dlprof's."""
    (tmp_path / name).write_bytes(b"\x00\x01")

    assert dlprof("dump", tmp_path / name) == 4


def test_a_file_of_no_known_kind_is_a_wrong_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The endings that are known are named."""
    (tmp_path / "a.xyz").touch()

    assert dlprof("dump", tmp_path / "a.xyz") == 64
    assert ".wire, .jsonl, .json" in capsys.readouterr().err


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    """Exit code 66."""
    assert dlprof("dump", tmp_path / "none.json") == 66


def test_a_file_of_the_last_run_needs_no_more_than_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whose it is, is said beside."""
    trained(tmp_path / "dlprof_runs" / "one")
    monkeypatch.chdir(tmp_path)

    assert dlprof("dump", "tables/steps.parquet", "--limit", 1) == 0

    printed = capsys.readouterr()
    assert json.loads(printed.out)["step"] == 0
    assert printed.err == "dlprof: of the last run, one\n"
