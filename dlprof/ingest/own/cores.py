"""Reads `raw/cores.jsonl` into the tables cores, machine, process_samples and processes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa

from dlprof.ingest.artifact import ArtifactError, Health, ProcessId
from dlprof.ingest.own import jsonl
from dlprof.schema.tables import TABLES

FORMAT = "dlprof.cores/1"
_COUNTERS = (
    "switches_voluntary", "switches_involuntary", "read_bytes", "write_bytes", "run_ns", "wait_ns", "main_run_ns",
    "main_wait_ns", "io_calls",
)  # fmt: skip
_STALLS = ("stall_cpu_ns", "stall_memory_ns", "stall_io_ns", "throttled_ns")


def read(path: Path, process: ProcessId) -> tuple[dict[str, pa.Table], list[Health], dict[str, Any]]:
    """The four tables, what the user must know, and the trailer ({} where the file was cut).

    Raises:
        NothingRecordedError: The file is empty.
        ArtifactError: It is damaged or of another format.
    """
    lines = jsonl.read(path, FORMAT)
    try:
        reader = _Reader(lines, process)
        tables = {
            "cores": _table("cores", reader.cores()),
            "machine": _table("machine", reader.machine()),
            "process_samples": _table("process_samples", reader.process_samples()),
            "processes": _table("processes", reader.processes()),
        }
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, pa.ArrowException) as error:
        raise ArtifactError(f"damaged row: {error}", path=path) from error
    return tables, lines.health("cores and processes"), lines.trailer or {}


def _table(name: str, rows: Iterator[dict[str, Any]]) -> pa.Table:
    # Beside a process that was there before its run the first sample is taken before the run begins.
    return pa.Table.from_pylist([row for row in rows if row.get("time_ns", 1) > 0], schema=TABLES[name])


class _Reader:
    def __init__(self, lines: jsonl.Lines, process: ProcessId) -> None:
        self._process = process
        self._ticks = lines.header["ticks_per_s"]
        self._page = lines.header["page_bytes"]
        self._fast = [row for row in lines.rows if row[0] == "c"]
        self._slow = [row for row in lines.rows if row[0] == "m"]
        self._appearances = [row for row in lines.rows if row[0] == "p"]
        self._traced = lines.header["pid"]

    def _at(self, time_ns: int) -> int:
        return time_ns - self._process.origin_ns

    def cores(self) -> Iterator[dict[str, Any]]:
        """Busy shares of each core between two samples, out of the ticks that the kernel counted on it."""
        slow = iter(self._slow)
        current = next(slow, None)
        following = next(slow, None)
        for before, after in pairwise(self._fast):
            while following is not None and following[1] <= after[1]:
                current, following = following, next(slow, None)
            frequencies = current[5] if current is not None else None
            for core, (old, new) in enumerate(zip(before[2], after[2], strict=True)):
                delta = [max(0, b - a) for a, b in zip(old, new, strict=True)]
                yield {
                    "time_ns": self._at(after[1]),
                    "interval_ns": after[1] - before[1],
                    "core": core,
                    **_shares(delta),
                    "freq_mhz": frequencies[core] if frequencies and core < len(frequencies) else None,
                }

    def machine(self) -> Iterator[dict[str, Any]]:
        """The machine as a whole between two slow samples (about a second), where ticks are not too coarse."""
        marks = {row[1]: row for row in self._slow}
        known = [row for row in self._fast if row[1] in marks]
        for before, after in pairwise(known):
            interval = after[1] - before[1]
            scale = 100 * 1e9 / self._ticks / interval
            busy = scale * (_busy(after[2]) - _busy(before[2]))
            own = scale * (after[3] - before[3])
            tree = scale * _tree_ticks(before[4], after[4])
            slow = marks[after[1]]
            stalls = slow[7] if len(slow) > 7 else [None] * 4
            yield {
                "time_ns": self._at(after[1]),
                "interval_ns": interval,
                "cpu_pct": busy,
                # Clock ticks of three sources are compared: a little below zero is their grain.
                "others_cpu_pct": max(0.0, busy - own - tree),
                "dlprof_cpu_pct": own,
                "memory_available_bytes": slow[2],
                "swap_used_bytes": slow[3],
                "temperature_c": slow[4],
                **dict(zip(_STALLS, stalls, strict=True)),
            }

    def process_samples(self) -> Iterator[dict[str, Any]]:
        """Each process of the traced tree between two samples."""
        slow = {row[1]: {process[0]: process for process in row[6]} for row in self._slow}
        for before, after in pairwise(self._fast):
            old = {process[0]: process for process in before[4]}
            unseen = max(0, _tree_ticks(before[4], after[4]) - _seen_ticks(before[4], after[4]))
            for pid, ticks, rss, threads, minor, major, *_ in after[4]:
                counters = slow.get(after[1], {}).get(pid, [pid])
                known = dict(zip(_COUNTERS, [*counters[1:], *[None] * len(_COUNTERS)], strict=False))
                elapsed = after[1] - before[1]
                used = ticks - old[pid][1] if pid in old else None
                if used is not None and pid == self._traced:
                    used += unseen
                yield {
                    **self._identity(pid),
                    "time_ns": self._at(after[1]),
                    "interval_ns": elapsed,
                    "cpu_pct": None if used is None else 100 * used / self._ticks / (elapsed / 1e9),
                    "rss_bytes": rss * self._page,
                    "threads": threads,
                    "faults_minor": minor,
                    "faults_major": major,
                    **known,
                }

    def processes(self) -> Iterator[dict[str, Any]]:
        """Every process of the tree, with when it was first seen and found gone."""
        gone = {row[2]: self._at(row[1]) for row in self._appearances if row[5]}
        for _, time_ns, pid, parent, command, ended in self._appearances:
            if not ended:
                yield {
                    **self._identity(pid),
                    "parent_pid": parent,
                    "role": "script" if pid == self._traced else "child",
                    "command": command,
                    "start_ns": 0 if pid == self._traced else self._at(time_ns),
                    "end_ns": gone.get(pid),
                }

    def _identity(self, pid: int) -> dict[str, Any]:
        return {**self._process.columns, "pid": pid}


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
