"""Makes a run of ranks of a folder of foreign traces, one of each rank: several at a time, in processes.

What a process reads is in its own memory, and ends with it: the whole takes as much as so many single imports as go
on at a time, however many ranks there are. A rank whose trace cannot be read does not keep the others from being there.
"""

from __future__ import annotations

import multiprocessing
import os
import re
import shutil
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from datetime import datetime
from multiprocessing.context import BaseContext
from pathlib import Path
from typing import Any

from msgspec import structs

from dlprof import rundir
from dlprof.errors import BadDataError, DlprofError, NoInputError, Report, UsageError
from dlprof.ingest.formats import registry as formats
from dlprof.ingest.limits import Limits, chosen, walled
from dlprof.pipeline import importing, rank_folders
from dlprof.rundir import RunDir
from dlprof.schema.manifest import Rank

_BY_TRACE, _BY_NAME = "trace", "file name"
_NAMED = re.compile(r"rank[-_ ]?(\d{1,6})(?!\d)", re.IGNORECASE)
_MOST = 1 << 15
"""Ranks that the tables can hold."""
_FILES_OF_A_PROCESS = 32
"""Traces that one process reads after each other: what libraries keep for themselves goes with it."""


@dataclass
class ImportedRanks:
    """What became of the files of a folder.

    Attributes:
        folder: The run of ranks.
        ranks: Rank to the name of its file.
        refused: Names of the files that no rank was made of, and why.
        passed_over: Names of the files that are no traces.
    """

    folder: RunDir
    ranks: dict[int, str] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    passed_over: list[str] = field(default_factory=list)


def import_folder(
    folder: Path,
    output: Path | None,
    *,
    reader: str | None,
    report: Report,
    limits: Limits | None = None,
    jobs: int | None = None,
) -> ImportedRanks:
    """Read the traces of all ranks.

    Args:
        folder: Where they lie, one file of each rank.
        output: The folder of the run of ranks; None: a new one below `dlprof_runs/`.
        reader: Name of the format of all files; None: told from their content.
        report: Takes a line for the user about each.
        limits: What reading may take of the machine, all processes together; None: a quarter of its memory.
        jobs: Processes at a time; None: as many as there are cores.

    Raises:
        NoInputError: There is no trace in it.
        BadDataError: No rank could be read.
        CannotCreateError: The output cannot be written, or holds something.
        UsageError: `jobs` makes no sense.
    """
    if jobs is not None and jobs < 1:
        raise UsageError(f"--jobs must be at least 1, not {jobs}.")
    files = [path for path in sorted(folder.iterdir()) if not path.name.startswith(".") and path.is_file()]
    if not files:
        raise _no_trace(folder)
    if output is not None:
        rundir.refuse_full(output)
    now = datetime.now().astimezone()
    wanted = output or rundir.free_path(folder.resolve().name or "ranks", now)
    count = min(jobs or len(os.sched_getaffinity(0)), len(files))
    with importing.part_of(wanted) as part:
        shutil.rmtree(part / "raw")
        made = ImportedRanks(RunDir(part))
        work = _Import(made, report)
        work.read(files, reader, limits or chosen(None), count)
        if len(made.passed_over) == len(files):
            raise _no_trace(folder)
        work.finish()
        made.folder = importing.named_folder(part, wanted, chosen=output is not None)
    return made


def _no_trace(folder: Path) -> NoInputError:
    return NoInputError(f"There is no trace in {folder}.", hint="dlprof import --list names the formats")


@dataclass(frozen=True)
class _Made:
    """What a process made of a file: the facts of its trace, or why it made nothing."""

    facts: dict[str, Any] = field(default_factory=dict)
    error: str | None = None
    is_trace: bool = True
    """Whether a reader knows it."""


