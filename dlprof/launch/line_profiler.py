"""line_profiler for interpreters of the user's own that have none, or an old one."""

from __future__ import annotations

from pathlib import Path

from dlprof.errors import Report
from dlprof.launch import tool_folder
from dlprof.launch.interpreters import InterpreterFacts


def line_profiler_for(interpreter: InterpreterFacts, *, report: Report) -> Path | None:
    """Folder that holds a line_profiler for an interpreter of the user's own; None: it has one.

    Nothing is installed into the user's environment: the folder is put on the path only while the
    probe imports line_profiler.

    Raises:
        UnavailableError: It cannot be had for this interpreter.
        CannotCreateError: The data folder cannot be written to.
    """
    own = interpreter.packages.get("line_profiler")
    if own and own.split(".")[0].isdigit() and int(own.split(".")[0]) >= 5:
        return None
    return tool_folder.of("line_profiler", interpreter, report=report)
