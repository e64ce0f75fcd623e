"""Reads py-spy's chrome traces (`raw/stacks-NNN.json`) into the tables stacks and frames."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from dlprof.ingest.artifact import ArtifactError, Health, ProcessId
from dlprof.ingest.file_names import FileNames
from dlprof.schema.tables import TABLES

_THREAD = re.compile(r"thread \((0x[0-9A-Fa-f]+|\d+)\)(?:: (.*))?$", re.DOTALL)
"""The number is hexadecimal where py-spy does not know the thread of the system: up to Python 3.7."""
_HIDDEN_FILES = ("<frozen importlib._bootstrap>", "<frozen importlib._bootstrap_external>")
_OWN = "/dlprof_probes/"

Frame = tuple[str, str, int]
"""Function, file (as in the tables), line."""


@dataclass
class _Thread:
    """A thread as its events are read: its open frames, outermost first, and since when they stand."""

    open: list[Frame | None] = field(default_factory=list)
    since: float = 0.0
    name: str | None = ""
    number: int = 0


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
        return "MainThread" if number in (self._first, self.process) else f"thread {number}"


@dataclass
class Stacks:
    """Sampled stacks of a run, growing segment by segment."""

    process: ProcessId
    names: FileNames
    root: str | None = None
    """File whose outermost frame is where stacks begin: what is around it is the notebook's own; None: all is shown."""
    rows: list[tuple[int, str, int, int, int]] = field(default_factory=list)
    """(thread, its name, start, duration, stack), ns on the run's time line."""
    known: dict[tuple[Frame, ...], int] = field(default_factory=dict)
    _threads: ThreadNames = field(init=False)
    error_ns: int | None = None
    """Greatest error of the segments' anchors (ns)."""

    def __post_init__(self) -> None:
        self._threads = ThreadNames(self.process.pid)

    def add(self, path: Path) -> list[Health]:
        """Read one segment and its anchor; returns what the user must know.

        Raises:
            ArtifactError: The file is damaged.
        """
        anchor = _load(path.with_name(path.name.partition(".")[0] + ".anchor.json"))
        events = _load(path)
        if not isinstance(events, list) or not isinstance(anchor, dict):
            raise ArtifactError("not a chrome trace of py-spy", path=path)
        try:
            # py-spy's zero lies between the start of the program and its first words; a start takes 1-5 ms.
            zero = anchor["after_ns"] - self.process.origin_ns
            self.error_ns = max(self.error_ns or 0, anchor["after_ns"] - anchor["before_ns"], 5_000_000)
            for interval in _intervals(events, self.names):
                self._append(zero, *interval)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise ArtifactError(f"damaged event: {error}", path=path) from error
        return _health(anchor)

    def _append(self, zero: int, thread: _Thread, start_us: float, end_us: float, stack: tuple[Frame, ...]) -> None:
        if self.root is not None:
            stack = stack[next((depth for depth, frame in enumerate(stack) if frame[1] == self.root), 0) :]
        if not stack or end_us <= start_us:
            return
        number = self.known.setdefault(stack, len(self.known))
        self.rows.append(
            (
                thread.number,
                self._threads.name(thread.number, thread.name),
                zero + round(start_us * 1e3),
                round((end_us - start_us) * 1e3),
                number,
            )
        )

    def tables(self) -> dict[str, pa.Table]:
        """The tables `stacks` and `frames`."""
        process = self.process
        columns = list(zip(*self.rows, strict=True)) if self.rows else [()] * 5
        size = len(self.rows)
        stacks = [[process.host] * size, [process.rank] * size, [process.pid] * size, *columns]
        frames = [(number, depth, *frame) for stack, number in self.known.items() for depth, frame in enumerate(stack)]
        return {
            "stacks": _arrays("stacks", stacks),
            "frames": _arrays("frames", list(zip(*frames, strict=True)) if frames else [()] * 5),
        }


def _arrays(name: str, columns: list[Any]) -> pa.Table:
    schema = TABLES[name]
    arrays = [pa.array(column, type=kind.type) for column, kind in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)


def _load(path: Path) -> Any:
    try:
        content = path.read_bytes()
        return json.loads(gzip.decompress(content) if path.suffix == ".gz" else content)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise ArtifactError(f"cannot be read: {error}", path=path) from error


def _health(anchor: dict[str, Any]) -> list[Health]:
    found = []
    samples, errors = anchor.get("samples"), anchor.get("errors")
    if samples and errors and errors > 0.2 * (samples + errors):
        text = f"py-spy could not read {errors} of {samples + errors} stacks."
        found.append(Health("stacks-incomplete", "info", text, errors))
    if anchor.get("behind"):
        found.append(Health("stacks-behind", "warning", "py-spy fell behind: the times of some stacks are not right."))
    if anchor.get("reason"):
        found.append(Health("stacks-lost", "warning", f"{anchor['reason'][0].upper()}{anchor['reason'][1:]}."))
    return found


def _intervals(
    events: list[dict[str, Any]], names: FileNames
) -> Iterator[tuple[_Thread, float, float, tuple[Frame, ...]]]:
    """Stretches of constant stack: (thread, start, end, stack), in microseconds of py-spy's clock.

    py-spy merges equal frames of one sample and the next, so a stack stands until an event changes it.
    """
    threads: dict[tuple[int, int], _Thread] = {}
    for event in events:
        thread = threads.setdefault((event["pid"], event["tid"]), _Thread())
        time_us = float(event["ts"])
        if time_us > thread.since:
            yield thread, thread.since, time_us, _visible(thread.open)
            thread.since = time_us
        if event["ph"] == "B":
            thread.open.append(_frame(event, thread, names))
        elif event["ph"] == "E" and thread.open:
            thread.open.pop()


def _frame(event: dict[str, Any], thread: _Thread, names: FileNames) -> Frame | None:
    """The frame of a begin event; None for one that no user should see (threads, processes, dlprof's own)."""
    file, name = event["args"]["filename"], event["name"]
    if not file:
        match = _THREAD.match(name)
        if match:
            thread.number, thread.name = int(match[1], 0), match[2]
        return None
    if file in _HIDDEN_FILES or _OWN in file:
        return None
    line = int(event["args"].get("line") or 0)
    # Read from a process that was not stopped, a line may be whatever was in memory.
    return name, names.short(file), line if 0 <= line < 1 << 31 else 0


def _visible(frames: list[Frame | None]) -> tuple[Frame, ...]:
    return tuple(frame for frame in frames if frame is not None)
