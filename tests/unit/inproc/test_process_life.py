"""The ends of a process that Python does not announce, and its doubles."""

from __future__ import annotations

import errno
import os
import signal
import weakref
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from dlprof_probes.inproc import process_life
from dlprof_probes.inproc.lines import NoLines
from dlprof_probes.inproc.probe import Probe

from tests.unit.inproc.conftest import Recorded


def test_a_session_that_is_gone_is_not_called_after_a_fork() -> None:
    """A notebook forks long after its traced cell."""

    class Held:
        """Stands for a session."""

        def forked(self) -> None:
            """It is told."""
            calls.append("forked")

    calls: list[Any] = []
    held = Held()
    call = process_life._if_alive(weakref.ref(held), "forked")
    call()
    assert calls == ["forked"]
    del held
    call()
    assert calls == ["forked"]


@pytest.fixture
def replaced(probe: Probe, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Calls that came through to an `os.execv` and an `os.execve` which return."""
    calls: list[tuple[Any, ...]] = []
    for name in ("execv", "execve"):
        monkeypatch.setattr(os, name, lambda *args: calls.append(args))
    process_life._watch_execs(SimpleNamespace(probe=probe, recorder=probe.recorder, lines=NoLines()))
    return calls


def test_another_program_in_the_place_of_this_one_ends_the_stream_with_a_word(
    replaced: list[tuple[Any, ...]], out: Recorded
) -> None:
    """Which it was, and when; all that waited is written by then."""
    os.execv("/bin/sh", ["sh"])  # noqa: S606

    stream = out.stream()
    assert replaced == [("/bin/sh", ["sh"])]
    assert [note.slug for note in stream.notes] == ["program-replaced"]
    assert stream.meta["exec"]["program"] == "/bin/sh"
    assert stream.meta["exec"]["time_ns"] <= stream.last_ns


def test_a_program_that_is_not_there_replaces_nothing(replaced: list[tuple[Any, ...]], out: Recorded) -> None:
    """As `os.execvp` tries one folder after the other."""
    os.execve("/no/such/program", ["x"], {})  # noqa: S606

    assert len(replaced) == 1
    assert out.stream().notes == []


def test_a_replacement_that_fails_is_taken_back(
    probe: Probe, out: Recorded, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The error is the program's own, and the measurement goes on."""

    def execv(*_args: Any) -> None:
        raise OSError(errno.ENOEXEC, "Exec format error")

    monkeypatch.setattr(os, "execv", execv)
    process_life._watch_execs(SimpleNamespace(probe=probe, recorder=out, lines=NoLines()))

    with pytest.raises(OSError, match="Exec format error"):
        os.execv("/bin/sh", ["sh"])  # noqa: S606

    assert [note.slug for note in out.stream().notes] == ["program-replaced", "program-not-replaced"]
    assert out.stream().meta["exec"] is None


@pytest.fixture
def timer() -> Iterator[int]:
    """One that does not ring before the test is over, and runs no longer than that."""
    yield signal.ITIMER_VIRTUAL
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def test_a_timer_that_still_runs_at_the_end_rings_later(timer: int) -> None:
    """Python's end takes longer with the modules of dlprof, and has no handlers any more: the timer would end it."""
    signal.setitimer(timer, 100, 7)

    process_life.put_off_timers()

    left, interval = signal.getitimer(timer)
    assert 100 < left < 101
    assert interval == 7


def test_a_timer_that_is_due_before_python_has_ended_is_left_alone(timer: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without dlprof it ends the process, too. None is set here: it might ring in the middle of the test."""
    told: list[Any] = []
    monkeypatch.setattr(process_life, "getitimer", lambda which: (0.001, 0.001) if which == timer else (0, 0))
    monkeypatch.setattr(process_life, "setitimer", lambda *args: told.append(args))

    process_life.put_off_timers()

    assert told == []


def test_a_timer_that_does_not_run_is_not_started(timer: int) -> None:
    """Most scripts have none."""
    process_life.put_off_timers()

    assert signal.getitimer(timer) == (0, 0)
