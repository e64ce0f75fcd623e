"""Follows the raw artifacts of a run that goes on, and tells a `LiveRun` what was written since it last looked.

Only whole records count: one that is cut is left for the next look. What cannot be read ends the following of that
one file, for good.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

from dlprof_probes import wire
from dlprof_probes.wire import Record

from dlprof.live.machine import Machine
from dlprof.live.model import LiveRun, ProbeStatus
from dlprof.live.records import (
    CoresSample,
    CoreTicks,
    GpuFigures,
    LoopLength,
    Metric,
    ProcessFacts,
    ProcessTicks,
    Span,
    Step,
)

READ_BYTES = 1 << 20
"""Taken from a file in one look, so that one look takes no more than some milliseconds."""


class Tail:
    """Follows all artifacts of one run.

    Args:
        raw: Folder of the raw artifacts.
        live: What is told.
    """

    def __init__(self, raw: Path, live: LiveRun) -> None:
        self._live = live
        self._sampler = raw / "sampler.json"
        self._files = [
            GrowingFile(raw / "inproc.wire", Stream(live)),
            GrowingFile(raw / "cores.jsonl", JsonLines(CoresRows(live.machine))),
            GrowingFile(raw / "gpu.jsonl", JsonLines(GpuRows(live.machine))),
        ]

    def look(self) -> None:
        """Take in what is new."""
        for file in self._files:
            file.look()
        self._look_at_sampler()

    def _look_at_sampler(self) -> None:
        """The sampler says once, when it has started, which of its probes work."""
        try:
            states = json.loads(self._sampler.read_text(encoding="utf-8"))
        except (OSError, ValueError):  # not there yet, half written, or there no more
            return
        for name, status in states.items():
            self._live.probe_said(name, ProbeStatus(status["state"], status["reason"]))


class GrowingFile:
    """Gives what is new in a file to `take`, which returns how many bytes of it were whole records."""

    def __init__(self, path: Path, take: Callable[[bytes], int]) -> None:
        self._path = path
        self._take = take
        self._offset = 0
        self.failed: str | None = None
        """Why the file is followed no more."""

    def look(self) -> None:
        """Take in what is new; a file that is not there yet is empty."""
        if self.failed is not None:
            return
        try:
            with self._path.open("rb", buffering=0) as source:
                data = os.pread(source.fileno(), READ_BYTES, self._offset)
        except OSError:
            return
        try:
            self._offset += self._take(data)
        except Exception as error:  # noqa: BLE001  (a damaged record must not end the view of the rest)
            self.failed = f"{type(error).__name__}: {error}"


class Stream:
    """Reads the stream of the in-process probe (`dlprof_probes.wire`).

    Args:
        live: What is told.
    """

    def __init__(self, live: LiveRun) -> None:
        self._live = live
        self._strings: dict[int, str] = {0: ""}
        self._begun = False

    def __call__(self, data: bytes) -> int:
        """Take whole records.

        Raises:
            ValueError: It is no stream, or of a newer dlprof.
        """
        at = 0
        if not self._begun:
            at = len(wire.MAGIC) + 1
            if len(data) < at:
                return 0
            if data[: at - 1] != wire.MAGIC or data[at - 1] > wire.VERSION:
                raise ValueError("no stream of this dlprof's probe")
            self._begun = True
        for kind, payload in _records(data, at):
            reader = _READERS.get(kind)
            if reader is not None:
                reader(self, payload)
            at += wire.HEAD.size + len(payload)
        return at

    def _string(self, payload: bytes) -> None:
        (number,) = wire.STRING_HEAD.unpack_from(payload)
        self._strings[number] = payload[wire.STRING_HEAD.size :].decode("utf-8", "replace")

    def _begin(self, payload: bytes) -> None:
        number, kind, name, thread, time_ns, _file, _line = wire.BEGIN.unpack(payload)
        self._live.begin(Span(number, self._strings[kind], self._strings.get(name, ""), thread), time_ns)

    def _end(self, payload: bytes) -> None:
        self._live.end(*wire.END.unpack(payload))

    def _detail(self, payload: bytes) -> None:
        (number,) = wire.STRING_HEAD.unpack_from(payload)
        self._live.expect(number, LoopLength.from_json(json.loads(payload[wire.STRING_HEAD.size :])))

    def _step(self, payload: bytes) -> None:
        thread, loop, epoch, *fields, wait_ns, flags = wire.step_fields(payload)  # type: ignore[no-untyped-call]
        is_first, runs_on = bool(flags & wire.STEP_FIRST), bool(flags & wire.STEP_HAS_WAIT)
        self._live.step(Step._make((thread, loop, _known(epoch), *fields, is_first, wait_ns, runs_on)))

    def _metrics(self, payload: bytes) -> None:
        loop, epoch, step, time_ns = wire.METRICS.unpack_from(payload)
        if wire.NONE not in (epoch, step):
            self._live.valued(loop, epoch, step, time_ns)
        for name, value in wire.METRIC.iter_unpack(payload[wire.METRICS.size :]):
            self._live.metric(self._strings.get(name, ""), Metric(value, _known(epoch), _known(step)))

    def _meta(self, payload: bytes) -> None:
        self._live.process_said(ProcessFacts.from_json(json.loads(payload)))

    def _probe(self, payload: bytes) -> None:
        facts = json.loads(payload)
        self._live.probe_said(facts["name"], ProbeStatus(facts["state"], facts["reason"]))


_READERS: dict[int, Callable[[Stream, bytes], None]] = {
    Record.STRING: Stream._string,  # noqa: SLF001  (a table of its own methods)
    Record.BEGIN: Stream._begin,  # noqa: SLF001
    Record.END: Stream._end,  # noqa: SLF001
    Record.DETAIL: Stream._detail,  # noqa: SLF001
    Record.STEP: Stream._step,  # noqa: SLF001
    Record.METRICS: Stream._metrics,  # noqa: SLF001
    Record.META: Stream._meta,  # noqa: SLF001
    Record.PROBE: Stream._probe,  # noqa: SLF001
}


def _known(number: int) -> int | None:
    """An epoch or a step, where there is one."""
    return None if number == wire.NONE else number


def _records(data: bytes, at: int) -> Iterator[tuple[int, bytes]]:
    """Type and payload of each whole record from `at` on."""
    while at + wire.HEAD.size <= len(data):
        kind, length = wire.HEAD.unpack_from(data, at)
        start = at + wire.HEAD.size
        at = start + length
        if at > len(data):
            if length > READ_BYTES - wire.HEAD.size:
                raise ValueError(f"a record of {length} bytes")
            return
        yield kind, data[start:at]


class JsonLines:
    """Reads whole lines of JSON.

    Args:
        row: Takes each value.
    """

    def __init__(self, row: Callable[[Any], None]) -> None:
        self._row = row

    def __call__(self, data: bytes) -> int:
        """Take whole lines."""
        whole = data.rfind(b"\n") + 1
        if not whole and len(data) == READ_BYTES:
            raise ValueError("a line without an end")
        for line in data[:whole].splitlines():
            self._row(json.loads(line))
        return whole


class CoresRows:
    """Rows of `cores.jsonl` (`dlprof_probes.sidecar.cores`).

    Args:
        machine: What is told.
    """

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def __call__(self, row: Any) -> None:
        """Take a row."""
        if isinstance(row, dict):
            if "format" in row:
                self._machine.units(row["page_bytes"], row["ticks_per_s"])
        elif row[0] == "c":
            cores = tuple(CoreTicks(*ticks) for ticks in row[2])
            processes = tuple(ProcessTicks(*process[:3]) for process in row[4])
            self._machine.cores_sample(CoresSample(row[1], cores, processes))
        elif row[0] == "m":
            self._machine.available_bytes = row[2]


class GpuRows:
    """Rows of `gpu.jsonl` (`dlprof_probes.sidecar.gpu`).

    Args:
        machine: What is told.
    """

    _SHOWN = tuple(field.name for field in fields(GpuFigures))

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._columns: list[str] = []

    def __call__(self, row: Any) -> None:
        """Take a row."""
        if isinstance(row, dict):
            if "format" in row:
                self._columns = row["columns"]
                self._machine.gpu_names = tuple(gpu["name"] for gpu in row["gpus"])
            return
        values = dict(zip(self._columns, row[2:], strict=True))
        self._machine.gpu_sample(row[1], GpuFigures(**{name: values.get(name) for name in self._SHOWN}))
