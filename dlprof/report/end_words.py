"""How a process that a signal ended is said to have ended."""

from __future__ import annotations

import signal as signals

_WORDS = {
    signals.SIGINT: ("interrupted", "Ctrl-C"),
    signals.SIGTERM: ("terminated", "SIGTERM"),
    signals.SIGKILL: ("killed", "SIGKILL"),
}


def by_signal(number: int) -> str:
    """As a sentence goes on after `was`: `interrupted (Ctrl-C)`, `ended by SIGSEGV`."""
    if number in _WORDS:
        word, by = _WORDS[signals.Signals(number)]
        return f"{word} ({by})"
    return f"ended by {_name(number)}"


def in_short(number: int) -> str:
    """For a column: `interrupted`, `SIGSEGV`."""
    return _WORDS[signals.Signals(number)][0] if number in _WORDS else _name(number)


def _name(number: int) -> str:
    try:
        return signals.Signals(number).name
    except ValueError:  # one of the many that have no name, or of another system
        return f"signal {number}"
