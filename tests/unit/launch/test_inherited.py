"""What dlprof was started with."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from dlprof.launch.inherited import Inherited

PRINT = """
import json, signal
from dlprof.launch import inherited
seen = inherited.at_start()
print(json.dumps([sorted(seen.ignored), sorted(seen.blocked), list(seen.descriptors), seen == inherited.at_start()]))
print(int(signal.getsignal(signal.SIGCHLD)))
"""


def started(before: str, *descriptors: int) -> list[list[int]]:
    """What a process sees that was started after `before` was run; and what a child's end means to it."""
    code = f"import os, signal, sys; {before}; os.execv(sys.executable, [sys.executable, '-c', sys.argv[1]])"
    command = [sys.executable, "-c", code, PRINT]
    done = subprocess.run(command, pass_fds=descriptors, capture_output=True, text=True, check=True)
    first, second = done.stdout.splitlines()
    return [*json.loads(first), [int(second)]]


def test_ignored_signals_are_known_but_for_pythons_own() -> None:
    """As `nohup` leaves them; SIGPIPE every Python ignores."""
    assert started("signal.signal(1, signal.SIG_IGN); signal.signal(10, signal.SIG_IGN)")[0] == [1, 10]


def test_blocked_signals_are_known() -> None:
    """The script is to begin with them."""
    assert started("signal.pthread_sigmask(signal.SIG_BLOCK, [12])")[1] == [12]


def test_the_end_of_children_is_heard_of_where_it_was_ignored() -> None:
    """Else no exit code could be known; the script has it ignored all the same."""
    seen = started("signal.signal(signal.SIGCHLD, signal.SIG_IGN)")

    assert (seen[0], seen[4]) == ([17], [0])


def test_open_descriptors_are_known() -> None:
    """Those above the standard streams, and only those that come from outside."""
    reader, writer = os.pipe()
    try:
        assert started("pass", writer)[2] == [writer]
    finally:
        os.close(reader)
        os.close(writer)


def test_only_what_is_still_open_is_handed_on() -> None:
    """One that was closed meanwhile would keep the script from starting."""
    reader, writer = os.pipe()
    os.set_inheritable(writer, True)
    known = Inherited(frozenset(), frozenset(), (reader, writer, 9999))
    try:
        assert known.still_open() == (writer,)
    finally:
        os.close(reader)
        os.close(writer)


@pytest.mark.parametrize("number", [9, 19])
def test_what_nobody_can_ignore_is_not_among_them(number: int) -> None:
    """SIGKILL and SIGSTOP."""
    assert number not in started("pass")[0]


@pytest.mark.parametrize(
    ("before", "known", "now"), [(0o022, None, 0o022), (0o777, 0o777, 0o077), (0o277, 0o277, 0o077)]
)
def test_what_dlprof_makes_is_its_owners_whatever_the_umask(before: int, known: int | None, now: int) -> None:
    """One that forbids even that is kept for the script."""
    code = "import os; from dlprof.launch import inherited; print(inherited.at_start().umask, os.umask(0))"
    done = subprocess.run([sys.executable, "-c", code], umask=before, capture_output=True, text=True, check=True)

    assert done.stdout == f"{known} {now}\n"
