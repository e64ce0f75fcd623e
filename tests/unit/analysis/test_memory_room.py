"""The limit that leaves least."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dlprof.analysis import memory_room
from dlprof.analysis.memory import Limits
from dlprof.analysis.memory_room import Room

GB = 1_000_000_000
NONE = Limits(*[None] * 8)
MACHINE = replace(NONE, machine=25 * GB, available_least=23 * GB)


@pytest.mark.parametrize(
    ("limits", "room"),
    [
        (NONE, None),
        (MACHINE, Room("", 25 * GB, 23 * GB)),
        (replace(MACHINE, available_least=None), Room("", 25 * GB, 24 * GB)),
        (replace(MACHINE, address_space=3 * GB, address_space_peak=2 * GB), Room("its address space", 3 * GB, GB)),
        (replace(MACHINE, address_space=3 * GB), Room("", 25 * GB, 23 * GB)),
        (replace(MACHINE, data=4 * GB), Room("its data limit", 4 * GB, 3 * GB)),
        (replace(MACHINE, control_group=2 * GB, control_group_peak=2 * GB), Room("its control group", 2 * GB, GB)),
        (replace(MACHINE, address_space=60 * GB, address_space_peak=2 * GB), Room("", 25 * GB, 23 * GB)),
    ],
)
def test_the_limit_that_leaves_least_is_the_nearest(limits: Limits, room: Room | None) -> None:
    """Of 1 GB resident; a control group also counts files that it gives up."""
    assert memory_room.nearest(limits, GB) == room
