"""A running keeper as dlprof sees it."""

from __future__ import annotations

import os
import signal
import tempfile
import termios
from collections.abc import Iterator

import pytest

from dlprof.live import keeper
from dlprof.live.keeper_process import KeeperProcess
from tests.unit.live.terminals import PseudoTerminal


@pytest.fixture
def terminals() -> Iterator[tuple[PseudoTerminal, PseudoTerminal]]:
    """The script's and the user's."""
    with PseudoTerminal() as script, PseudoTerminal() as real:
        yield script, real


@pytest.fixture
def process(terminals: tuple[PseudoTerminal, PseudoTerminal]) -> Iterator[KeeperProcess]:
    """A keeper between both."""
    script, real = terminals
    modes = keeper.plain(termios.tcgetattr(real.program))
    with tempfile.TemporaryFile() as spool:
        task = keeper.Task(script.far, real.program, spool.fileno(), -1, False, modes, modes)
        made = KeeperProcess(task)
        yield made
        made.close()


def test_it_does_what_it_is_told_and_is_done_when_the_script_is(
    process: KeeperProcess, terminals: tuple[PseudoTerminal, PseudoTerminal]
) -> None:
    """All is handed through, and its CPU time is known."""
    script, real = terminals
    process.tell(keeper.ENTERED)
    os.write(script.program, b"said")
    os.close(script.program)

    assert process.finish()
    assert real.read_until(b"said") == keeper.LEAVE + b"said"
    cpu_ns = process.end()
    assert cpu_ns is not None
    assert cpu_ns > 0


def test_it_says_nothing_while_all_is_well(process: KeeperProcess) -> None:
    """Signals do not end it: at Ctrl-C it must stay."""
    os.kill(process.pid, signal.SIGINT)
    os.kill(process.pid, signal.SIGTERM)

    assert process.said() is None
    os.kill(process.pid, 0)


def test_one_that_was_killed_is_gone_and_can_be_replaced(
    process: KeeperProcess, terminals: tuple[PseudoTerminal, PseudoTerminal]
) -> None:
    """It hears nothing, and cannot finish; the next one does."""
    script, _ = terminals
    killed = process.pid
    os.kill(killed, signal.SIGKILL)
    os.waitid(os.P_PID, killed, os.WEXITED | os.WNOWAIT)

    process.tell(keeper.RELEASE)
    assert process.said() == b""
    assert not process.finish()

    process.replace()
    os.close(script.program)
    assert process.pid != killed
    assert process.finish()
    assert process.end() is not None
