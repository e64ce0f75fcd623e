"""What reading may take of the machine: one account for every format, derived from one figure, `--max-memory`.

A reader asks for `budget()` and tells it what it keeps. Whatever reaches a limit is an error of the reader that names
the limit and the option. What no account can see (one call of a parser) meets `walled`, which the kernel enforces.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from dlprof.ingest.artifact import ArtifactError

OPTION = "--max-memory"
LEAST_BYTES = 64 << 20
"""Below this not even an empty file is read: the libraries take as much."""
_DEFAULT_AT_MOST = 4 << 30
_SHARE = 4
"""By default a quarter of the machine's memory."""
_TEXT_BYTES = 1 << 20
_DEPTH = 10_000
_PER_VALUE = 160
"""A short text and its place in a list and in a dictionary (bytes), measured on CPython 3.11 to 3.13."""
_PER_LANE = 500
_THREADS = 4


class LimitError(ArtifactError):
    """A file that asks for more than it may have."""

    def __init__(self, message: str, *, path: Path, memory_bytes: int) -> None:
        allowed = f"{OPTION} is {size_text(memory_bytes)}"
        super().__init__(f"{message}: {allowed}", path=path)
        self.hint = f"if you trust the file, and there is the memory: {OPTION} SIZE, or max-memory in the settings"


