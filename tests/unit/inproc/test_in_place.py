"""The probes inside a process that was there before them, and goes on after them."""

from __future__ import annotations

import gc
import os
import sys
import traceback
from pathlib import Path
from types import CodeType, SimpleNamespace
from typing import Any

import pytest
from dlprof_probes import mark
from dlprof_probes.inproc import in_place, lines, process_life, tracebacks

from dlprof.ingest.own import wire


class Lines:
    """Line profiling that names what it has registered."""

    on = True
    cost_ns = 0

    def __init__(self, fails: bool = False) -> None:
        self.calls: list[str] = []
        self._fails = fails

    def __getattr__(self, name: str) -> Any:
        return lambda *_args, **_more: self.calls.append(name)

    def stopped(self) -> bool:
        return False

    def register(self, code: CodeType) -> CodeType:
        if self._fails:
            raise RuntimeError("no room")
        self.calls.append("register " + code.co_name)
        return code.replace(co_name=code.co_name + " counted")


@pytest.fixture
def traced_by(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Says what has the trace function, here, where a measurement of coverage may have it."""
    interpreter = SimpleNamespace(gettrace=lambda: None)
    monkeypatch.setattr(in_place, "sys", interpreter)
    return interpreter


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch, traced_by: Any) -> Lines:
    """Line profiling of the cell."""
    made = Lines()
    monkeypatch.setattr(lines, "make", lambda *_args: made)
    return made


def config(folder: Path, **more: Any) -> dict[str, Any]:
    """As the conductor writes it."""
    (folder / "status").write_bytes(b" " * 1024)
    return {"raw": str(folder), "status": str(folder / "status"), "script": "cell", "lines": None, **more}


class AtExit:
    """What Python does at the end of the process."""

    def __init__(self) -> None:
        self.functions: list[Any] = []

    def register(self, function: Any) -> None:
        self.functions.append(function)

    def unregister(self, function: Any) -> None:
        self.functions.remove(function)


at_exit = AtExit()


@pytest.fixture(autouse=True)
def own_exit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Takes the place of `atexit`, which tells nobody what it holds."""
    monkeypatch.setattr(process_life, "atexit", at_exit)


def state() -> dict[str, Any]:
    """All of the process that the probes change."""
    machinery: Any = sys.modules["_frozen_importlib"]
    return {
        "find": machinery._find_and_load,
        "exit": os._exit,
        "walk": traceback.walk_tb,
        "collections": list(gc.callbacks),
        "hook": sys.excepthook,
        "trace": sys.gettrace(),
        "marks": mark._sink,
        "at exit": list(at_exit.functions),
    }


def test_the_process_is_as_before_afterwards(tmp_path: Path) -> None:
    """Import system, exit, tracebacks, collections, marks."""
    before = state()
    probes = in_place.InPlace(config(tmp_path), [])
    during = state()

    assert probes.stop() == []
    assert state() == before
    assert [name for name in before if during[name] != before[name]] == [
        "find",
        "exit",
        "walk",
        "collections",
        "marks",
        "at exit",
    ]


def test_the_stretch_between_is_a_script_of_the_stream(tmp_path: Path) -> None:
    """And the stream is whole when the process goes on."""
    probes = in_place.InPlace(config(tmp_path), [])
    with mark.phase("data"):
        pass
    probes.stop()

    stream = wire.read(tmp_path / "inproc.wire")
    assert [span.kind for span in stream.spans.values()][:3] == ["dlprof", "script", "data"]
    assert stream.complete


def test_probes_that_cannot_start_leave_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was replaced by then is put back, and the error comes out."""
    before = state()
    monkeypatch.setattr(tracebacks, "install", lambda _patches: 1 / 0)

    with pytest.raises(ZeroDivisionError):
        in_place.InPlace(config(tmp_path), [])

    assert state() == before


def test_probes_without_a_folder_leave_nothing_behind(tmp_path: Path) -> None:
    """The run folder may not be writable."""
    before = state()

    with pytest.raises(FileNotFoundError):
        in_place.InPlace(config(tmp_path, raw=str(tmp_path / "absent")), [])

    assert state() == before


def test_a_stop_goes_on_after_a_step_that_fails(tmp_path: Path) -> None:
    """And tells what went wrong."""
    before = state()
    probes = in_place.InPlace(config(tmp_path), [])
    probes.lines.stop = lambda: 1 / 0

    assert probes.stop() == ["ZeroDivisionError: division by zero"]
    assert state() == before


def test_a_debugger_keeps_its_trace_function(tmp_path: Path, traced_by: Any) -> None:
    """Lines are not counted then, and the run says why."""
    traced_by.gettrace = lambda: "a debugger's"
    before = sys.gettrace()
    probes = in_place.InPlace(config(tmp_path, lines={"patterns": []}), [])
    assert sys.gettrace() is before
    probes.stop()

    told = [p for p in wire.read(tmp_path / "inproc.wire").probes if p["name"] == "lines"]
    assert [p["state"] for p in told] == ["unavailable"]
    assert "a debugger" in told[0]["reason"]


def test_functions_that_are_there_are_counted_and_given_back(tmp_path: Path, counted: Lines) -> None:
    """Their code is theirs again afterwards."""

    def step() -> None:
        """One of an earlier cell."""

    code = step.__code__
    probes = in_place.InPlace(config(tmp_path, lines={"patterns": []}), [step])
    assert step.__code__.co_name == "step counted"

    probes.stop()
    assert step.__code__ is code


def test_a_function_that_cannot_be_counted_is_noted(tmp_path: Path, counted: Lines) -> None:
    """The cell runs all the same."""

    def step() -> None:
        """One of an earlier cell."""

    counted._fails = True
    in_place.InPlace(config(tmp_path, lines={"patterns": []}), [step]).stop()

    notes = [(note.slug, note.message) for note in wire.read(tmp_path / "inproc.wire").notes]
    assert notes == [("line-profiling-failed", "step: no room")]


def test_the_code_of_a_cell_is_counted_as_a_module(tmp_path: Path, counted: Lines) -> None:
    """IPython 8 calls it otherwise."""
    probes = in_place.InPlace(config(tmp_path, lines={"patterns": []}), [])
    code = compile("1", "cell", "exec").replace(co_name="<cell line: 1>")

    assert probes.counted(code).co_name == "<module> counted"
    probes.stop()


def test_code_that_cannot_be_counted_runs_as_it_is(tmp_path: Path, counted: Lines) -> None:
    """And no more is tried."""
    probes = in_place.InPlace(config(tmp_path, lines={"patterns": []}), [])
    counted._fails = True
    code = compile("1", "cell", "exec")

    assert [probes.counted(code), probes.counted(code)] == [code, code]
    probes.stop()

    told = [p["reason"] for p in wire.read(tmp_path / "inproc.wire").probes if p["name"] == "lines"]
    assert told == ["RuntimeError: no room"]


def test_without_line_profiling_code_runs_as_it_is(tmp_path: Path) -> None:
    """It is the very same."""
    probes = in_place.InPlace(config(tmp_path), [])
    code = compile("1", "cell", "exec")

    assert probes.counted(code) is code
    assert isinstance(probes.lines, lines.NoLines)
    probes.stop()


def test_two_stretches_follow_one_another(tmp_path: Path) -> None:
    """Each with a stream of its own."""
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        probes = in_place.InPlace(config(tmp_path / name), [])
        with mark.phase("data"):
            pass
        assert probes.stop() == []

    for name in ("first", "second"):
        kinds = [span.kind for span in wire.read(tmp_path / name / "inproc.wire").spans.values()]
        assert kinds.count("data") == 1
