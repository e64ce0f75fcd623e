"""Which system this is: processes are started and watched through interfaces that only Linux has."""

from __future__ import annotations

import sys

from dlprof.errors import UnavailableError

_NAMES = {"darwin": "macOS", "win32": "Windows", "cygwin": "Cygwin"}
EVERYWHERE = (
    "report, view, compare, diagnose, export, sql, import and demo work here, with runs that were made elsewhere"
)
"""What needs no process of its own."""


def why_not() -> str | None:
    """Why no process can be traced here, as a sentence; None: it can."""
    here = str(sys.platform)  # mypy, too, knows on which it runs
    if here == "linux":
        return None
    name = _NAMES.get(here, here)
    return f"It starts and watches processes through interfaces of Linux, and this is {name}."


def need_linux(command: str) -> None:
    """Refuse what only Linux can do, before anything of it is imported.

    Args:
        command: What was asked for, such as `dlprof trace`.

    Raises:
        UnavailableError: This is another system.
    """
    reason = why_not()
    if reason is not None:
        raise UnavailableError(f"{command} does not work on this machine. {reason}", hint=EVERYWHERE)
