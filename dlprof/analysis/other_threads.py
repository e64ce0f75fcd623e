"""At which of the user's lines threads beside the main one stood: by the sampled stacks."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from dlprof.analysis import phase_threads, program, samples
from dlprof.analysis.columns import integers
from dlprof.analysis.stacks import frames_by_stack
from dlprof.store.run import Run


def lines_of(run: Run) -> Mapping[str, Collection[int]]:
    """By file; what the thread that phases are of stood at is not among them."""
    whose, stacks = phase_threads.of_run(run), set[int]()
    for piece in program.pieces_of(run, "stacks", ("pid", "thread", "start_ns", "dur_ns", "stack_id")):
        rows, own = whose.of_work(piece)
        stacks |= set(integers(rows["stack_id"])[~own].tolist())
    frames, users = frames_by_stack(run) if stacks else {}, samples.user_files(run) if stacks else set()
    found: dict[str, set[int]] = {}
    for stack in stacks:
        for frame in frames.get(stack, ()):
            if frame.file in users:
                found.setdefault(frame.file, set()).add(frame.line)
    return found
