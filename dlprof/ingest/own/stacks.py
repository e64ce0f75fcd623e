"""Reads py-spy's chrome traces (`raw/stacks-NNN.json`) into the tables stacks and frames."""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from dlprof import safe_files
from dlprof.ingest.artifact import ArtifactError, Health, NothingRecordedError, ProcessId
from dlprof.ingest.file_names import FileNames
from dlprof.ingest.own.gone_threads import StackRow, cut, without_ended
from dlprof.ingest.own.native_stretches import NativeStretches
from dlprof.ingest.own.standing import Segment
from dlprof.ingest.own.torn_stacks import WholeStacks
from dlprof.ingest.own.worker_stacks import worker_part
from dlprof.ingest.parse.sampled_stacks import Frame, FrameEvent, StackInterval, ThreadNames, intervals
from dlprof.schema.tables import TABLES

_RATE_HZ = 20.0
"""Samples per second where an anchor does not say it."""
_MOST = 1 << 62
_PIDS = 1 << 31
_OURS = "dlprof_probes/inproc/thinning.py"
"""Where the thread of the line probe begins: it is none of the program's."""
_UNPACKED_MOST = 1 << 30
_LAST_LINE = 2_000_000
"""No file of Python has more: a frame with such a line was read where another object lay by then."""
_NEVER_IN_NAMES = "\0"
"""No system takes it in the name of a file: it was read where another object lay by then, too."""
_STACKS_TORN = 0.05
"""Share of stacks that were read in part from which on that is told."""
_STACKS_LOST = 0.2
"""Share of stacks that could not be read from which on that is told."""


@dataclass
class Stacks:
    """Sampled stacks of a run, growing segment by segment."""

    process: ProcessId
    names: FileNames
    root: str | None = None
    """File whose outermost frame is where stacks begin: what is around it is the notebook's own; None: all is shown."""
    ends: Mapping[int, int] | None = None
    """Process to its end (ns on the timeline), of those below the traced one that ended; None: nothing is known."""
    last_ns: int | None = None
    """Until when the process was looked at (ns on the timeline); None: to its end, after which there are no samples."""
    native: NativeStretches = field(default_factory=NativeStretches)
    """When Python ran on threads of an engine, as far as the probe saw it."""
    workers: set[int] = field(default_factory=set)
    """Processes that `multiprocessing` started, by their stacks."""
    pieces: list[pa.Table] = field(default_factory=list)
    """Rows of the table `stacks`, segment by segment, as far as nobody took them away."""
    known: dict[tuple[Frame, ...], int] = field(default_factory=dict)
    _whole: WholeStacks = field(default_factory=WholeStacks)
    _threads: dict[int, ThreadNames] = field(default_factory=dict)
    error_ns: int | None = None
    """Greatest error of the segments' anchors (ns)."""
    rate_hz: float | None = None
    """Samples per second, as the last segment's anchor says; None: no segment was read."""
    segments: list[Segment] = field(default_factory=list)
    """From when on (ns on the timeline) how many were taken a second."""

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
            error_ns = max(self.error_ns or 0, int(anchor["after_ns"] - anchor["before_ns"]), 5_000_000)
            rate_hz = float(anchor.get("rate_hz") or _RATE_HZ)
            legible, garbled = _legible(intervals(_events(events), self.names))
            told, torn = self._whole.complete(legible)
            rows = [_checked(row) for interval in told if (row := self._row(zero, interval)) is not None]
            unnamed = {one.thread.number for one in told if one.thread.name is None}
            rows = without_ended(rows, self.ends or {}, self.last_ns)
            kept, health = self._cut(rows, unnamed, anchor, rate_hz)
        except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
            raise ArtifactError(f"damaged event: {error}", path=path) from error
        self.pieces.append(self._piece(kept))
        self.error_ns, self.rate_hz = error_ns, rate_hz
        self.segments.append(Segment(zero, rate_hz))
        return [*health, *_completed(torn, len(told)), *_garbled(garbled)]

    def _cut(
        self, rows: list[StackRow], unnamed: set[int], anchor: dict[str, Any], rate_hz: float
    ) -> tuple[list[StackRow], list[Health]]:
        """The rows, cut to the time for which they can have stood, and what the user must know."""
        sure, rows = self.native.split(rows)
        lasting = None if self.ends is not None else {self.process.pid}
        if anchor.get("samples") is None:
            return rows + sure, _health(anchor)
        taken, errors = _counted(anchor)
        taken -= round(sum(row.dur for row in sure) * rate_hz / 1e9)
        kept = cut(rows, unnamed, taken, errors, rate_hz, lasting)
        return kept + sure, [*_health(anchor), *_shortened(rows, kept)]

    def _row(self, zero: int, interval: StackInterval) -> StackRow | None:
        """A stretch as a row; None where nothing is left of it."""
        thread, start_us, end_us, stack = interval
        if self.root is not None:
            stack = stack[next((depth for depth, frame in enumerate(stack) if frame.file == self.root), 0) :]
        pid = self._pid(thread.process)
        if pid != self.process.pid:
            inside = worker_part(stack)
            if inside is not None:
                self.workers.add(pid)
                stack = inside
        if not stack or end_us <= start_us or stack[0].file.endswith(_OURS):
            return None
        number = self.known.setdefault(stack, len(self.known))
        name = self._threads.setdefault(pid, ThreadNames(pid)).name(thread.number, thread.name)
        start, dur = zero + round(start_us * 1e3), round((end_us - start_us) * 1e3)
        return StackRow(thread.number, name, start, dur, number, pid)

    def _pid(self, told: object) -> int:
        """The process of a thread, as py-spy names it."""
        return told if isinstance(told, int) and 0 < told < _PIDS else self.process.pid

    def _piece(self, rows: Sequence[StackRow]) -> pa.Table:
        process, size = self.process, len(rows)
        *columns, pids = list(zip(*rows, strict=True)) if rows else [()] * 6
        return _arrays("stacks", [[process.host] * size, [process.rank] * size, pids, *columns])

    def take(self) -> list[pa.Table]:
        """Pieces of the table `stacks` since the last time."""
        taken, self.pieces = self.pieces, []
        return taken

    def frames(self) -> pa.Table:
        """The table `frames`, of all segments so far."""
        frames = [(number, depth, *frame) for stack, number in self.known.items() for depth, frame in enumerate(stack)]
        return _arrays("frames", list(zip(*frames, strict=True)) if frames else [()] * 5)

    def tables(self) -> dict[str, pa.Table]:
        """The tables `stacks`, as far as nobody took its pieces, and `frames`."""
        stacks = pa.concat_tables([TABLES["stacks"].empty_table(), *self.pieces]).unify_dictionaries()
        return {"stacks": stacks, "frames": self.frames()}


