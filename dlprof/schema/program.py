"""Which of several processes is the program that a run is of."""

from __future__ import annotations

from collections.abc import Collection


def others_than_program(sampled: Collection[int], traced: int | None, workers: Collection[int]) -> frozenset[int]:
    """Processes whose stacks are not those of the program itself.

    Where the traced process is no Python (a shell, a tool around the script), every Python below it is the program,
    but for the workers that one of them has started.

    Args:
        sampled: Processes of which there are stacks.
        traced: The traced process; None: a run of foreign traces, whose processes are all alike.
        workers: Those that `multiprocessing` or one of its kin has started.
    """
    if traced is None:
        return frozenset()
    if traced in sampled:
        return frozenset(pid for pid in sampled if pid != traced)
    return frozenset(pid for pid in sampled if pid in workers)
