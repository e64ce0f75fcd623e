"""Modes of the real terminal while dlprof draws, and of the script's own."""

from __future__ import annotations

import termios

import pytest

from dlprof.live import modes

CODES = [b"\x00"] * 32
BEFORE = [
    termios.IXON | termios.ICRNL | termios.BRKINT,
    termios.OPOST,
    termios.CS8,
    termios.ECHO | termios.ICANON | termios.ISIG,
    15,
    15,
    CODES,
]


@pytest.mark.parametrize(
    ("keys", "input_flags", "local"),
    [
        (False, termios.IXON | termios.ICRNL | termios.BRKINT, termios.ICANON | termios.ISIG),
        (True, termios.BRKINT, termios.ISIG),
    ],
)
def test_while_dlprof_draws_nothing_is_echoed_and_ctrl_c_stays_a_signal(
    keys: bool, input_flags: int, local: int
) -> None:
    """Keys come one by one only where the script has them."""
    found = modes.while_drawing(BEFORE, keys=keys)

    assert (found[0], found[1], found[3]) == (input_flags, termios.OPOST, local)
    assert found[6][termios.VMIN] == (1 if keys else b"\x00")


def test_the_modes_before_are_not_touched() -> None:
    """They are given back in the end."""
    modes.while_drawing(BEFORE, keys=True)

    assert BEFORE[6] == [b"\x00"] * 32


def test_the_scripts_terminal_processes_no_output() -> None:
    """The real one does, when it gets it."""
    assert modes.of_script(BEFORE) == [BEFORE[0], 0, *BEFORE[2:]]
