"""How much a process may still grow by: the room that each limit of its memory leaves, and the least of these."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dlprof.analysis.memory import Limits


@dataclass(frozen=True)
class Room:
    """What a limit leaves.

    Attributes:
        whose: `its address space`; empty: the machine's memory.
        whole: The limit (bytes).
        left: What was left of it when it was nearest (bytes), or no more than that where the limit's own use is not
            sampled.
    """

    whose: str
    whole: int
    left: int


def nearest(limits: Limits, resident: int) -> Room | None:
    """The limit that leaves least; None: none is known.

    Args:
        limits: What holds the memory.
        resident: What the process has of its own (bytes).
    """
    return min(_rooms(limits, resident), key=lambda one: one.left, default=None)


def _rooms(limits: Limits, resident: int) -> Iterator[Room]:
    if limits.address_space and limits.address_space_peak is not None:
        yield _room("its address space", limits.address_space, limits.address_space_peak)
    if limits.data:
        yield _room("its data limit", limits.data, resident)
    if limits.control_group:
        # A control group also counts files that are cached, which it gives up.
        yield _room("its control group", limits.control_group, min(resident, limits.control_group_peak or resident))
    if limits.machine and limits.machine > resident:
        left = limits.machine - resident
        available = limits.available_least
        yield Room("", limits.machine, max(0, left if available is None else min(left, available)))


def _room(whose: str, whole: int, used: int) -> Room:
    return Room(whose, whole, max(0, whole - used))
