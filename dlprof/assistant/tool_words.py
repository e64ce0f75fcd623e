"""What an assistant is told to try: a tool where there is one for it, else a command for a shell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dlprof import hints
from dlprof.errors import nearest

_CALLS = {
    "runs": lambda folder: _call("runs", "folder", folder),
    "report": lambda run: _call("report", "run", run),
    "diagnose": lambda run: _call("findings", "run", run),
    "lines": lambda run: _call("lines", "run", run),
    "kernels": lambda run: _call("kernels", "run", run),
}
"""Commands, and how the tool that answers the same is called."""
_TABLES = "the resource dlprof://tables lists the tables and their columns"
_SIDES = "dlprof compare RUN,RUN RUN,RUN"


def hint(text: str) -> str:
    """What to try, as a call of a tool; what only a command can do is said to be for the shell."""
    return hints.retold(text.replace(_SIDES, "call compare with a='RUN,RUN' and b='RUN,RUN'"), _CALLS, _TABLES)


def _call(tool: str, argument: str, value: str) -> str:
    return f"call {tool}{f' with {argument}={value!r}' if value else ''}"


def unknown(tool: str, given: Sequence[str], known: Sequence[str]) -> str | None:
    """A sentence about arguments that a tool does not take; None: it takes all of them."""
    strange = [name for name in given if name not in known]
    if not strange:
        return None
    near = "".join(f"; did you mean {name}?" for name in nearest(strange[0], known))
    return f"{tool} takes no argument {strange[0]}{near or '.'} It takes: {', '.join(known)}."


def wrong(tool: str, errors: Sequence[Mapping[str, Any]]) -> str:
    """A sentence about arguments that are none of what a tool takes.

    Args:
        tool: Its name.
        errors: As pydantic lists them: `loc`, `msg` and `input` each.
    """
    return f"{tool}: {'; '.join(_wrong(error) for error in errors)}."


def _wrong(error: Mapping[str, Any]) -> str:
    name = ".".join(str(part) for part in error["loc"])
    if error["type"] == "missing":
        return f"{name} is needed"
    return f"{name}: {error['msg'][:1].lower()}{error['msg'][1:]}, not {str(error['input'])[:80]!r}"
