"""What the program did, as slices: phases, epochs, steps, calls, garbage collections, sampled stacks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from dlprof.analysis import processes
from dlprof.analysis.columns import Integers
from dlprof.analysis.stacks import Frame
from dlprof.analysis.timeline.slices import MISSING, Alike, Slices, What, each_for_itself, joined, numbers
from dlprof.analysis.timeline.threads import threads
from dlprof.schema.vocabulary import Phase, ProcessRole, known_phase
from dlprof.store.run import Run

_OF_WINDOW = ("engine", "source", "loop", "first_step", "steps", "dropped")


def phases(run: Run) -> Slices:
    """Leaf phases, within slices of those that have parts (`fit`)."""
    leaves: list[tuple[int, int, What]] = []
    around: list[tuple[int, int, Phase]] = []  # start, end and name of phases with parts
    for row in run.rows("phase_intervals"):
        start, end = row["start_ns"], row["start_ns"] + row["dur_ns"]
        leaves.append((start, row["dur_ns"], What(row["phase"], "phase")))
        parent = known_phase(row["phase"]).parent
        if parent is not None and around and around[-1][1:] == (start, parent):
            around[-1] = (around[-1][0], end, parent)
        elif parent is not None:
            around.append((start, end, parent))
    # Of slices with the same times the first is the outer one.
    return each_for_itself([*((start, end - start, What(name, "phase")) for start, end, name in around), *leaves])


def epochs(run: Run) -> Slices:
    """Epochs."""
    return each_for_itself(
        (row["start_ns"], row["dur_ns"], What(f"epoch {row['epoch'] + 1}", "epoch", {"steps": row["steps"]}))
        for row in run.rows("epochs")
    )


def steps(run: Run) -> Slices:
    """Steps, each with its call inside, and the host's wait for input before it.

    Batch-begin and batch-end callbacks are known as one sum, which is a fact of the step; they lie in what is before
    and after the call.
    """
    table = run.table("steps")
    columns = {name: numbers(table[name]) for name in table.schema.names if name not in ("host", "loop")}
    columns["number"] = np.cumsum(columns["count"]) - columns["count"]
    loops = np.array(table["loop"].to_pylist(), object)
    parts: list[Alike] = []
    for loop in dict.fromkeys(loops.tolist()):
        own = {name: values[loops == loop] for name, values in columns.items()}
        parts += _parts_of_steps(loop, own)
    return joined(parts)


def _parts_of_steps(loop: str, of: Mapping[str, Integers]) -> Iterator[Alike]:
    start, dur, waited = of["start_ns"], of["dur_ns"], of["input_ns"]
    own = {
        "step": of["number"],
        "epoch": _from_one(of["epoch"]),
        "step_of_epoch": _from_one(of["step"]),
        "samples": of["samples"],
        "steps": np.where(of["count"] > 1, of["count"], MISSING),
        "compiled": np.where(of["compiled"] > 0, 1, MISSING),
        "input_ns": waited,
        "callbacks_ns": of["callbacks_ns"],
        "wait_ns": of["wait_ns"],
    }
    yield Alike(What(f"{loop} step", "step"), start, dur, own)
    some = (waited > 0) & (of["count"] == 1)  # of a row of several steps it is a sum, and has no place
    yield Alike(What("input", "input"), (start - waited)[some], waited[some], {"step": of["number"][some]})
    # The call within a row of several steps is a sum, and has no place.
    seen = (of["count"] == 1) & (of["call_ns"] != MISSING) & (of["call_offset_ns"] != MISSING)
    begin = start + of["call_offset_ns"]
    end = begin + of["call_ns"]
    for name, low, high in (
        ("before the call", start, begin),
        ("call", begin, end),
        ("after the call", end, start + dur),
    ):
        some = seen & (high > low)
        yield Alike(What(name, "step"), low[some], (high - low)[some], {"step": of["number"][some]})


def _from_one(index: Integers) -> Integers:
    """Numbers as people count; the tables count from 0, as Keras tells its callbacks."""
    return np.where(index == MISSING, MISSING, index + 1)


def collectives(run: Run) -> Slices:
    """What a rank gave to collectives, and for how long it stood still for them."""
    table = run.table("collectives", ("kind", "start_ns", "dur_ns", "blocked_ns", "bytes"))
    kinds = np.array(table["kind"].to_pylist(), object)
    columns = {name: numbers(table[name]) for name in ("start_ns", "dur_ns", "blocked_ns", "bytes")}
    return joined(
        [
            Alike(
                What(kind, "collective"),
                columns["start_ns"][kinds == kind],
                columns["dur_ns"][kinds == kind],
                {name: columns[name][kinds == kind] for name in ("blocked_ns", "bytes")},
            )
            for kind in dict.fromkeys(kinds.tolist())
        ]
    )


def windows(run: Run) -> Slices:
    """Kernel windows: outside of them no kernel was traced."""
    return each_for_itself(
        (
            row["start_ns"],
            row["dur_ns"],
            What(f"window {row['window']}", "window", {name: row[name] for name in _OF_WINDOW}),
        )
        for row in run.rows("kernel_windows")
        if row["dur_ns"]  # a file of sums has no time
    )


def calls(run: Run) -> Iterator[tuple[str, Slices]]:
    """Spans of the in-process probe by thread: the program's calls into Keras, imports, compilations."""
    by_thread: dict[tuple[Any, ...], list[tuple[int, int, What]]] = defaultdict(list)
    for row in run.rows("spans"):
        what = call(*(row[name] for name in ("kind", "name", "file", "line", "ended")))
        by_thread[row["pid"], row["thread_id"], row["thread"]].append((row["start_ns"], row["dur_ns"], what))
    names = [name for _, _, name in by_thread]
    for (_, number, name), rows in by_thread.items():
        yield name if names.count(name) == 1 else f"{name} ({number})", each_for_itself(rows)


