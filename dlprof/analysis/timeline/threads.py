"""Sampled stacks by thread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from dlprof.analysis.stacks import Frame, frames_by_stack
from dlprof.store.run import Run


class StackTime(NamedTuple):
    """A stack that stood for a while (ns on the run's timeline); its innermost frame comes first."""

    start_ns: int
    dur_ns: int
    frames: tuple[Frame, ...]


@dataclass
class Thread:
    """A thread with its stacks.

    Attributes:
        pid: Its process.
        number: Its number in the system, or what the sampler had for it.
        name: Its name.
        title: Its name; with its number where several have that name.
        rows: Its stacks in order of time.
    """

    pid: int
    number: int
    name: str
    title: str
    rows: list[StackTime]


def threads(run: Run) -> list[Thread]:
    """Every thread of which stacks were sampled."""
    frames = frames_by_stack(run.table("frames"))
    found: dict[tuple[int, int, str], Thread] = {}
    for row in run.table("stacks").sort_by("start_ns").to_pylist():
        key = (row["pid"], row["thread_id"], row["thread"])
        thread = found.setdefault(key, Thread(*key, row["thread"], []))
        thread.rows.append(StackTime(row["start_ns"], row["dur_ns"], frames.get(row["stack_id"], ())))
    names = [thread.name for thread in found.values()]
    for thread in found.values():
        if names.count(thread.name) > 1:
            thread.title = f"{thread.name} ({thread.number})"
    return list(found.values())
