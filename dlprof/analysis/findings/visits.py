"""How often the main thread was seen to come to a line: what counting does not tell where it was thinned.

Samples are far apart, so a line runs at least as often as they find it anew, and mostly far more often.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from dlprof.analysis import phase_threads, program
from dlprof.analysis.findings.finding import SourceLine
from dlprof.analysis.stacks import Frame, frames_by_stack
from dlprof.store.run import Run
from dlprof.store.values import values

_COLUMNS = ("pid", "thread", "start_ns", "dur_ns", "stack_id")


def of_run(run: Run, users: Collection[str]) -> Mapping[SourceLine, int]:
    """Lines of the user's with the number of times that they were come to at least.

    Args:
        run: The run.
        users: Files of the user's own code.
    """
    return counted(in_order(run), users)


def in_order(run: Run) -> Iterator[Sequence[Frame]]:
    """The stacks of the thread that phases are of, in order of time, innermost frame first."""
    frames_of, whose = frames_by_stack(run), phase_threads.of_run(run)
    stood: list[tuple[int, int]] = []
    for piece in program.pieces_of(run, "stacks", _COLUMNS):
        own = whose.of_stacks(piece)
        stood += zip(values(own["start_ns"]), values(own["stack_id"]), strict=True)
    return (frames_of.get(stack, ()) for _start, stack in sorted(stood))


def counted(stacks: Iterable[Sequence[Frame]], users: Collection[str]) -> Mapping[SourceLine, int]:
    """The same of stacks in order of time, innermost frame first.

    A line is come to where its function stood at another one when it was last seen: a stack that was read in part says
    nothing of the functions that it lacks.
    """
    at: dict[tuple[str, str], int] = {}
    visits: Counter[SourceLine] = Counter()
    for frames in stacks:
        innermost = {(frame.file, frame.function): frame.line for frame in reversed(frames) if frame.file in users}
        for function, line in innermost.items():
            if at.get(function) != line:
                at[function] = line
                visits[function[0], line] += 1
    return visits
