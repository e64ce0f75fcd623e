"""What a program is born into: streams, descriptors, signals, limits, environment. The same for bare and traced runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Stream(StrEnum):
    """What a standard stream is."""

    PIPE = "pipe"
    FILE = "file"
    FULL = "full"
    """/dev/full: every write fails, as on a full disk."""
    BROKEN = "broken"
    """A pipe whose reader has gone."""
    NULL = "null"
    CLOSED = "closed"


@dataclass(frozen=True)
class Opened:
    """A descriptor beyond the three that the program inherits.

    Attributes:
        number: Its number.
        path: Of the file, relative to the folder of the case, in which `work` is the program's.
        text: What is in it; None: it is written to.
    """

    number: int
    path: str
    text: str | None = None


class Mounted(StrEnum):
    """How something is mounted."""

    HIDDEN = "hidden"
    """An empty folder is in its place."""
    FULL = "full"
    """A disk of which nothing is free is in its place."""
    READ_ONLY = "read-only"
    NO_PROGRAMS = "no-programs"
    """No program in it may be run, nor a library loaded."""


@dataclass(frozen=True)
class Mount:
    """Something mounted at a path.

    Attributes:
        how: In which way.
        path: Of a folder; relative to the folder of the case, or absolute.
    """

    how: Mounted
    path: str


@dataclass(frozen=True)
class World:
    """How a program is started.

    Attributes:
        environment: Variables besides the usual ones; None: not there. `{place}` stands for the folder of the case,
            `{program}` for that in it which is the program's current one.
        typed: What standard input gives; ignored where that is no pipe.
        stdin, stdout, stderr: The standard streams.
        opened: Other descriptors that it inherits.
        umask: Bits that new files lack.
        limits: Soft limits by their name in `resource`; they are the hard ones, too.
        ignored: Signals that are ignored, as `nohup` does.
        blocked: Signals that are blocked.
        terminal: In the foreground of a terminal, below a shell with job control; standard streams are the terminal.
        folder_gone: The current folder has been deleted.
        mounts: What is mounted in a mount namespace of its own; only root can.
        nice: Added to its niceness.
    """

    environment: Mapping[str, str | None] = field(default_factory=dict)
    typed: str = ""
    stdin: Stream = Stream.PIPE
    stdout: Stream = Stream.PIPE
    stderr: Stream = Stream.PIPE
    opened: tuple[Opened, ...] = ()
    umask: int = 0o022
    limits: Mapping[str, int] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()
    terminal: bool = False
    folder_gone: bool = False
    mounts: tuple[Mount, ...] = ()
    nice: int = 0
