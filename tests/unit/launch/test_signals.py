"""Taking signals that are the script's."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator

import pytest

from dlprof.launch import inherited, signals
from dlprof.launch.inherited import Inherited
from dlprof.launch.signals import Arrived, Taken


def started_with(monkeypatch: pytest.MonkeyPatch, *ignored: int) -> None:
    """Dlprof was started with these signals ignored."""
    monkeypatch.setattr(inherited, "at_start", lambda: Inherited(frozenset(ignored), frozenset(), ()))


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> Iterator[Taken]:
    """All signals are taken."""
    started_with(monkeypatch)
    signals_taken = Taken(job_control=True)
    signals_taken.begin()
    yield signals_taken
    signals_taken.end()


def send(number: int) -> None:
    """To this thread: others of this process may take what is meant for all."""
    signal.pthread_kill(threading.get_ident(), number)


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGTERM, signal.SIGRTMIN + 3, signal.SIGRTMAX])
def test_a_signal_is_taken_with_who_sent_it(taken: Taken, number: int) -> None:
    """Real-time ones too, which Python has no names for."""
    send(number)

    assert taken.wait(5) == Arrived(int(number), True, os.getpid())


def test_no_signal_is_none(taken: Taken) -> None:
    """When the time is up; a time that is over already too."""
    assert [taken.wait(0.001), taken.wait(0), taken.wait(-3)] == [None, None, None]


def test_ignored_signals_and_those_that_cannot_be_taken_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """As `nohup` asks for; that a child has ended is heard of all the same."""
    started_with(monkeypatch, signal.SIGHUP, signal.SIGCHLD)

    numbers = Taken(job_control=True).numbers

    left = (signal.SIGHUP, signal.SIGKILL, signal.SIGSTOP)
    assert [number in numbers for number in left] == [False, False, False]
    assert {signal.SIGCHLD, signal.SIGTERM, signal.SIGTSTP} <= numbers


def test_at_a_terminal_job_control_is_the_kernels_but_for_ctrl_z(monkeypatch: pytest.MonkeyPatch) -> None:
    """The script may catch that, and go on: then dlprof goes on too."""
    started_with(monkeypatch)

    assert signals.JOB_CONTROL & Taken(job_control=False).numbers == {signal.SIGTSTP}


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGQUIT, signal.SIGTERM])
def test_what_comes_for_a_script_that_is_over_is_dropped(
    number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would end dlprof, and with it the report and the script's exit code."""
    started_with(monkeypatch)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    signals_taken = Taken(job_control=True)
    signals_taken.begin()
    send(number)

    signals_taken.end()

    assert number not in signal.sigpending()
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == before


def test_the_scripts_signals_do_not_end_dlprof_before_and_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C and SIGTERM do."""
    started_with(monkeypatch)

    with signals.meant_for_script():
        send(signal.SIGUSR1)
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, ())

    assert {signal.SIGUSR2, signal.SIGALRM} <= blocked
    assert not blocked & {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGTSTP}


@pytest.mark.parametrize(
    ("arrived", "own", "keyboard"),
    [
        (Arrived(signal.SIGPIPE, True, os.getpid()), True, False),
        (Arrived(signal.SIGPIPE, True, 1), False, False),
        (Arrived(signal.SIGXCPU, False, 0), True, False),
        (Arrived(signal.SIGXCPU, True, 1), False, False),
        (Arrived(signal.SIGALRM, False, 0), False, False),
        (Arrived(signal.SIGINT, False, 0), False, True),
        (Arrived(signal.SIGINT, True, 1), False, False),
    ],
)
def test_what_dlprof_brought_upon_itself_and_what_was_typed_is_told_apart(
    arrived: Arrived, own: bool, keyboard: bool
) -> None:
    """An alarm that was set before dlprof started is the script's."""
    assert (arrived.is_own, arrived.from_keyboard) == (own, keyboard)


def test_signals_have_names() -> None:
    """Real-time ones by their distance from the first."""
    assert [signals.name(number) for number in (19, signal.SIGRTMIN, signal.SIGRTMIN + 2)] == [
        "SIGSTOP",
        "SIGRTMIN",
        "SIGRTMIN+2",
    ]
