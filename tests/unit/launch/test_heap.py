"""Recording allocations: what is refused, and summing up."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dlprof.config import TraceConfig
from dlprof.errors import UnavailableError, UsageError
from dlprof.launch import heap, probe_copy, tool_folder
from dlprof.launch.interpreters import InterpreterFacts
from dlprof.rundir import RunDir


def interpreter(version: tuple[int, int, int] = (3, 11, 7)) -> InterpreterFacts:
    """A Python."""
    return InterpreterFacts(Path(sys.executable), version, "cpython", "linux-x86_64", sys.prefix, {})


@pytest.mark.parametrize(
    ("config", "why"),
    [
        (TraceConfig(program="make", heap=True), "not of any program"),
        (TraceConfig(script="a.py", probes=("cores",), heap=True), "which --probes leaves out"),
    ],
)
def test_what_cannot_record_is_refused(config: TraceConfig, why: str) -> None:
    """Before anything runs."""
    with pytest.raises(UsageError, match=why):
        heap.check(config)


def test_a_python_that_memray_was_never_made_for_is_refused() -> None:
    """It was asked for, so a run without it would not be the one that was wanted."""
    with pytest.raises(UnavailableError, match=r"no release for Python 3\.6\.15"):
        heap.memray_for(TraceConfig(script="a.py", heap=True), interpreter((3, 6, 15)), report=print)


def test_memray_is_fetched_only_where_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """For the interpreter of the script."""
    monkeypatch.setattr(tool_folder, "of", lambda name, _interpreter, report: Path("/tools") / name)

    found = [heap.memray_for(TraceConfig(script="a.py", heap=heap_), interpreter(), report=print) for heap_ in (0, 1)]  # type: ignore[arg-type]

    assert found == [None, Path("/tools/memray")]


def test_a_recording_may_take_a_quarter_of_what_the_disk_has_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a gigabyte at most."""
    run = RunDir(tmp_path)
    sizes = []
    for free in (400, 1 << 40):
        usage = SimpleNamespace(free=free)
        monkeypatch.setattr(shutil, "disk_usage", lambda _path, usage=usage: usage)
        sizes.append(heap.settings(run, Path("/tools")).most_bytes)

    assert sizes == [100, 1 << 30]


def summed(folder: Path, monkeypatch: pytest.MonkeyPatch, run: Callable[..., Any]) -> RunDir:
    """A run whose recording was summed up by a process that does this."""
    made = RunDir(folder)
    made.raw.mkdir()
    (made.raw / heap.FILE).write_text("allocations")
    monkeypatch.setattr(probe_copy, "place", lambda _own: Path("/copy"))
    monkeypatch.setattr(subprocess, "run", run)
    heap.sum_up(made, interpreter(), Path("/tools"), report=lambda _line: None)
    return made


def test_a_recording_goes_when_it_is_summed_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is large, and only the memray that wrote it reads it."""

    def run(command: list[str], **_options: Any) -> Any:
        Path(command[-1]).write_text("{}")
        return SimpleNamespace(returncode=0, stderr="")

    made = summed(tmp_path, monkeypatch, run)

    assert [path.name for path in made.raw.iterdir()] == [heap.SUMS]


@pytest.mark.parametrize(
    ("ends", "why"),
    [
        (SimpleNamespace(returncode=1, stderr="Traceback ...\nMemoryError\n"), "MemoryError"),
        (SimpleNamespace(returncode=-9, stderr=""), "exit code -9"),
        (subprocess.TimeoutExpired("python", 900), "it took longer than 900 s"),
        (KeyboardInterrupt(), "it was interrupted"),
    ],
)
def test_a_recording_that_cannot_be_summed_up_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ends: Any, why: str
) -> None:
    """With the reason in the place of the sums; the run is stored all the same."""

    def run(*_arguments: Any, **_options: Any) -> Any:
        if isinstance(ends, BaseException):
            raise ends
        return ends

    made = summed(tmp_path, monkeypatch, run)

    assert (made.raw / heap.FILE).is_file()
    assert json.loads((made.raw / heap.SUMS).read_text()) == {"failed": why}
