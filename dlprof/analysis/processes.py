"""The processes of a run: the program, what it started, and the lines in which each was seen."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis import samples
from dlprof.analysis.columns import integers, truths
from dlprof.analysis.stacks import Frame, frames_by_stack
from dlprof.analysis.stretches import Stretches
from dlprof.schema.vocabulary import MAIN_THREAD, ProcessRole
from dlprof.store.run import Run

MOST = 200
"""Processes that a report tells one by one: the program, and those that used most."""
_TOP = 3
_NUMBERED = re.compile(r"[ -]?\d+$")
_BOOTSTRAP = "<python>/multiprocessing/process.py", "_bootstrap"
"""File and function with which the code of a process of multiprocessing begins."""
_Stood = dict[int, dict[int, int]]
"""Process to the number of a stack to how long it stood (ns)."""


@dataclass(frozen=True)
class TopLine:
    """A line in which a process was seen.

    Attributes:
        share: Of the time for which the process was sampled, on its main thread.
    """

    file: str
    line: int
    share: float


@dataclass(frozen=True)
class ProcessSummary:
    """A process over the run; None: not measured, or not known.

    Attributes:
        name: What its maker calls it (`DataLoader worker 2`), else its command's first words.
        role: What it is.
        cpu_ns: CPU time that it used in the run, as last seen: up to a sample before its end (ns).
        lifetime_ns: From its start, or the run's, to its end, or the run's (ns).
        end_ns: When it was found ended, on the run's timeline (ns); None: it was there at the end.
        peak_rss_bytes: The most resident memory that was seen.
        read_bytes, write_bytes: By system calls.
        top: Lines of the user's, else of libraries, by how long they stood in its sampled stacks; none where `run`
            has them.
        run: Where it was followed, the folder of its own run, in that of the program's.
    """

    pid: int
    name: str | None
    role: ProcessRole
    cpu_ns: int | None
    lifetime_ns: int | None
    top: tuple[TopLine, ...]
    parent_pid: int | None
    start_ns: int | None
    end_ns: int | None
    peak_rss_bytes: int | None
    read_bytes: int | None
    write_bytes: int | None
    run: str | None = None


def kinds(run: Run, pids: Collection[int]) -> Mapping[int, str]:
    """What processes are called together: `DataLoader worker` for each of several."""
    names = {row["pid"]: kind(row["name"], _role(row)) for row in _known(run)}
    return {pid: names.get(pid, ProcessRole.CHILD.value) for pid in pids}


def kind(name: str | None, role: ProcessRole) -> str:
    """A name without its number; without a name, the role."""
    return _NUMBERED.sub("", name) if name else role.value


def of_run(run: Run) -> tuple[ProcessSummary, ...]:
    """The program and what it started, those with most CPU time first; at most `MOST` of them."""
    rows = _known(run)
    if not rows:
        return ()
    order = sorted(rows, key=lambda row: (not _is_main(row), -(row["cpu_ns"] or 0), row["start_ns"] or 0))
    kept = order[:MOST]
    tops = _tops(run, {row["pid"] for row in kept})
    main = next((row["command"] for row in rows if _is_main(row)), None)
    followed = {one.pid: one.run for one in run.manifest.followed.runs} if run.manifest.followed is not None else {}
    return tuple(_summary(row, run, main, tops.get(row["pid"]), followed.get(row["pid"])) for row in kept)


def seen_together(run: Run, pids: Collection[int], during: Stretches | None = None) -> tuple[TopLine, ...]:
    """Lines in which the main threads of some processes stood, all of their samples together, the hottest first.

    Those samples count that began in some stretches of time; without such, all.

    What a forked process has on its stack from before the fork is not its own, and waiting for a task is no work: such
    samples are counted for the shares and name no line.
    """
    main, every = stood_in(run, pids, during)
    together: dict[int, int] = defaultdict(int)
    for pid, stood in every.items():
        for stack, ns in (main.get(pid) or stood).items():
            together[stack] += ns
    return top_lines(run, together)


def top_lines(run: Run, stood: Mapping[int, int]) -> tuple[TopLine, ...]:
    """The user's lines in which some stacks stood, the hottest first; of others their time counts for the shares only.

    Args:
        run: The run.
        stood: Numbers of stacks to how long each stood (ns).
    """
    own = {stack: _since_fork(frames) for stack, frames in frames_by_stack(run).items() if stack in stood}
    users = samples.user_files(run)
    busy = {stack: frames for stack, frames in own.items() if any(frame.file in users for frame in frames)}
    return _top(stood, busy, users)


def _since_fork(frames: Sequence[Frame]) -> Sequence[Frame]:
    """The frames of a process that multiprocessing forked, without those of its maker; innermost first."""
    for depth, frame in enumerate(frames):
        if frame.file == _BOOTSTRAP[0] and frame.name == _BOOTSTRAP[1]:
            return frames[:depth]
    return frames


def count(run: Run) -> int:
    """How many processes were seen."""
    return int(run.table("processes", ("pid",)).num_rows)


def _known(run: Run) -> list[dict[str, Any]]:
    return run.table("processes").to_pylist() if run.has("processes") else []


def _role(row: Mapping[str, Any]) -> ProcessRole:
    """The role of a process; a word that is none, in a stranger's table, says no more than `child`."""
    if row["role"] == ProcessRole.SCRIPT:
        return ProcessRole.MAIN
    return ProcessRole(row["role"]) if row["role"] in set(ProcessRole) else ProcessRole.CHILD


