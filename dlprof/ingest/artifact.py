"""What every reader of raw artifacts shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dlprof.errors import BadDataError

_RANKS = range(1 << 15)
"""What the column `rank` holds."""
PIDS = range(1 << 31)
"""What the column `pid` holds."""


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
class Skipped:
    """What of a file a reader passed over, and why.

    Attributes:
        what: What it is, for people: `instants`, `lines of host threads`, `rows of OSRT_API`.
        events: How many events, rows or samples.
        why: Why none of them was read.
    """

    what: str
    events: int
    why: str

    def __str__(self) -> str:
        return f"{self.events:,} {self.what} ({self.why})"


def merged(skipped: Sequence[Skipped]) -> list[Skipped]:
    """The same, one for each sort and reason."""
    sums: dict[tuple[str, str], int] = {}
    for one in skipped:
        sums[one.what, one.why] = sums.get((one.what, one.why), 0) + one.events
    return [Skipped(what, events, why) for (what, why), events in sums.items()]


_TOLD_AT_MOST = 6
MALFORMED = "trace-malformed"
"""What the health section calls events that are no events, or have times that cannot be."""


def told(skipped: Sequence[Skipped]) -> str:
    """What was passed over, most first, as a part of a sentence."""
    if len(skipped) == 1:
        return f"{skipped[0].what}: {skipped[0].why}"
    most = sorted(skipped, key=lambda one: -one.events)
    rest = most[_TOLD_AT_MOST:]
    more = [f"{sum(one.events for one in rest):,} of {len(rest)} other kinds"] if rest else []
    return "; ".join([*(str(one) for one in most[:_TOLD_AT_MOST]), *more])


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
        rank, host, pid = facts.get("rank"), facts.get("host"), facts.get("pid")
        return replace(
            self,
            rank=rank if type(rank) is int and rank in _RANKS else self.rank,
            host=str(host) if host else self.host,
            pid=pid if type(pid) is int and pid in PIDS else self.pid,
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


class NothingRecordedError(ArtifactError):
    """A raw artifact that was begun and holds nothing: what wrote it was ended, or could not write."""
