"""Loaders of a run, their passes, and which worker processes are whose."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dlprof.schema.vocabulary import ProcessRole
from dlprof.store.run import Run

OF_TORCH = "DataLoader"
"""Kind of loaders whose workers are started by `iter`; those of Keras are started by a thread of its own, later."""
OF_GLUON = "Gluon DataLoader"
"""Kind of loaders whose workers are started when they are made."""
_TICK_NS = 30_000_000
"""The kernel tells the start of a process to a clock tick; it may seem to be before the call that made it."""
_NUMBER = re.compile(r"(\d+)$")


@dataclass(frozen=True)
class Pass:
    """An iteration over a loader (ns on the run's timeline). None: there was no such call.

    Attributes:
        start_ns, end_ns: From `iter` to what was last seen of it.
        open_ns: What `iter` took.
        first_wait_ns: In the first `next`.
        waited_ns: In all that gave something.
        last_wait_ns: In the call that ended it.
        items: Batches that it gave.
    """

    start_ns: int
    end_ns: int
    open_ns: int
    first_wait_ns: int | None
    waited_ns: int
    last_wait_ns: int | None
    items: int

    @property
    def opened_ns(self) -> int:
        """When `iter` was over."""
        return self.start_ns + self.open_ns


@dataclass(frozen=True)
class WorkerProcess:
    """A process that worked for a loader.

    Attributes:
        index: Which of the loader's workers it was: those of later passes take the place of earlier ones.
        cpu_ns: CPU time (ns); None: not measured.
        start_ns, end_ns: Its life (ns); None: not known, or it was there at the end.
    """

    pid: int
    index: int
    cpu_ns: int | None
    start_ns: int
    end_ns: int | None


@dataclass(frozen=True)
class Loader:
    """A loader, as it was at its first pass; None: it was not told.

    Attributes:
        number: Tells it from others of the run.
        kind: `DataLoader`, `PyDataset`, `Sequence` or `generator`.
        dataset: Class of what it reads from.
        file, line: Where it was made, else where it was first iterated.
        workers: 0: the thread that asks does the work.
        uses_processes: Whether workers are processes, else threads.
        persistent: Whether they outlive a pass.
        queue: Batches that are made ahead.
        queue_per_worker: Whether that is by each worker.
        collate: Function that makes a batch of items.
        passes: In order of time.
        processes: Its workers, where these are processes.
    """

    number: int
    kind: str
    dataset: str | None
    file: str | None
    line: int | None
    workers: int
    uses_processes: bool
    persistent: bool | None
    queue: int | None
    queue_per_worker: bool
    batch_size: int | None
    collate: str | None
    passes: tuple[Pass, ...]
    processes: tuple[WorkerProcess, ...] = ()

    @property
    def items(self) -> int:
        """Batches of all passes."""
        return sum(one.items for one in self.passes)

    @property
    def place(self) -> tuple[str, int] | None:
        """(file, line), if they are known."""
        return (self.file, self.line) if self.file and self.line else None

    @property
    def called(self) -> str:
        """`DataLoader of Images`."""
        return f"{self.kind} of {self.dataset}" if self.dataset else self.kind

    @property
    def staff(self) -> str:
        """Its workers: `none`, `1 process`, `4 threads`."""
        if not self.workers:
            return "none"
        one, many = ("process", "processes") if self.uses_processes else ("thread", "threads")
        return f"{self.workers} {one if self.workers == 1 else many}"


def of_run(run: Run) -> tuple[Loader, ...]:
    """The loaders in the order in which they were first iterated."""
    rows = sorted(run.rows("loaders"), key=lambda row: row["start_ns"])
    by_number: dict[int, list[dict[str, Any]]] = {}
    for row in rows:
        by_number.setdefault(row["loader"], []).append(row)
    owned = _owned(rows, run)
    return tuple(_loader(number, own, owned.get(number, ())) for number, own in by_number.items())


def _loader(number: int, rows: Sequence[Mapping[str, Any]], processes: Sequence[WorkerProcess]) -> Loader:
    first = rows[0]
    return Loader(
        number=number,
        kind=first["kind"],
        dataset=first["dataset"],
        file=first["file"],
        line=first["line"],
        workers=first["workers"] or 0,
        uses_processes=bool(first["uses_processes"]),
        persistent=first["persistent"],
        queue=first["queue"],
        queue_per_worker=bool(first["queue_per_worker"]),
        batch_size=first["batch_size"],
        collate=first["collate"],
        passes=tuple(_pass(row) for row in rows),
        processes=tuple(processes),
    )


def _pass(row: Mapping[str, Any]) -> Pass:
    times = {name: row[name] for name in ("start_ns", "open_ns", "first_wait_ns", "waited_ns", "last_wait_ns")}
    return Pass(end_ns=row["start_ns"] + row["dur_ns"], items=row["item_count"], **times)


def _owned(passes: Sequence[Mapping[str, Any]], run: Run) -> Mapping[int, list[WorkerProcess]]:
    """The worker processes of each loader: those that were started while its workers were."""
    owned: dict[int, list[WorkerProcess]] = {}
    of_pass: dict[int, int] = {}
    with_processes = [row for row in passes if row["workers"] and row["uses_processes"]]
    children = run.table("processes").to_pylist() if with_processes else []
    for row in sorted(children, key=lambda row: row["start_ns"] or 0):
        if row["role"] != ProcessRole.WORKER or row["start_ns"] is None:
            continue
        place = _started_by(row["start_ns"], with_processes)
        if place is None:
            place = _made_with(row, with_processes, owned)
        if place is None:
            continue
        known, of_pass[place] = of_pass.get(place, 0), of_pass.get(place, 0) + 1
        owner = with_processes[place]
        index = _index(row["name"], owner, known)
        one = WorkerProcess(row["pid"], index, row["cpu_ns"], row["start_ns"], row["end_ns"])
        owned.setdefault(owner["loader"], []).append(one)
    return owned


def _started_by(start_ns: int, passes: Sequence[Mapping[str, Any]]) -> int | None:
    """The place of the pass, the last to begin, whose workers were being started then; None: of none."""
    for place in range(len(passes) - 1, -1, -1):
        row = passes[place]
        if row["kind"] == OF_GLUON:
            continue
        span_ns = row["open_ns"] if row["kind"] == OF_TORCH else row["dur_ns"]
        if row["start_ns"] - _TICK_NS <= start_ns <= row["start_ns"] + span_ns:
            return place
    return None


def _made_with(
    process: Mapping[str, Any], passes: Sequence[Mapping[str, Any]], owned: Mapping[int, Sequence[WorkerProcess]]
) -> int | None:
    """The place of the first pass of the loader that was made, with its workers, where the process was started."""
    for place, row in enumerate(passes):
        same = row["file"] is not None and (row["file"], row["line"]) == (process["file"], process["line"])
        has_all = len(owned.get(row["loader"], ())) >= row["workers"]
        if row["kind"] == OF_GLUON and same and not has_all and process["start_ns"] <= row["start_ns"]:
            return place
    return None


def _index(name: str | None, owner: Mapping[str, Any], known: int) -> int:
    """Its number among the loader's workers: by its name, where the loader gives it one; else by its turn."""
    found = _NUMBER.search(name or "") if owner["kind"] == OF_TORCH else None
    return int(found[1]) if found else known % owner["workers"]
