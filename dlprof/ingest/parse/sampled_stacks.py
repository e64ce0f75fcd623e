"""Stacks out of the begins and ends of frames that py-spy writes: of our own runs and of other people's files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from dlprof.ingest.file_names import FileNames
from dlprof.schema.vocabulary import MAIN_THREAD

_THREAD = re.compile(r"thread \((0x[0-9A-Fa-f]+|\d+)\)(?:: (.*))?$", re.DOTALL)
"""The number is hexadecimal where py-spy does not know the thread of the system: up to Python 3.7."""
_HIDDEN_FILES = ("<frozen importlib._bootstrap>", "<frozen importlib._bootstrap_external>")
_OWN = re.compile(r"/dlprof_probes/|/payload/follow(-workers)?/(sitecustomize|dlprof_pass_on|follow_settings)\.py$")
"""The probe, and its copies by which Pythons below a program are followed (`dlprof.launch.follow_folder`)."""
_LINES = range(1 << 31)


class Frame(NamedTuple):
    """A frame of a stack."""

    function: str
    file: str
    """As in the tables."""
    line: int


class FrameEvent(NamedTuple):
    """A frame that begins or ends."""

    process: Any
    thread: Any
    time_us: float
    phase: str
    """`B` or `E`; others tell the time only."""
    name: str = ""
    file: str = ""
    """Empty for what py-spy puts on the stacks besides: threads and processes."""
    line: int = 0


@dataclass
class SampledThread:
    """A thread as its events are read.

    Attributes:
        number: Its number; 0 until it is told.
        name: Its name; None: py-spy knows none.
        process: The number of its process, as the file has it.
    """

    number: int = 0
    name: str | None = ""
    process: Any = None
    _open: list[Frame | None] = field(default_factory=list)
    """Open frames, outermost first; None for one that no user should see."""
    _since: float = 0.0

    def until(self, time_us: float) -> StackInterval | None:
        """What stood until then; None where no time went by."""
        if time_us <= self._since:
            return None
        stack = tuple(frame for frame in self._open if frame is not None)
        start, self._since = self._since, time_us
        return StackInterval(self, start, time_us, stack)

    def take(self, event: FrameEvent, names: FileNames) -> None:
        """Let a frame begin or end."""
        if event.phase == "B":
            self._open.append(self._frame(event, names))
        elif event.phase == "E" and self._open:
            self._open.pop()

    def _frame(self, event: FrameEvent, names: FileNames) -> Frame | None:
        """The frame of a begin event; None for one that no user should see (threads, processes, dlprof's own)."""
        if not event.file:
            match = _THREAD.match(event.name)
            if match:
                self.number, self.name = int(match[1], 0), match[2]
            return None
        if event.file in _HIDDEN_FILES or _OWN.search(event.file):
            return None
        # Read from a process that was not stopped, a line may be whatever was in memory.
        return Frame(event.name, names.short(event.file), event.line if event.line in _LINES else 0)


class StackInterval(NamedTuple):
    """A stretch of constant stack; times in microseconds of py-spy's clock."""

    thread: SampledThread
    start_us: float
    end_us: float
    stack: tuple[Frame, ...]
    """Outermost first."""


def intervals(events: Iterable[FrameEvent], names: FileNames) -> Iterator[StackInterval]:
    """Stretches of constant stack, in the order in which they end.

    py-spy merges equal frames of one sample and the next, so a stack stands until an event changes it.
    """
    threads: dict[tuple[Any, Any], SampledThread] = {}
    for event in events:
        thread = threads.setdefault((event.process, event.thread), SampledThread(process=event.process))
        ended = thread.until(event.time_us)
        if ended is not None:
            yield ended  # before the event may give the thread another name
        thread.take(event, names)


@dataclass
class ThreadNames:
    """Names of threads where py-spy knows none: it tells those that Python gave.

    The main thread has none before `threading` is imported. Threads of an engine that call Python, as those of tf.data
    do, never have one.
    """

    process: int | None = None
    _first: int | None = None

    def name(self, number: int, told: str | None) -> str:
        """The name that was told; else the first thread, or that with the process's number, is the main one."""
        self._first = number if self._first is None else self._first
        if told is not None:
            return told
        return MAIN_THREAD if number in (self._first, self.process) else f"thread {number}"