def _checked(row: StackRow) -> StackRow:
    """A row that the columns hold.

    Raises:
        ValueError: They do not.
    """
    if not all(-_MOST < number < _MOST for number in (row.thread, row.start, row.dur)):
        raise ValueError("a number is too large")
    return row


def _arrays(name: str, columns: list[Any]) -> pa.Table:
    schema = TABLES[name]
    arrays = [pa.array(column, type=kind.type) for column, kind in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)


def _load(path: Path) -> Any:
    try:
        content = safe_files.read_path(path)
        if not content:
            raise NothingRecordedError("it holds nothing", path=path)
        return json.loads(_unpacked(content) if path.suffix == ".gz" else content)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise ArtifactError(f"cannot be read: {error}", path=path) from error


def _unpacked(content: bytes) -> bytes:
    with gzip.GzipFile(fileobj=io.BytesIO(content)) as source:
        found = source.read(_UNPACKED_MOST + 1)
    if len(found) > _UNPACKED_MOST:
        raise ValueError(f"it unpacks to more than {_UNPACKED_MOST >> 20} MB")
    return found


def _health(anchor: dict[str, Any]) -> list[Health]:
    health = []
    samples, errors = anchor.get("samples"), anchor.get("errors")
    if samples and errors and errors > _STACKS_LOST * (samples + errors):
        text = f"py-spy could not read {errors} of {samples + errors} stacks."
        health.append(Health("stacks-incomplete", "info", text, errors))
    if anchor.get("behind"):
        health.append(Health("stacks-behind", "warning", "py-spy fell behind: the times of some stacks are not right."))
    return health


def _counted(anchor: Mapping[str, Any]) -> tuple[int, int]:
    """Stacks that py-spy took, and times at which it could take none."""
    return int(anchor["samples"]), int(anchor.get("errors") or 0)


def _shortened(told: Sequence[StackRow], kept: Sequence[StackRow]) -> Iterator[Health]:
    count = sum(one.dur != other.dur for one, other in zip(told, kept, strict=True))
    if count:
        text = (
            f"py-spy does not write when a thread is gone: {count} stacks of other threads than the main one were cut "
            "to the number of samples that it took; each is right in its beginning, all together in their time."
        )
        yield Health("stacks-cut", "info", text, count)


def _legible(told: Iterable[StackInterval]) -> tuple[list[StackInterval], int]:
    """Stacks without frames that cannot be, and how many had such: what is inside of those may be right."""
    found, garbled = [], 0
    for one in told:
        depth = max((at for at, frame in enumerate(one.stack) if not _can_be(frame)), default=-1)
        garbled += depth >= 0
        found.append(one if depth < 0 else one._replace(stack=one.stack[depth + 1 :]))
    return found, garbled


def _can_be(frame: Frame) -> bool:
    return 0 <= frame.line <= _LAST_LINE and _NEVER_IN_NAMES not in frame.file and _NEVER_IN_NAMES not in frame.function


def _garbled(count: int) -> Iterator[Health]:
    if count:
        text = (
            f"{count} stacks had frames that cannot be: py-spy does not stop Python, and read them where another "
            "object lay by then. What these frames called is kept, the frames and what is around them are not."
        )
        yield Health("stacks-garbled", "info", text, count)


def _completed(torn: int, all_: int) -> Iterator[Health]:
    if torn > _STACKS_TORN * all_:
        text = (
            f"py-spy read {torn} of {all_} stacks in part, for Python ran on meanwhile: what is outside of their "
            "frames was taken from the nearest whole stack of the thread that has the same."
        )
        yield Health("stacks-completed", "info", text, torn)


def _events(events: Iterable[Mapping[str, Any]]) -> Iterator[FrameEvent]:
    for event in events:
        process, thread, time_us, phase = event["pid"], event["tid"], float(event["ts"]), event["ph"]
        if phase == "B":
            args = event["args"]
            file, line = args["filename"], int(args.get("line") or 0)
            yield FrameEvent(process, thread, time_us, phase, event["name"], file, line)
        else:
            yield FrameEvent(process, thread, time_us, phase)
