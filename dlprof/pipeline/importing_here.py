"""Reads the traces of many ranks on this machine: several at a time, in processes.

What a process reads is in its own memory, and ends with it: the whole takes as much as so many single imports as go
on at a time, however many ranks there are.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing.context import BaseContext
from pathlib import Path

from dlprof.ingest.limits import Limits, chosen
from dlprof.pipeline import importing_rank
from dlprof.pipeline.importing_rank import Made

_FILES_OF_A_PROCESS = 32
"""Traces that one process reads after each other: what libraries keep for themselves goes with it."""


@dataclass(frozen=True)
class Here:
    """Processes that read.

    Attributes:
        jobs: How many at a time; None: as many as there are cores.
        limits: What reading may take of the machine, all processes together; None: a quarter of its memory.

    Raises:
        UsageError: `jobs` makes no sense.
    """

    jobs: int | None = None
    limits: Limits | None = None

    def __post_init__(self) -> None:
        importing_rank.check_jobs(self.jobs)

    def read(self, places: Sequence[tuple[Path, Path]], reader: str | None) -> Iterator[tuple[int, Made]]:
        """Read traces in any order; one at a time in this process.

        Args:
            places: Each trace, and where its run goes.
            reader: Name of the format of all; None: told from their content.

        Yields:
            The number of a trace among `places`, and what was made of it.
        """
        count = min(self.jobs or len(os.sched_getaffinity(0)), len(places))
        each = importing_rank.share_of(self.limits or chosen(None), count)
        if count == 1:
            for number, (path, place) in enumerate(places):
                yield number, importing_rank.read(path, place, reader, each)
            return
        # New processes for each batch: `max_tasks_per_child` stands still when all reach it (CPython issue 115634).
        batch = count * _FILES_OF_A_PROCESS
        for first in range(0, len(places), batch):
            pool = ProcessPoolExecutor(count, mp_context=_context(), initializer=_begin)
            try:
                waiting = {
                    pool.submit(importing_rank.read, path, place, reader, each): number
                    for number, (path, place) in enumerate(places[first : first + batch], first)
                }
                for one in as_completed(waiting):
                    yield waiting[one], _result(one)
            finally:
                pool.shutdown(cancel_futures=True)


def _context() -> BaseContext:
    """How processes are begun: as copies of this one where that is safe, else from nothing.

    Loading what reads traces takes as long as reading a trace or two. A copy has no thread but one: where another one
    may hold a lock now, as a notebook's may, nobody would ever give it back there.
    """
    is_alone = threading.active_count() == 1 and "duckdb" not in sys.modules
    return multiprocessing.get_context("fork" if is_alone else "spawn")


def _begin() -> None:
    """In each process: Ctrl-C is the affair of the one that started it, whose end is theirs."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _result(done: Future[Made]) -> Made:
    try:
        return done.result()
    except BrokenProcessPool:
        return Made(error="a process that read traces was killed, as by the system where memory is short: try --jobs 1")