def call(kind: str, name: str, file: str | None, line: int | None, ended: bool | None) -> What:
    """What a call is, by columns of the table `spans`."""
    facts = {
        "source": f"{file}:{line}" if file else None,
        "ended": None if ended else "no: it is drawn up to the end of the run",
    }
    return What(name if name == kind else f"{kind} {name}", kind, facts)


def collections(run: Run) -> Slices:
    """Garbage collections."""
    return each_for_itself(
        (
            row["start_ns"],
            row["dur_ns"],
            What(f"generation {row['generation']}", "gc", {"collected": row["collected"]}),
        )
        for row in run.rows("gc")
    )


def lives(run: Run) -> Slices:
    """Processes that the program started, from their start to their end."""
    end = run.wall_ns or 0
    return each_for_itself(
        (
            max(0, one.start_ns or 0),
            one.lifetime_ns or 0,
            What(f"{one.name or one.role} ({one.pid})", "process", {"role": one.role, "cpu_ns": one.cpu_ns}),
        )
        for one in processes.of_run(run)
        if one.role is not ProcessRole.MAIN and (one.start_ns or 0) < end
    )


def samples(run: Run) -> Iterator[tuple[str, Slices]]:
    """Sampled stacks by thread: a frame is a slice as long as it stands in the samples."""
    for thread in threads(run):
        yield thread.title, _of_stacks([(start, dur, stack[::-1]) for start, dur, stack in thread.rows])


def _of_stacks(rows: Sequence[tuple[int, int, tuple[Frame, ...]]]) -> Slices:
    whats: dict[Frame, int] = {}
    stood: list[tuple[int, int, int]] = []  # begin, duration and number of the frame
    open_: list[tuple[Frame, int]] = []  # frames that stand, the outermost first, and since when

    def close(depth: int, end: int) -> None:
        while len(open_) > depth:
            frame, since = open_.pop()
            stood.append((since, end - since, whats.setdefault(frame, len(whats))))

    until = 0
    for start, dur, stack in rows:
        same = _same(open_, stack) if start == until else 0
        close(same, until)
        open_.extend((frame, start) for frame in stack[same:])
        until = start + dur
    close(0, until)
    # Frames that close together close from the inside: turned around, the outer ones come first.
    columns = np.array(stood[::-1], np.int64).reshape(-1, 3)
    facts = [What(function, "sample", {"source": f"{file}:{line}"}) for function, file, line in whats]
    return Slices(columns[:, 0], columns[:, 1], columns[:, 2], facts)


def _same(open_: Sequence[tuple[Frame, int]], stack: Sequence[Frame]) -> int:
    """How many of the outermost frames go on."""
    same = 0
    for (frame, _), other in zip(open_, stack, strict=False):
        if frame != other:
            break
        same += 1
    return same
