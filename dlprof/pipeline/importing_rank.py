"""Makes a run of the trace of one of many ranks: in a process of its own, or on another machine."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dlprof.errors import DlprofError, UsageError
from dlprof.ingest.formats import registry as formats
from dlprof.ingest.limits import Limits, walled
from dlprof.pipeline import importing


@dataclass(frozen=True)
class Made:
    """What was made of a file: the facts of its trace, or why nothing was."""

    facts: dict[str, Any] = field(default_factory=dict)
    error: str | None = None
    is_trace: bool = True
    """Whether a reader knows it."""


def read(path: Path, place: Path, reader: str | None, limits: Limits) -> Made:
    """Read one file into a run.

    Args:
        path: The trace.
        place: The run folder to be made.
        reader: Name of its format; None: told from its content.
        limits: What reading may take of the machine.
    """
    if reader is None:
        try:
            reader = formats.find(path).name
        except DlprofError:
            return Made(is_trace=False)
    try:
        with walled(limits):
            run = importing.import_files([path], place, reader=reader, report=_silent, limits=limits)
        return Made(importing.facts_of(run))
    except DlprofError as error:
        return Made(error=error.message.removeprefix(f"{path.name}: "))


def _silent(_line: str) -> None:
    """Lines about each file are said by who asked for it."""


def check_jobs(jobs: int | None) -> None:
    """Refuse a number of traces at a time that makes no sense.

    Raises:
        UsageError: It is less than 1.
    """
    if jobs is not None and jobs < 1:
        raise UsageError(f"--jobs must be at least 1, not {jobs}.")


def share_of(limits: Limits, count: int) -> Limits:
    """What each of several processes may take."""
    if count == 1:
        return limits
    share = Limits.of_memory(limits.memory_bytes // count)
    return replace(share, threads=max(1, len(os.sched_getaffinity(0)) // count))
