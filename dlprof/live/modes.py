"""Modes of terminals (`termios`), as lists: input, output, control and local flags, two speeds, control characters."""

from __future__ import annotations

import termios
from typing import Any


def while_drawing(modes: list[Any], *, keys: bool) -> list[Any]:
    """Modes of the real terminal while dlprof draws: no echo.

    Args:
        modes: Those before.
        keys: Whether keys come one by one, for the script.
    """
    input_flags, output, control, local, *speeds, codes = modes
    local &= ~termios.ECHO
    codes = list(codes)
    if keys:
        local &= ~(termios.ICANON | termios.IEXTEN)
        input_flags &= ~(termios.IXON | termios.ICRNL | termios.INLCR | termios.IGNCR | termios.ISTRIP)
        codes[termios.VMIN], codes[termios.VTIME] = 1, 0
    return [input_flags, output, control, local, *speeds, codes]


def of_script(modes: list[Any]) -> list[Any]:
    """Modes of the script's terminal: those of the real one, which alone processes output, when it gets it."""
    input_flags, output, *rest = modes
    return [input_flags, output & ~termios.OPOST, *rest]
