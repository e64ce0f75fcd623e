"""Stacks of processes that `multiprocessing` and its kin have started, told by the frame that all begin with."""

from __future__ import annotations

from collections.abc import Sequence

from dlprof.ingest.parse.sampled_stacks import Frame

_FILES = ("multiprocessing/process.py", "multiprocess/process.py", "billiard/process.py")
_FUNCTION = "_bootstrap"


def worker_part(stack: Sequence[Frame]) -> tuple[Frame, ...] | None:
    """What stands inside the call that every such process begins with; None: there is none.

    A forked process has its parent's frames around that call, in which it spends no time.

    Args:
        stack: Outermost first.
    """
    for depth in range(len(stack) - 1, -1, -1):
        frame = stack[depth]
        if frame.function.rpartition(".")[2] == _FUNCTION and frame.file.endswith(_FILES):
            return tuple(stack[depth + 1 :])
    return None
