"""What every reader of raw artifacts shares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dlprof.errors import BadDataError

_RANKS = range(1 << 15)
"""What the column `rank` holds."""


@dataclass(frozen=True)
class Health:
    """Something dropped, cut, killed or odd, that the user must know of to trust the figures.

    Attributes:
        slug: Stable name, for machines and for the documentation.
        severity: `info`, `warning` or `error`.
        message: One sentence.
        count: How many times, where that can be said.
    """

    slug: str
    severity: str
    message: str
    count: int | None = None


@dataclass(frozen=True)
class ProcessId:
    """The process that rows belong to, and the origin of the run's timeline.

    Attributes:
        host: Name of the machine.
        rank: Rank in a run of several processes, else 0.
        pid: Process number.
        origin_ns: The run's zero on the process's clock (ns).
    """

    host: str
    rank: int
    pid: int
    origin_ns: int

    @property
    def columns(self) -> dict[str, Any]:
        """The columns by which tables name a process."""
        return {"host": self.host, "rank": self.rank, "pid": self.pid}

    def as_told(self, facts: Mapping[str, Any]) -> ProcessId:
        """This process, as far as the facts of a trace do not say better whose it is."""
        rank, host = facts.get("rank"), facts.get("host")
        return replace(
            self,
            rank=rank if type(rank) is int and rank in _RANKS else self.rank,
            host=str(host) if host else self.host,
        )


class ArtifactError(BadDataError):
    """A raw artifact that cannot be read.

    Args:
        message: What is wrong.
        path: The file.
        offset: Where, in bytes, if known.
    """

    def __init__(self, message: str, *, path: Path, offset: int | None = None) -> None:
        where = f" at byte {offset}" if offset is not None else ""
        super().__init__(f"{path.name}{where}: {message}")
        self.path = path
        self.offset = offset
