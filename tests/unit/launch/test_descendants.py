"""Processes that the script has started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import psutil
import pytest

from dlprof.launch import descendants
from dlprof.launch.descendants import Descendants

SLEEP = [sys.executable, "-c", "import time; print(flush=True); time.sleep(60)"]


@pytest.fixture
def family() -> Descendants:
    """One that knows nothing but what this process had started before."""
    return Descendants()


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    """A process that sleeps."""
    with subprocess.Popen(SLEEP, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process
        process.kill()


def test_a_process_that_has_just_ended_answers_nothing() -> None:
    """Between the list and the question it may go at any moment."""
    with subprocess.Popen(SLEEP, stdout=subprocess.PIPE) as process:
        known = psutil.Process(process.pid)
        process.kill()
    answers = [descendants.ask(known, lambda one: one.status(), "gone"), descendants.command_lines([known])]
    descendants.tell([known], signal.SIGTERM)

    assert answers == ["gone", {known.pid: "?"}]


def test_what_runs_is_the_scripts_but_for_helpers(family: Descendants, child: subprocess.Popen[bytes]) -> None:
    """And but for the traced process itself."""
    found = [child.pid in [one.pid for one in family.running(traced)] for traced in (0, child.pid)]
    family.ignore(child.pid)

    assert found == [True, False]
    assert child.pid not in [one.pid for one in family.running(0)]


def test_children_from_before_are_none_of_the_scripts(child: subprocess.Popen[bytes]) -> None:
    """Whoever replaced itself by dlprof (`exec dlprof trace`) may have started some."""
    assert child.pid not in [one.pid for one in Descendants().running(0)]


def test_orphans_are_reaped_and_nothing_else(family: Descendants) -> None:
    """The helper's exit code is there for who waits for it, even if it ended first."""
    helper = os.posix_spawn("/bin/sh", ["sh", "-c", "exit 3"], {})
    family.ignore(helper)
    os.waitid(os.P_PID, helper, os.WEXITED | os.WNOWAIT)
    orphan = os.posix_spawn("/bin/true", ["true"], {})
    traced = os.posix_spawn("/bin/sh", ["sh", "-c", "exit 4"], {})
    for pid in (orphan, traced):
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)

    family.reap(traced)

    assert [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in (helper, traced)] == [3, 4]
    with pytest.raises(ChildProcessError):
        os.waitpid(orphan, 0)


def test_what_listens_to_nothing_is_killed(child: subprocess.Popen[bytes]) -> None:
    """After its time of grace."""
    descendants.end([psutil.Process(child.pid)], 5)

    assert not psutil.pid_exists(child.pid)


def test_who_made_a_session_of_its_own_is_a_service() -> None:
    """It is to stay."""
    with subprocess.Popen(SLEEP, stdout=subprocess.PIPE, start_new_session=True) as service:
        known = [psutil.Process(service.pid), psutil.Process()]
        mine = descendants.in_session_of(known, os.getsid(0))
        service.kill()

    assert mine == [psutil.Process()]


def test_without_proc_nobody_is_known_to_run(family: Descendants, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even this process is found."""

    def missing() -> None:
        raise psutil.NoSuchProcess(os.getpid())

    monkeypatch.setattr(psutil, "Process", missing)
    monkeypatch.setattr(descendants, "_knows_children", lambda: False)

    assert family.running(0) == []