@dataclass(frozen=True)
class Limits:
    """What one import may take, at most.

    Attributes:
        memory_bytes: Memory for all that is kept while files are read.
        unpacked_bytes: What a packed file may unpack to, where it is read piece by piece.
        whole_bytes: Size of a text that is decoded at once: its objects take several times as much.
        piece_bytes: Size of one event or record, or of what must be held because it cannot be cut.
        rows: Events, packets or records of all files.
        names: Distinct names.
        lanes: Threads and streams.
        depth: Frames of a stack.
        text_bytes: Length of one name, or of one line of a text file.
        threads: Threads that parse at a time.
    """

    memory_bytes: int
    unpacked_bytes: int
    whole_bytes: int
    piece_bytes: int
    rows: int
    names: int
    lanes: int
    depth: int = _DEPTH
    text_bytes: int = _TEXT_BYTES
    threads: int = _THREADS

    @classmethod
    def of_memory(cls, memory_bytes: int) -> Limits:
        """The limits that fit into so much memory; the divisors are what the objects of a hostile file measure."""
        return cls(
            memory_bytes=memory_bytes,
            unpacked_bytes=8 * memory_bytes,
            whole_bytes=memory_bytes // 8,
            piece_bytes=max(4 << 20, memory_bytes // 256),
            rows=memory_bytes // 32,
            names=memory_bytes // 512,
            lanes=memory_bytes // 32768,
        )


@cache
def default() -> Limits:
    """The limits of a quarter of the machine's memory, and of 4 GiB at most."""
    whole = min(_of_machine(), _of_group())
    return Limits.of_memory(max(LEAST_BYTES, min(_DEFAULT_AT_MOST, whole // _SHARE)))


def chosen(memory_bytes: int | None) -> Limits:
    """The limits that the settings ask for; None: the default."""
    return default() if memory_bytes is None else Limits.of_memory(memory_bytes)


_NO_LIMIT = 1 << 62


def _of_machine() -> int:
    """What this machine has (bytes); very much where it does not tell, as without `/proc`."""
    import psutil  # noqa: PLC0415  (only here)

    with contextlib.suppress(OSError):
        return int(psutil.virtual_memory().total)
    return _NO_LIMIT


def _of_group() -> int:
    """What the control group of this process allows (bytes); very much where it says nothing."""
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        with contextlib.suppress(OSError, ValueError):
            return int(Path(path).read_text(encoding="ascii"))
    return _NO_LIMIT


class Budget:
    """What has been taken so far, of one import.

    Attributes:
        limits: What may be taken.
        path: The file that is read.
    """

    def __init__(self, limits: Limits, path: Path) -> None:
        self.limits = limits
        self.path = path
        self._held = self._rows = self._names = self._lanes = 0

    def hold(self, size: int, what: str) -> None:
        """Keep so many bytes more.

        Args:
            size: About how many; negative: they are given back.
            what: Of what, for people.

        Raises:
            LimitError: That is too much.
        """
        self._held += size
        if self._held > self.limits.memory_bytes:
            raise self.exceeded(f"it holds more {what} than fit into memory")

    def hold_texts(self, count: int, characters: int, what: str) -> None:
        """Keep values that are texts, or small; see `hold`."""
        self.hold(count * _PER_VALUE + characters, what)

    def name(self, value: Any) -> None:
        """Keep a name, or something else that is numbered.

        Raises:
            LimitError: There are too many of them, or it is too long.
        """
        characters = _characters(value)
        if characters > self.limits.text_bytes:
            raise self.exceeded(f"a name of more than {self.limits.text_bytes >> 20} MB")
        self._names += 1
        if self._names > self.limits.names:
            raise self.exceeded(f"more than {self.limits.names:,} distinct names")
        self.hold_texts(1, characters, "distinct names")

    def lane(self) -> None:
        """Keep a thread or a stream.

        Raises:
            LimitError: There are too many.
        """
        self._lanes += 1
        if self._lanes > self.limits.lanes:
            raise self.exceeded(f"more than {self.limits.lanes:,} threads and streams")
        self.hold(_PER_LANE, "threads and streams")

    def rows(self, count: int) -> None:
        """Take in so many events, packets or records, which need not be kept in memory.

        Raises:
            LimitError: There are too many.
        """
        self._rows += count
        if self._rows > self.limits.rows:
            raise self.exceeded(f"more than {self.limits.rows:,} events")

    def exceeded(self, what: str) -> LimitError:
        """The error that says which limit was reached."""
        return LimitError(what, path=self.path, memory_bytes=self.limits.memory_bytes)


def _characters(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    parts = (getattr(value, name, None) for name in getattr(value, "__dataclass_fields__", ()))
    return 2 * _PER_VALUE + sum(len(part) for part in parts if isinstance(part, str))


_current: ContextVar[Budget | None] = ContextVar("dlprof-budget", default=None)


def budget() -> Budget:
    """The account of the import that goes on; where none does, a new one of the default limits."""
    return _current.get() or Budget(default(), Path("input"))


@contextlib.contextmanager
def applied(limits: Limits | None, path: Path) -> Iterator[Budget]:
    """One account for all that is read inside.

    Args:
        limits: What may be taken; None: what the machine has.
        path: The file to be named, until another is read.

    Raises:
        LimitError: The memory did not suffice.
    """
    account = Budget(limits or default(), path)
    token = _current.set(account)
    try:
        yield account
    except MemoryError as error:
        raise account.exceeded("it does not fit into memory") from error
    finally:
        _current.reset(token)


@contextlib.contextmanager
def reading(path: Path) -> Iterator[Budget]:
    """The account for one file: that of the import that goes on, else one of its own."""
    account = _current.get()
    if account is None:
        with applied(None, path) as account:
            yield account
        return
    account.path = path
    yield account


@contextlib.contextmanager
def walled(limits: Limits) -> Iterator[None]:
    """Let this process take no more memory than `limits` beyond what it has, of which the kernel sees to it.

    It holds for the whole process, so it is for programs that do nothing else meanwhile. Files that are only mapped
    do not count. Where the system has no such limit, nothing happens.
    """
    try:
        import resource  # noqa: PLC0415  (not on every system)

        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    except (ImportError, OSError):
        yield
        return
    here = next((int(line.split()[1]) << 10 for line in status.splitlines() if line.startswith("VmData:")), 0)
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wall = here + limits.memory_bytes
    if here and (soft == resource.RLIM_INFINITY or wall < soft):
        resource.setrlimit(resource.RLIMIT_DATA, (wall, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def size_text(size: int) -> str:
    """A size as the option takes it: `4 GiB`, `300 MiB`."""
    unit, name = next(((u, n) for u, n in ((1 << 30, "GiB"), (1 << 20, "MiB")) if size % u == 0), (1 << 20, "MiB"))
    return f"{size // unit} {name}" if size % unit == 0 else f"{size / unit:.1f} {name}"