class _Import:
    """Reads the files.

    Args:
        made: What became of them so far.
        report: Takes a line for the user.
    """

    def __init__(self, made: ImportedRanks, report: Report) -> None:
        self._made = made
        self._report = report
        self._worlds: list[int] = []
        self._done = self._files = 0

    def read(self, files: Sequence[Path], reader: str | None, limits: Limits, count: int) -> None:
        """Read all of them, `count` at a time; with one, in this process."""
        self._files = len(files)
        each = _share_of(limits, count)
        if count == 1:
            for number, path in enumerate(files):
                self._take(path, number, _read(path, self._place(number), reader, each))
            return
        # New processes for each batch: `max_tasks_per_child` stands still when all reach it (CPython issue 115634).
        batch = count * _FILES_OF_A_PROCESS
        # The largest first, so that none of them is begun when all others are over.
        numbered = sorted(enumerate(files), key=lambda one: -one[1].stat().st_size)
        for first in range(0, len(numbered), batch):
            self._read_batch(numbered[first : first + batch], reader, each, count)

    def _read_batch(self, files: Sequence[tuple[int, Path]], reader: str | None, limits: Limits, count: int) -> None:
        pool = ProcessPoolExecutor(min(count, len(files)), mp_context=_context(), initializer=_begin)
        try:
            waiting = {
                pool.submit(_read, path, self._place(number), reader, limits): (number, path) for number, path in files
            }
            for one in as_completed(waiting):
                number, path = waiting[one]
                self._take(path, number, _result(one))
        finally:
            pool.shutdown(cancel_futures=True)

    def _place(self, number: int) -> Path:
        return self._made.folder.path / f".file-{number:05d}"

    def _take(self, path: Path, number: int, told: _Made) -> None:
        self._done += 1
        of = self._files
        place = self._place(number)
        if not told.is_trace:
            self._made.passed_over.append(path.name)
            return
        why = told.error
        if why is None:
            why = self._refused(path, told, place)
        if why is not None:
            shutil.rmtree(place, ignore_errors=True)
            self._made.refused[path.name] = why
            self._report(f"{path.name}: not taken: {why}")
        elif (
            of <= 16 or self._done % 16 == 0 or self._done == of
        ):  # a line for each of a thousand tells nobody anything
            self._report(f"{self._done}/{of} {path.name}")

    def _refused(self, path: Path, told: _Made, place: Path) -> str | None:
        """Give a run its rank and its place; why not, if that cannot be."""
        rank = _rank_of(path, told.facts)
        if rank is None:
            return "neither the trace nor the name of its file tells a rank"
        if rank.rank in self._made.ranks:
            return f"rank {rank.rank} is there already, of {self._made.ranks[rank.rank]}"
        folder = RunDir(place)
        folder.write_manifest(structs.replace(folder.read_manifest(), rank=rank))
        place.rename(place.parent / rank_folders.name_of(rank))
        self._made.ranks[rank.rank] = path.name
        if rank.world:
            self._worlds.append(rank.world)
        return None

    def finish(self) -> None:
        """Say what the folder is.

        Raises:
            BadDataError: There is no rank in it.
        """
        made = self._made
        made.passed_over.sort()
        if not made.ranks:
            file, why = next(iter(made.refused.items()))
            raise BadDataError(f"No rank could be read. {file}: {why}.")
        first = made.folder.path / f"rank-{min(made.ranks):03d}"
        world = max(self._worlds, default=None)
        made.folder.write_manifest(rank_folders.shared_manifest(RunDir(first).read_manifest(), world))


def _share_of(limits: Limits, count: int) -> Limits:
    """What each of several processes may take."""
    if count == 1:
        return limits
    share = Limits.of_memory(limits.memory_bytes // count)
    return replace(share, threads=max(1, len(os.sched_getaffinity(0)) // count))


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


def _read(path: Path, place: Path, reader: str | None, limits: Limits) -> _Made:
    """Read one file into a run; in a process of its own."""
    if reader is None:
        try:
            reader = formats.find(path).name
        except DlprofError:
            return _Made(is_trace=False)
    try:
        with walled(limits):
            run = importing.import_files([path], place, reader=reader, report=_silent, limits=limits)
        return _Made(importing.facts_of(run))
    except DlprofError as error:
        return _Made(error=error.message.removeprefix(f"{path.name}: "))


def _silent(_line: str) -> None:
    """Lines about each file are said by the one that started this process."""


def _result(done: Future[_Made]) -> _Made:
    try:
        return done.result()
    except BrokenProcessPool:
        return _Made(
            error="a process that read traces was killed, as by the system where memory is short: try --jobs 1"
        )


def _rank_of(path: Path, facts: dict[str, Any]) -> Rank | None:
    rank, world = facts.get("rank"), facts.get("world_size")
    known = type(world) is int and 0 < world <= _MOST
    if type(rank) is int and 0 <= rank < _MOST:
        return Rank(rank=rank, world=world if known else None, by=_BY_TRACE)
    numbers = list(_numbers(path.name))
    if len(numbers) == 1 and numbers[0] < _MOST:
        return Rank(rank=numbers[0], world=world if known else None, by=_BY_NAME)
    return None


def _numbers(name: str) -> Iterator[int]:
    return (int(found[1]) for found in _NAMED.finditer(name))
