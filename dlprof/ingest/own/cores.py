"""Reads `raw/cores.jsonl` into the tables cores, machine, process_samples and processes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from dlprof.ingest.artifact import ArtifactError, Health, ProcessId
from dlprof.ingest.own import jsonl
from dlprof.ingest.own.phase_thread_times import Counters, PhaseThreadTimes
from dlprof.ingest.own.process_lives import ProcessLives
from dlprof.schema.manifest import PhaseThread
from dlprof.schema.tables import TABLES

FORMAT = "dlprof.cores/1"
_TABLES = ("cores", "machine", "process_samples", "processes", "handles")
MOST, MOST_NAMED = 128, 10_000
"""Processes that the sampler follows, at a time and in all (`dlprof_probes.sidecar.processes`)."""
_WORTH_SAYING_NS = 100_000_000
_PIECE = 1 << 14
"""Rows of a piece."""
_COUNTERS = (
    "switches_voluntary", "switches_involuntary", "read_bytes", "write_bytes", "run_ns", "wait_ns", "main_run_ns",
    "main_wait_ns", "io_calls", "anonymous_bytes", "file_bytes", "shared_bytes", "swap_bytes", "peak_rss_bytes",
    "address_space_bytes", "pss_bytes", "uss_bytes", "descriptors",
)  # fmt: skip
_OF_THREADS = ("run_ns", "wait_ns", "main_run_ns", "main_wait_ns")
_STALLS = ("stall_cpu_ns", "stall_memory_ns", "stall_io_ns", "throttled_ns")
_LIMITS = (
    "limit_address_space_bytes", "limit_data_bytes", "limit_group_bytes", "group_used_bytes", "group_killed_count",
    "limit_descriptors",
)  # fmt: skip


def read(path: Path, process: ProcessId) -> tuple[dict[str, pa.Table], list[Health], dict[str, Any]]:
    """The tables as a whole, what the user must know, and the trailer ({} where the file was cut).

    Raises:
        NothingRecordedError: The file is empty.
        ArtifactError: It is damaged or of another format.
    """
    samples = Samples(path, process)
    made: dict[str, list[pa.Table]] = {name: [TABLES[name].empty_table()] for name in _TABLES}
    for name, piece in samples.pieces():
        made[name].append(piece)
    tables = {name: pa.concat_tables(found).unify_dictionaries() for name, found in made.items()}
    return tables, samples.health(), samples.trailer


class Samples:
    """The file, read once and piece by piece.

    Attributes:
        last_ns: The last sample of cores (ns on the run's timeline), once it was read; None: there is none.

    Args:
        path: The file.
        process: The traced process.
        turns: When phases are of other threads than the main one.

    Raises:
        NothingRecordedError: The file is empty.
        ArtifactError: It is of another format.
    """

    def __init__(self, path: Path, process: ProcessId, turns: Sequence[PhaseThread] = ()) -> None:
        self._path = path
        self._lines = jsonl.read(path, FORMAT)
        self._reader = _Reader(self._lines, process, turns)
        self.last_ns: int | None = None

    @property
    def trailer(self) -> dict[str, Any]:
        """The last line, once all was read; empty: the file was cut."""
        return self._lines.trailer or {}

    def health(self) -> list[Health]:
        """What the user must know, once all was read."""
        return [*self._lines.health("cores and processes"), *_unseen(self._reader)]

    def pieces(self) -> Iterator[tuple[str, pa.Table]]:
        """The tables piece by piece: (name, rows).

        Raises:
            ArtifactError: A row is damaged.
        """
        waiting: dict[str, list[dict[str, Any]]] = {name: [] for name in _TABLES}
        try:
            for name, row in self._reader.rows():
                # Beside a process that was there before its run the first sample is taken before the run begins.
                if row.get("time_ns", 1) > 0:
                    waiting[name].append(row)
                if len(waiting[name]) >= _PIECE:
                    yield self._piece(name, waiting[name])
            for name, rows in waiting.items():
                yield self._piece(name, rows)
        except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, pa.ArrowException) as error:
            raise ArtifactError(f"damaged row: {error}", path=self._path) from error

    def _piece(self, name: str, rows: list[dict[str, Any]]) -> tuple[str, pa.Table]:
        if name == "cores" and rows:
            self.last_ns = rows[-1]["time_ns"]
        piece = pa.Table.from_pylist(rows, schema=TABLES[name])
        rows.clear()
        return name, piece


class _Reader:
    """Rows of the tables out of lines; a sample of cores waits until the one after it, with what is between."""

    def __init__(self, lines: jsonl.Lines, process: ProcessId, turns: Sequence[PhaseThread]) -> None:
        self._lines = lines
        self._phase_threads = PhaseThreadTimes(turns)
        self._process = process
        self._ticks = lines.header["ticks_per_s"]
        self._page = lines.header["page_bytes"]
        self._traced = lines.header["pid"]
        self._before: list[Any] | None = None
        self._waiting: list[Any] | None = None
        self._slow: list[Any] | None = None
        """The last slow sample."""
        self._threads: list[Any] | None = None
        """What was last told of threads."""
        self._known: list[Any] | None = None
        """The last sample of cores that was taken together with a slow one."""
        self._alive: list[Any] | None = None
        """The last sample of cores in which the traced process was there."""
        self.lives = ProcessLives(process, self._traced, 1_000_000_000 // self._ticks, self._page)
        self._unseen_ticks = 0

    @property
    def unseen_ns(self) -> int:
        """CPU time of children that is in no process's own figures (ns)."""
        return int(self._unseen_ticks * 1_000_000_000 // self._ticks)

    def rows(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """(table, row), in order of time."""
        for row in self._lines:
            kind = row[0]
            if kind in ("m", "t") and self._waiting is not None and row[1] > self._waiting[1]:
                yield from self._sampled()  # this one is of the next sample
            if kind == "m":
                self._slow = row
                self.lives.told(row)
            elif kind == "t":
                self._threads = row
            elif kind == "p":
                self.lives.appears_or_ends(row)
            elif kind == "n":
                self.lives.beside(row)
            elif kind == "h":
                yield from (("handles", named) for named in self._handles(*row[1:]))
            elif kind == "c":
                yield from self._sampled()
                self._waiting = row
                self.lives.sampled(row)
        yield from self._sampled()
        for life in self.lives.rows():
            yield "processes", life

    def _sampled(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """What the sample that waits says, now that the slow one of its time has come, too."""
        before, after = self._before, self._waiting
        if after is None:
            return
        slow = self._slow if self._slow is not None and self._slow[1] == after[1] else None
        if before is not None:
            yield from (("cores", row) for row in self._cores(before, after))
            yield from (("process_samples", row) for row in self._process_samples(before, after, slow))
        if self._has_traced(after):
            self._alive = after
        if slow is not None:
            if self._known is not None:
                yield "machine", self._machine(self._known, after, slow)
            self._known = after
        self._before, self._waiting = after, None

    def _handles(
        self, time_ns: int, pid: int, kind: str, count: int, looked_at: int, names: list[list[Any]]
    ) -> Iterator[dict[str, Any]]:
        """What open descriptors, or threads, of a process are."""
        for name, of_name in names:
            yield {
                **self._process.columns,
                "pid": pid,
                "time_ns": self._at(time_ns),
                "kind": kind,
                "count": count,
                "looked_at": looked_at,
                "name": name,
                "of_name": of_name,
            }

    def _at(self, time_ns: int) -> int:
        return time_ns - self._process.origin_ns

    def _cores(self, before: list[Any], after: list[Any]) -> Iterator[dict[str, Any]]:
        """Busy shares of each core between two samples, out of the ticks that the kernel counted on it."""
        frequencies = self._slow[5] if self._slow is not None else None
        for core, (old, new) in enumerate(zip(before[2], after[2], strict=True)):
            delta = [max(0, b - a) for a, b in zip(old, new, strict=True)]
            yield {
                "time_ns": self._at(after[1]),
                "interval_ns": after[1] - before[1],
                "core": core,
                **_shares(delta),
                "freq_mhz": frequencies[core] if frequencies and core < len(frequencies) else None,
            }

    def _machine(self, before: list[Any], after: list[Any], slow: list[Any]) -> dict[str, Any]:
        """The machine as a whole between two slow samples, where ticks are not too coarse.

        Where the traced process has ended meanwhile its ticks are gone: up to the last sample in which it was there.
        """
        is_split = self._has_traced(after) or not self._has_traced(before)
        if not is_split and self._alive is not None and self._alive[1] > before[1]:
            after, is_split = self._alive, True
        interval = after[1] - before[1]
        # The kernel may count ticks of the time before, above all in a short first interval: no core is busy for longer
        # than all its ticks.
        scale = 100 / max(self._ticks * interval / 1e9, _ticks_of_a_core(before[2], after[2]))
        busy = scale * (_busy(after[2]) - _busy(before[2]))
        own = scale * (after[3] - before[3])
        tree = scale * _tree_ticks(before[4], after[4])
        stalls = slow[7] if len(slow) > 7 else [None] * 4
        limits = slow[8] if len(slow) > 8 else [None] * len(_LIMITS)
        return {
            "time_ns": self._at(after[1]),
            "interval_ns": interval,
            "cpu_pct": busy,
            # Clock ticks of three sources are compared: a little below zero is their grain.
            "others_cpu_pct": max(0.0, busy - own - tree) if is_split else None,
            "dlprof_cpu_pct": own,
            "memory_available_bytes": slow[2],
            "swap_used_bytes": slow[3],
            "temperature_c": slow[4],
            **dict(zip(_STALLS, stalls, strict=True)),
            **dict(zip(_LIMITS, [*limits, None], strict=False)),  # an older one has no descriptors
        }

    def _has_traced(self, sample: list[Any]) -> bool:
        return any(process[0] == self._traced for process in sample[4])

    def _process_samples(self, before: list[Any], after: list[Any], slow: list[Any] | None) -> Iterator[dict[str, Any]]:
        """Each process of the traced tree between two samples."""
        told = {process[0]: process for process in slow[6]} if slow is not None else {}
        old = {process[0]: process for process in before[4]}
        unseen = max(0, _tree_ticks(before[4], after[4]) - _seen_ticks(before[4], after[4]))
        self._unseen_ticks += unseen
        if self._threads is not None and self._threads[1] <= after[1]:
            self._phase_threads.take(self._threads[2])
            self._threads = None
        for pid, ticks, rss, threads, minor, major, *_ in after[4]:
            counters = told.get(pid, [pid])
            known = dict(zip(_COUNTERS, [*counters[1:], *[None] * len(_COUNTERS)], strict=False))
            elapsed = after[1] - before[1]
            used = ticks - old[pid][1] if pid in old else None
            if pid == self._traced:
                used = None if used is None else used + unseen
                times = Counters(*(known[name] for name in _OF_THREADS))
                known.update(zip(_OF_THREADS, self._phase_threads.at(self._at(after[1]), times), strict=True))
            yield {
                **self._process.columns,
                "pid": pid,
                "time_ns": self._at(after[1]),
                "interval_ns": elapsed,
                "cpu_pct": None if used is None else 100 * used / self._ticks / (elapsed / 1e9),
                "rss_bytes": rss * self._page,
                "threads": threads,
                "faults_minor": minor,
                "faults_major": major,
                **known,
            }


def _unseen(reader: _Reader) -> Iterator[Health]:
    """What of the processes below the script is in no figures of their own."""
    unseen, (beside, unnamed) = reader.unseen_ns, reader.lives.uncounted
    if unseen >= _WORTH_SAYING_NS:
        text = (
            f"Children used {unseen / 1e9:.1f} s of CPU time between the last look at them and their end, or came and "
            "went between two looks: it is counted with the script's own CPU share, and in no child's."
        )
        yield Health("children-unseen", "info", text)
    if beside or unnamed:
        text = (
            f"{beside + unnamed} processes that the script started are in no table: no more than {MOST} are followed "
            f"at a time, and {MOST_NAMED} in all. Their CPU time is counted when they end."
        )
        yield Health("children-not-followed", "info", text, beside + unnamed)


def _shares(delta: list[int]) -> dict[str, float | None]:
    user, system, iowait, steal, idle = delta
    total = user + system + iowait + steal + idle
    if not total:
        return dict.fromkeys(("user_pct", "system_pct", "iowait_pct", "steal_pct", "busy_pct"))
    shares = {
        "user_pct": user,
        "system_pct": system,
        "iowait_pct": iowait,
        "steal_pct": steal,
        "busy_pct": user + system + steal,
    }
    return {name: 100 * ticks / total for name, ticks in shares.items()}


def _busy(cores: list[list[int]]) -> int:
    return sum(user + system for user, system, _iowait, _steal, _idle in cores)


def _ticks_of_a_core(before: list[list[int]], after: list[list[int]]) -> float:
    """Ticks of a core between two samples, busy and idle, on average."""
    return (sum(map(sum, after)) - sum(map(sum, before))) / max(1, len(after))


def _tree_ticks(before: list[list[int]], after: list[list[int]]) -> int:
    """Ticks of the whole tree between two samples.

    The kernel adds those of a child that is over to its parent's, so that none is lost, however short its life.
    """
    if any(len(process) < 7 for process in (*before, *after)):  # of a dlprof that did not keep them
        return _seen_ticks(before, after)
    total = [sum(process[1] + process[6] for process in sample) for sample in (before, after)]
    return max(total[1] - total[0], _seen_ticks(before, after))


def _seen_ticks(before: list[list[int]], after: list[list[int]]) -> int:
    """Ticks of the processes that are there; one that is new counts from its start, one that is gone not at all."""
    old = {process[0]: process[1] for process in before}
    return sum(ticks - old.get(pid, 0) for pid, ticks, *_ in after)
