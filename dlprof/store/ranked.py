"""A run of ranks: the runs of the processes of one distributed training, as one object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dlprof.run_names import name_to_type
from dlprof.rundir import RunDir
from dlprof.schema.manifest import Manifest
from dlprof.store.run import Run


@dataclass(frozen=True)
class Member:
    """The run of one rank."""

    rank: int
    run: Run

    @property
    def host(self) -> str:
        """Name of its machine."""
        return self.run.manifest.machine.host


@dataclass(frozen=True)
class RankedRun:
    """The runs of all ranks that there are.

    Attributes:
        folder: The folder that holds them: of ranks alone, or the run of the program that started them.
        manifest: Its manifest.
        members: By rank, one of each.
        world: How many ranks there were to be; None: not told.
        set_aside: Folders of further runs of a rank, such as those before a restart, below `folder`.
        lost: Folders of ranks that cannot be opened, and why.
        program: The run of the program that started them; None: dlprof was started by it, in each rank.
    """

    folder: RunDir
    manifest: Manifest
    members: tuple[Member, ...]
    world: int | None
    set_aside: tuple[str, ...] = ()
    lost: Mapping[str, str] = field(default_factory=dict)
    program: Run | None = None

    @property
    def name(self) -> str:
        """Its name: that of its folder."""
        return self.folder.path.name

    @property
    def typed(self) -> str:
        """What a user types for it."""
        return name_to_type(self.folder)

    @property
    def missing(self) -> tuple[int, ...]:
        """Ranks that there were to be, and of which there is no run."""
        there = {member.rank for member in self.members}
        return tuple(rank for rank in range(self.world or 0) if rank not in there)

    def path_of(self, member: Member) -> str:
        """Where the run of a rank lies, from `folder` on."""
        return member.run.folder.path.relative_to(self.folder.path).as_posix()
