"""Sampled stacks by thread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from dlprof.analysis import program
from dlprof.analysis.stacks import Frame, frames_by_stack
from dlprof.store.run import Run

_KEY = ("pid", "thread_id", "thread")


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


Key = tuple[int, int, str]
"""What a thread is told apart by: its process, its number, its name."""


def threads(run: Run) -> list[Thread]:
    """Every thread of which stacks were sampled."""
    frames = frames_by_stack(run)
    found = {key: Thread(*key, title, []) for key, title in titles(run, "stacks").items()}
    for row in run.table("stacks").sort_by("start_ns").to_pylist():
        stack = StackTime(row["start_ns"], row["dur_ns"], frames.get(row["stack_id"], ()))
        found[row["pid"], row["thread_id"], row["thread"]].rows.append(stack)
    return sorted(found.values(), key=lambda thread: thread.rows[0].start_ns)


def titles(run: Run, table: str) -> dict[Key, str]:
    """Every thread of the table `stacks` or `spans`, and its name, behind that of a process beside the program.

    It comes with its number where several have that name.
    """
    keys: dict[Key, None] = {}
    for piece in run.pieces(table, _KEY):
        for row in piece.group_by(list(_KEY), use_threads=False).aggregate([]).to_pylist():
            keys[row["pid"], row["thread_id"], row["thread"]] = None
    processes = _others(run)
    told = {key: f"{processes[key[0]]}: {key[2]}" if key[0] in processes else key[2] for key in keys}
    names = Counter(told.values())
    return {key: name if names[name] == 1 else f"{name} ({key[1]})" for key, name in told.items()}


def _others(run: Run) -> Mapping[int, str]:
    """What processes beside the program are called: with their numbers, for names may be the same."""
    known = {row["pid"]: row for row in run.table("processes", ("pid", "role", "name")).to_pylist()}
    return {pid: f"{_called(known.get(pid))} ({pid})" for pid in program.others(run)}


def _called(row: Mapping[str, Any] | None) -> str:
    return (row["name"] or row["role"]) if row is not None else "child"
