"""The Pythons below a program: noticed, looked at, and waited for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dlprof.config import TraceConfig
from dlprof.launch import following
from dlprof.launch.following import MOST_LOOKED_AT, Following
from dlprof.rundir import RunDir
from dlprof.schema.manifest import GpuTracer
from dlprof.schema.process_config import ChildFacts

BLIND = TraceConfig(program="make", probes=("phases",))
BEGIN_NS = 1_000


@pytest.fixture
def process() -> Iterator[subprocess.Popen[bytes]]:
    """One that waits for its standard input, and ends with exit code 4."""
    made = subprocess.Popen([sys.executable, "-c", "input(); raise SystemExit(4)"], stdin=subprocess.PIPE)
    yield made
    made.kill()
    made.communicate()


class Program:
    """A run with children."""

    def __init__(self, folder: Path, config: TraceConfig = BLIND) -> None:
        self.run = RunDir(folder / "run")
        (self.run.path / "children").mkdir(parents=True)
        self.begun: list[tuple[str, ChildFacts]] = []
        self.following = Following(config, self.run, self._begin, GpuTracer(name="off"))

    def _begin(self, folder: RunDir, facts: ChildFacts) -> None:
        self.begun.append((folder.path.name, facts))

    def child(self, name: str, pid: int, **changes: Any) -> Path:
        """A process says what it is."""
        folder = self.run.path / "children" / name
        (folder / "raw").mkdir(parents=True)
        told = {
            "pid": pid, "parent": 1, "boot_ns": BEGIN_NS, "begun_ns": BEGIN_NS, "engine": "jax", "command": ["python"],
            "folder": "/", "executable": "/bin/python", "python": "3.11.7", "implementation": "cpython", **changes,
        }  # fmt: skip
        (folder / "child.json").write_text(json.dumps(told))
        return folder


def test_a_child_is_noticed_once_and_its_end_is_seen(tmp_path: Path, process: subprocess.Popen[bytes]) -> None:
    """Its facts are gone from its folder then: they have its command line as it was."""
    program = Program(tmp_path)
    folder = program.child("001-train", process.pid)
    program.following.tick()
    program.following.tick()
    process.communicate(b"\n")

    (child,) = program.following.stop(0)

    assert [name for name, _ in program.begun] == ["001-train"]
    assert not (folder / "child.json").exists()
    assert child.recorded is not None
    outcome = child.recorded.outcome
    assert (outcome.exit_code, outcome.signal, outcome.start_ns, child.went_on) in (
        (4, None, BEGIN_NS, False),
        (None, None, BEGIN_NS, False),  # a kernel before 6.15, and its parent was faster than we
    )


def test_one_that_still_runs_went_on(tmp_path: Path, process: subprocess.Popen[bytes]) -> None:
    """Nobody ends it."""
    program = Program(tmp_path)
    program.child("001-train", process.pid)
    (child,) = program.following.stop(0)
    assert (child.went_on, process.poll()) == (True, None)
    assert child.recorded is not None
    assert child.recorded.outcome.went_on
    assert child.recorded is not None
    assert child.recorded.outcome.exit_code is None


def test_one_that_is_over_already_tells_its_code_itself(tmp_path: Path) -> None:
    """Before anybody could look at it."""
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    program = Program(tmp_path, TraceConfig(program="make", probes=("phases", "lines", "cores")))
    folder = program.child("001-train", gone.pid)
    (folder / "raw/exit").write_bytes(b"\2\0\0\0")

    (child,) = program.following.stop(0)

    assert child.recorded is not None
    assert child.recorded.outcome.exit_code == 2
    states = {probe.name: (probe.state, probe.reason) for probe in child.recorded.probes}
    assert states["cores"] == ("unavailable", "the process ended before it could be looked at")
    assert states["lines"][0] == "unavailable"
    assert not (folder / "raw/exit").exists()


def test_a_process_that_goes_on_as_another_program_is_two_runs(
    tmp_path: Path, process: subprocess.Popen[bytes]
) -> None:
    """The first ends where the second begins."""
    program = Program(tmp_path)
    program.child("001-a", process.pid)
    program.following.tick()
    program.child("002-b", process.pid, boot_ns=5_000, begun_ns=5_000)

    first, second = program.following.stop(0)

    assert first.recorded is not None
    assert (first.replaced, first.recorded.outcome.end_ns, second.replaced, second.went_on) == (
        True,
        5_000,
        False,
        True,
    )


def test_a_process_that_went_on_and_ended_before_it_was_found_is_two_runs(tmp_path: Path) -> None:
    """Both are found at once: the first was replaced, and the code is that of the second."""
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    program = Program(tmp_path)
    for name, boot_ns in (("001-a", 2_000), ("002-b", 5_000)):
        folder = program.child(name, gone.pid, started=77, boot_ns=boot_ns, begun_ns=boot_ns)
        (folder / "raw/exit").write_bytes(b"\4\0\0\0")

    first, second = program.following.stop(0)

    assert (first.replaced, second.replaced) == (True, False)
    assert first.recorded is not None
    assert second.recorded is not None
    assert (first.recorded.outcome.end_ns, first.recorded.outcome.exit_code) == (5_000, None)
    assert second.recorded.outcome.exit_code == 4


def test_a_number_that_the_kernel_gives_away_again_is_another_process(tmp_path: Path) -> None:
    """It was made at another time."""
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    program = Program(tmp_path)
    program.child("001-a", gone.pid, started=77)
    program.child("002-b", gone.pid, started=99)

    first, second = program.following.stop(0)

    assert (first.replaced, second.replaced) == (False, False)


def test_facts_that_make_no_sense_are_no_child(tmp_path: Path) -> None:
    """Nor is a folder whose process has not said yet what it is."""
    program = Program(tmp_path)
    (program.run.path / "children/001-a").mkdir()
    (program.child("002-b", 1) / "child.json").write_text("{")
    assert program.following.stop(0) == []


def test_helpers_run_beside_some_at_a_time(
    tmp_path: Path, process: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others say why they were not looked at."""
    monkeypatch.setattr("dlprof.launch.beside.Beside.start", lambda *_args, **_more: None)
    program = Program(tmp_path, TraceConfig(program="make", probes=("phases", "cores")))
    for number in range(MOST_LOOKED_AT + 1):
        program.child(f"{number:03d}-a", process.pid if not number else os.getpid())
    found = program.following.stop(0)
    reasons = [
        next(probe.reason for probe in child.recorded.probes if probe.name == "cores")
        for child in found
        if child.recorded is not None
    ]
    assert reasons == [None] * MOST_LOOKED_AT + ["more than 8 followed processes ran at one time"]


def test_a_followed_launcher_leaves_its_followed_ranks_to_their_own_samplers(
    tmp_path: Path, process: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Torchrun imports torch, and is followed itself."""
    launcher, other = process.pid, os.getpid()
    apart: dict[int, Any] = {}
    programs: dict[int, int | None] = {}

    class Looks:
        samples_stacks = True

        def __init__(self, _config: Any, _run: Any, pid: int, *_: Any, program: int | None) -> None:
            self._pid = pid
            programs[pid] = program

        def start(self, _python: Any, **options: Any) -> None:
            apart[self._pid] = options["apart"]

        def tick(self) -> None: ...
        def stop(self) -> None: ...
        def helpers(self) -> tuple[int, ...]:
            return ()

    monkeypatch.setattr(following, "Beside", Looks)
    program = Program(tmp_path)
    program.following.started(launcher)
    program.child("001-torchrun", launcher)
    program.child("002-train", other)
    program.following.tick()
    program.following.tick()

    assert program.following.sampled() == {launcher, other}
    assert (apart[launcher](), apart[other]()) == ({other}, {launcher})
    assert programs == {launcher: launcher, other: launcher}
    program.following.stop(0)
