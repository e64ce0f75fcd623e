"""`dlprof import`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dlprof.ingest.formats import registry
from tests.unit.runs import dlprof

TRACE = {
    "traceEvents": [
        {"ph": "X", "name": "aten::mm", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": 1.0, "dur": 5.0, "args": {}},
    ],
    "schemaVersion": 1,
}


@pytest.fixture
def trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A trace of one operator, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "trace.json").write_text(json.dumps(TRACE))
    return tmp_path / "trace.json"


def test_a_trace_becomes_a_run(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its name is printed; what to do next is said beside."""
    assert dlprof("import", trace) == 0

    printed = capsys.readouterr()
    name = printed.out.strip()
    assert (Path("dlprof_runs") / name / "manifest.json").is_file()
    assert printed.err.splitlines()[-1] == f"dlprof: look at it: dlprof kernels {name}"


def test_a_run_is_made_where_it_is_asked_for(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its path is printed then."""
    assert dlprof("import", trace, "-o", "theirs") == 0

    assert Path(capsys.readouterr().out.strip()).resolve() == (trace.parent / "theirs").resolve()


def test_formats_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """All that there are readers for."""
    assert dlprof("import", "--list") == 0

    names = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert names == [reader.name for reader in registry.all_readers()]


def test_no_file_is_a_wrong_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 64."""
    assert dlprof("import") == 64
    assert "There is no file to import." in capsys.readouterr().err


def test_a_file_of_no_known_format_ends_with_4(trace: Path) -> None:
    """And no run folder is left."""
    trace.write_text("no trace")

    assert dlprof("import", trace, "-o", "theirs") == 4
    assert not Path("theirs").exists()


def test_an_address_is_told_from_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    """With both of its slashes; `C:/t.json` and a name with a colon are files."""
    assert dlprof("import", "https://example.com/a/trace.json") == 64
    assert capsys.readouterr().err.splitlines() == [
        "dlprof: error: https://example.com/a/trace.json is an address, and only files are read.",
        "  try: fetch it first: dlprof import trace.json",
    ]
    assert dlprof("import", "run:7/trace.json") == 66


def test_the_only_trace_below_a_folder_of_logs_is_read(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As TensorBoard's are made; of several it is asked which."""
    below = trace.parent / "logs" / "worker"
    below.mkdir(parents=True)
    trace.rename(below / "host_1.pt.trace.json")

    assert dlprof("import", "logs", "-o", "theirs") == 0
    assert capsys.readouterr().err.startswith("dlprof: logs/worker/host_1.pt.trace.json: the only trace below logs\n")

    (below / "host_2.pt.trace.json").write_text((below / "host_1.pt.trace.json").read_text())
    assert dlprof("import", "logs", "-o", "more") == 66
