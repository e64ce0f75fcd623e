"""What every reader of raw artifacts shares."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dlprof.errors import BadDataError


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
class Who:
    """The process that rows belong to, and the origin of the run's time line.

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


class ArtifactError(BadDataError):
    """A raw artifact that cannot be read.

    Args:
        message: What is wrong.
        path: The file.
        offset: Where, in bytes, if known.
    """

    def __init__(self, message: str, *, path: Path, offset: int | None = None) -> None:
        place = f" at byte {offset}" if offset is not None else ""
        super().__init__(f"{path.name}{place}: {message}")
        self.path = path
        self.offset = offset
