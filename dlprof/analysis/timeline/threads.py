"""Sampled stacks by thread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from dlprof.analysis import program
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
        title: Its name, behind that of its process where that is not the program; with its number where several
            have that name.
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
    processes = titles(run)
    for one in found.values():
        one.title = f"{processes[one.pid]}: {one.name}" if one.pid in processes else one.name
    names = Counter(thread.title for thread in found.values())
    for thread in found.values():
        if names[thread.title] > 1:
            thread.title = f"{thread.title} ({thread.number})"
    return list(found.values())


def titles(run: Run) -> Mapping[int, str]:
    """What processes beside the program are called on a timeline: with their numbers, for names may be the same."""
    known = {row["pid"]: row for row in run.table("processes", ("pid", "role", "name")).to_pylist()}
    return {pid: f"{_called(known.get(pid))} ({pid})" for pid in program.others(run)}


def _called(row: Mapping[str, Any] | None) -> str:
    return (row["name"] or row["role"]) if row is not None else "child"
