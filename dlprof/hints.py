"""Hints of errors, for those who have no command line: what a command does is said as they ask for it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping

_COMMAND = re.compile(
    r"dlprof (?P<command>[a-z]+)\b(?P<what> (?:'[^']*'|[^\s,;\-][^\s,;]*))?(?P<flags> --[^,;]+)?",
)
_TABLES = re.compile(r"dlprof sql \S+ lists the tables and their columns")
_SHELL = re.compile(r"dlprof [a-z]|pip install")


def retold(hint: str, calls: Mapping[str, Callable[[str], str]], tables: str) -> str:
    """A hint in which commands are calls; what only a command can do is said to be for a shell.

    Args:
        hint: As an error has it for users of the command line.
        calls: Command to what gives the call for what it is asked of (a run, a folder; empty: nothing).
        tables: What lists the tables.
    """

    def call(found: re.Match[str]) -> str:
        if found["command"] not in calls or found["flags"]:
            return found[0]
        return calls[found["command"]]("".join(shlex.split(found["what"] or "")))

    told = _COMMAND.sub(call, _TABLES.sub(lambda _: tables, hint))
    return f"in a shell: {told}" if _SHELL.match(told) else told
