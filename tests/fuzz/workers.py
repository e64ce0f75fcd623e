"""Runs inputs in forked workers, under limits of memory and time; what a worker dies of is found as well."""

from __future__ import annotations

import mmap
import os
import pickle
import random
import resource
import selectors
import signal
import struct
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import NoReturn

from dlprof.ingest.formats import registry
from tests.fuzz import chain, mutations, seeds

CHUNK = 500
"""Inputs of a worker."""
SECONDS_PER_INPUT = 10
SECONDS_OF_WAITING = 600
MEMORY_BYTES = 1 << 30
"""What a worker may take beyond what it was forked with: more than an import may, so that a leak shows."""
_WHOLE_EVERY = 40
"""Of so many inputs one goes through import, reports and page; the others through reader and tables."""
_NUMBER = struct.Struct("<q")
_IN_MEMORY = Path("/dev/shm")
"""A disk would take longer than the readers."""


@dataclass(frozen=True)
class Task:
    """Some inputs for a reader: those from `first` on, of the inputs that a seed gives."""

    reader: str
    seed: int
    first: int
    count: int


@dataclass(frozen=True)
class Escape:
    """An input of which something came out that is not the reader's error."""

    reader: str
    number: int
    what: str
    """The exception and its place: equal for inputs that find the same."""
    trace: str
    content: bytes


@dataclass
class Outcome:
    """What became of a task."""

    counts: Counter[str] = field(default_factory=Counter)
    escapes: list[Escape] = field(default_factory=list)


class TookTooLongError(BaseException):
    """An input that takes longer than any of its size should."""


def content_of(reader: str, seed: int, number: int) -> tuple[bytes, str]:
    """An input, and how its file's name ends: always the same of the same numbers."""
    rng = random.Random(f"{seed}:{reader}:{number}")
    known = seeds.of(reader)
    # Small ones more often: they take less time, and a change in them is more likely one that matters.
    chosen = rng.choices(known, [1 / (2000 + len(seed.content)) for seed in known])[0]
    return mutations.mutated(chosen.content, rng), chosen.suffix


def run(tasks: Iterator[Task], jobs: int) -> Iterator[tuple[Task, Outcome]]:
    """Run tasks, some at the same time."""
    seeds.seeds()  # once, before the first fork
    running: dict[int, _Child] = {}
    with selectors.DefaultSelector() as ready:
        while True:
            while len(running) < jobs and (task := next(tasks, None)) is not None:
                child = _Child(task)
                running[child.pipe] = child
                ready.register(child.pipe, selectors.EVENT_READ)
            if not running:
                return
            for key, _ in ready.select():
                child = running[key.fd]
                if child.is_done():
                    ready.unregister(key.fd)
                    del running[key.fd]
                    yield child.task, child.outcome()


class _Child:
    """A forked worker."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self._at = mmap.mmap(-1, _NUMBER.size)
        self._said = b""
        self.pipe, theirs = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            _work(task, self._at, theirs)
        os.close(theirs)

    def is_done(self) -> bool:
        """Read what it says; whether that was all."""
        piece = os.read(self.pipe, 1 << 16)
        self._said += piece
        return not piece

    def outcome(self) -> Outcome:
        """What it found; of one that died, the input that it died of."""
        os.close(self.pipe)
        _, status = os.waitpid(self._pid, 0)
        if status == 0:
            found: Outcome = pickle.loads(self._said)  # noqa: S301  (of our own child)
            return found
        number = _NUMBER.unpack(self._at[:])[0]
        what = f"the worker died: {os.waitstatus_to_exitcode(status)}"
        content, _ = content_of(self.task.reader, self.task.seed, number)
        counts = Counter({"read": number - self.task.first, "escaped": 1})
        return Outcome(counts, [Escape(self.task.reader, number, what, what, content)])


def _work(task: Task, at: mmap.mmap, pipe: int) -> NoReturn:
    """Run a task in this process, which ends with it."""
    code = 1
    try:
        _limit()
        outcome = Outcome()
        with tempfile.TemporaryDirectory(
            prefix="dlprof-fuzz-", dir=_IN_MEMORY if _IN_MEMORY.is_dir() else None
        ) as folder:
            for number in range(task.first, task.first + task.count):
                at[:] = _NUMBER.pack(number)
                one_input(task, number, Path(folder), outcome)
        with os.fdopen(pipe, "wb") as target:
            target.write(pickle.dumps(outcome))
        code = 0
    finally:
        os._exit(code)


def _limit() -> None:
    def too_long(_signal: int, _frame: FrameType | None) -> None:
        raise TookTooLongError

    signal.signal(signal.SIGPROF, too_long)
    signal.signal(signal.SIGALRM, too_long)
    status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    held = next(int(line.split()[1]) << 10 for line in status.splitlines() if line.startswith("VmData:"))
    resource.setrlimit(resource.RLIMIT_DATA, (held + MEMORY_BYTES, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def one_input(task: Task, number: int, folder: Path, outcome: Outcome) -> None:
    """Run one input, and count what became of it."""
    content, suffix = content_of(task.reader, task.seed, number)
    whole = number % _WHOLE_EVERY == 0
    try:
        said = tried(content, suffix, task.reader, folder, whole=whole)
        outcome.counts[said] += 1
        outcome.counts["whole"] += whole
    except BaseException as error:  # noqa: BLE001  (all that comes out is what is looked for)
        outcome.counts["escaped"] += 1
        trace = "".join(traceback.format_exception(error))
        outcome.escapes.append(Escape(task.reader, number, _where(error), trace, content))


def tried(content: bytes, suffix: str, reader: str, folder: Path, *, whole: bool) -> str:
    """Give an input to a reader, or to all of an import, within its time."""
    path = folder / f"input{suffix}"
    path.write_bytes(content)
    # The processor's time: a machine that is busy with other things makes no input slow. Only what waits has the clock's.
    signal.setitimer(signal.ITIMER_PROF, SECONDS_PER_INPUT * (3 if whole else 1))
    signal.setitimer(signal.ITIMER_REAL, SECONDS_OF_WAITING)
    try:
        if whole:
            return chain.through_all(path, folder / "run")
        known = registry.named(reader)
        assert known is not None
        return chain.through_reader(path, known)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)


def _where(error: BaseException) -> str:
    """The exception, and the frame of ours that it came out of last."""
    cause = error.__cause__ if isinstance(error, chain.HiddenError) and error.__cause__ else error
    frames: Sequence[traceback.FrameSummary] = traceback.extract_tb(cause.__traceback__)
    ours = [frame for frame in frames if "/dlprof/" in frame.filename] or list(frames)
    last = ours[-1] if ours else None
    place = f"{Path(last.filename).name}:{last.lineno}" if last else "?"
    return f"{type(cause).__name__} at {place}"
