"""What an assistant is told to try: a tool where there is one for it, else a command for a shell."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from dlprof.errors import nearest

_TOOLS = {"runs": "runs", "report": "report", "diagnose": "findings", "lines": "lines", "kernels": "kernels"}
"""Commands, and the tool that answers the same."""
_COMMAND = re.compile(
    rf"dlprof (?P<command>{'|'.join(_TOOLS)})\b(?P<what> (?:'[^']*'|[^\s,;\-][^\s,;]*))?(?P<flags> --[^,;]+)?"
)
_TABLES = re.compile(r"dlprof sql \S+ lists")
_SIDES = "dlprof compare RUN,RUN RUN,RUN"
_SHELL = re.compile(r"dlprof [a-z]|pip install")


def hint(text: str) -> str:
    """What to try, as a call of a tool; what only a command can do is said to be for the shell."""
    told = _TABLES.sub("the resource dlprof://tables lists", text)
    told = told.replace(_SIDES, "call compare with a='RUN,RUN' and b='RUN,RUN'")
    told = _COMMAND.sub(_call, told)
    return f"in a shell: {told}" if _SHELL.match(told) else told


def _call(found: re.Match[str]) -> str:
    if found["flags"]:
        return found[0]  # tools have no such flags
    what = "".join(shlex.split(found["what"] or ""))
    given = f" with {'folder' if found['command'] == 'runs' else 'run'}={what!r}" if what else ""
    return f"call {_TOOLS[found['command']]}{given}"


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