def _is_main(row: Mapping[str, Any]) -> bool:
    return row["role"] in (ProcessRole.MAIN, ProcessRole.SCRIPT)


def _summary(
    row: Mapping[str, Any], run: Run, main_command: str | None, seen: _Seen | None, own_run: str | None
) -> ProcessSummary:
    main = _is_main(row)
    end_ns, start_ns = row["end_ns"], row["start_ns"]
    until = run.wall_ns if main or end_ns is None else end_ns
    known = start_ns is not None and until is not None
    lifetime_ns = max(0, until - max(0, start_ns)) if known else None
    # A followed process has samples here of the time before that: of its imports.
    is_told = seen is not None and (own_run is None or 2 * seen.stood_ns > (lifetime_ns or 0))
    return ProcessSummary(
        pid=row["pid"],
        name=row["name"] or _called(row, run, main_command),
        role=_role(row),
        cpu_ns=row["cpu_ns"],
        lifetime_ns=lifetime_ns,
        top=seen.top if seen is not None and is_told else (),
        parent_pid=row["parent_pid"],
        start_ns=start_ns,
        end_ns=None if main else end_ns,
        peak_rss_bytes=row["peak_rss_bytes"],
        read_bytes=row["read_bytes"],
        write_bytes=row["write_bytes"],
        run=own_run,
    )


def _called(row: Mapping[str, Any], run: Run, main_command: str | None) -> str | None:
    """What a process without a name is called: the main one is started by a line that nobody wrote."""
    script = run.manifest.command.text
    if _is_main(row):
        return script or _first_words(row["command"])
    if script and row["command"] == main_command:
        return f"fork of {script}"
    return _first_words(row["command"])


def _first_words(command: str | None) -> str | None:
    """The program of a command, without its folder, and its first argument."""
    words = (command or "").split()[:2]
    return " ".join([words[0].rpartition("/")[2], *words[1:]]) if words else None


@dataclass(frozen=True)
class _Seen:
    """Where a process stood, and for how long it was seen (ns)."""

    top: tuple[TopLine, ...]
    stood_ns: int


def _tops(run: Run, pids: Collection[int]) -> Mapping[int, _Seen]:
    main, every = stood_in(run, pids)
    if not every:
        return {}
    frames, users = frames_by_stack(run), samples.user_files(run)
    told = {pid: main.get(pid) or stood for pid, stood in every.items()}
    return {pid: _Seen(_top(stood, frames, users), sum(stood.values())) for pid, stood in told.items()}


def stood_in(run: Run, pids: Collection[int], during: Stretches | None = None) -> tuple[_Stood, _Stood]:
    """How long each process stood in each stack (ns): with its main thread, and with all of its threads.

    Args:
        run: The run.
        pids: The processes.
        during: Stretches of time; None: all of it.
    """
    main: _Stood = defaultdict(lambda: defaultdict(int))
    every: _Stood = defaultdict(lambda: defaultdict(int))
    wanted = pa.array(sorted(pids), pa.int32())
    for piece in run.pieces("stacks", ("pid", "thread", "start_ns", "dur_ns", "stack_id")):
        own = piece.filter(pc.is_in(piece["pid"], wanted))
        own = own if during is None else own.filter(pa.array(during.hold(integers(own["start_ns"]))))
        if not own.num_rows:
            continue
        is_main = truths(pc.equal(own["thread"].cast(pa.string()), MAIN_THREAD))
        keys, group = np.unique(
            np.stack((integers(own["pid"]), is_main, integers(own["stack_id"]))), axis=1, return_inverse=True
        )
        sums = np.zeros(keys.shape[1], np.int64)
        np.add.at(sums, group.reshape(-1), integers(own["dur_ns"]))
        for pid, on_main, stack, ns in zip(*keys.tolist(), sums.tolist(), strict=True):
            every[pid][stack] += ns
            if on_main > 0:
                main[pid][stack] += ns
    return main, every


def _top(
    stood: Mapping[int, int], frames: Mapping[int, Sequence[Frame]], users: Collection[str]
) -> tuple[TopLine, ...]:
    whole = sum(stood.values())
    times: dict[tuple[str, int], int] = defaultdict(int)
    for stack, ns in stood.items():
        found = frames.get(stack, ())  # innermost first
        shown = next((frame for frame in found if frame.file in users), found[0] if found else None)
        if shown is not None:
            times[shown.file, shown.line] += ns
    most = sorted(times.items(), key=lambda item: (-item[1], item[0]))[:_TOP]
    return tuple(TopLine(file, line, ns / whole) for (file, line), ns in most if whole)
