"""Reads what the profilers of TensorFlow and JAX write for viewers (`.trace.json.gz`): an XSpace in Chrome's format.

Processes of the file are the planes of the XSpace and threads its lines, so that what they are for is told by the same
names. What the form lacks is said: the programs of XLA, and when operations of a processor really ended.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dlprof.ingest.formats.base import FileContent, Reader, Sample
from dlprof.ingest.kernels.events import CPU, NONE, EventRow
from dlprof.ingest.kernels.scopes import HloInstruction, NodePath
from dlprof.ingest.kernels.trace import Lane, Trace
from dlprof.ingest.parse.chrome import Args, ChromeFile, Event, as_ns, thread_number
from dlprof.ingest.parse.passed_over import PassedOver
from dlprof.ingest.parse.xnames import IGNORED, MAYBE, foreign_kind, gpu_kind, shown_name, step_name
from dlprof.ingest.parse.xroles import PlaneRole, Role, line_role, plane_role, stream_number, why_unread
from dlprof.schema.vocabulary import EventKind

_MARKS = (
    "events of threads of the host",
    "marks of the framework itself, and ranges whose names tell no step, epoch or wait for data",
)
_PLANE = re.compile(r"/(?:host|device):.*")
_IN_THEM = (EventKind.PYTHON, EventKind.ANNOTATION)
"""What tells who called for work, and is none itself."""
_HOLDERS = ("while", "conditional", "call")
_COPIES = re.compile(r"(async )?(copy|slice|dynamic-(update-)?slice|host|infeed|outfeed|send|recv)")
_XSPACE, _VIEWER, _OF_PERFETTO = ".xplane.pb", ".trace.json", "perfetto_trace.json"
_EVENTS_AT_MOST = 1_000_000
"""The makers write no more events than that."""
_NO_ARGS = Args()


def claims(sample: Sample) -> bool:
    """Whether the processes of a file are called as planes of an XSpace are."""
    head = sample.chrome
    if head is None:
        return False
    named = (e.args.name for e in head.events if e.ph == "M" and e.name == "process_name" and e.args is not None)
    return any(_role(str(name)) is not None for name in named)


def read(path: Path) -> FileContent:
    """The operators, kernels and copies of a file, its steps and waits.

    Raises:
        ArtifactError: The file is damaged.
    """
    reading = _read(path, keeps_all=False)
    if not reading.has_work:
        # No operator and no device: then what the framework tells of its own work is all there is.
        reading = _read(path, keeps_all=True)
    reading.close()
    return FileContent.of(reading.trace)


def repeated(path: Path, others: Sequence[Path]) -> Path | None:
    """Which of some other files tells the same profile as this one, and more; None: none.

    JAX and TensorBoard put all forms of a profile into one folder: `HOST.xplane.pb`, `HOST.trace.json.gz` and, of the
    only host, `perfetto_trace.json.gz`.
    """
    beside = [other for other in others if other != path and other.absolute().parent == path.absolute().parent]
    if path.name.startswith(_OF_PERFETTO):
        forms: tuple[str, ...] = (_XSPACE, f"{_VIEWER}.gz", _VIEWER)
        return next((other for form in forms for other in beside if other.name.endswith(form)), None)
    host = path.name.removesuffix(".gz").removesuffix(_VIEWER)
    return next((other for other in beside if other.name == f"{host}{_XSPACE}"), None)


def _read(path: Path, *, keeps_all: bool) -> _Reading:
    source, reading = ChromeFile(path), _Reading(path, keeps_all=keeps_all)
    for piece in source.pieces():
        for event in piece:
            reading.take(event)
        reading.flush()
    source.judge(reading.trace)
    return reading


def _role(process: str) -> PlaneRole | None:
    """What a process is of; some makers put the name of the machine before that of the plane."""
    plane = _PLANE.search(process)
    return plane_role(plane[0]) if plane else None


class _Reading:
    """One file.

    Args:
        path: The file.
        keeps_all: Whether events of the host that are no operators are kept as work of the framework.

    Attributes:
        trace: What was read of it.
        has_work: Whether it has shown an operator, a kernel, a copy or a wait.
    """

    def __init__(self, path: Path, *, keeps_all: bool) -> None:
        self.trace = Trace(path, "xspace-json", "tensorflow", attribution="path")
        self.has_work = False
        self._keeps_all = keeps_all
        self._roles: dict[Any, PlaneRole | None] = {}
        self._lines: dict[Any, str] = {}
        self._rows: list[EventRow] = []
        self._unread: Counter[tuple[str, str]] = Counter()
        self._passed_over = PassedOver()
        self._events = self._instructions = 0

    def take(self, event: Event) -> None:
        """Take the next event."""
        if event.ph == "M" and event.args is not None and event.args.name is not None:
            if event.name == "process_name":
                self._roles[event.pid] = _role(str(event.args.name))
            elif event.name == "thread_name":
                self._lines[event.pid, event.tid] = str(event.args.name)
        elif event.ph == "X":
            self._events += 1
            self._take_span(event)
        elif event.ph:  # the last one is empty: it stands for the comma behind the one before
            self._passed_over.add(event)

    def _take_span(self, event: Event) -> None:
        role, line = self._roles.get(event.pid), self._lines.get((event.pid, event.tid), "")
        if role is None:
            self._unread["events of other planes", "planes of a sort that is not read"] += 1
            return
        use = line_role(role, line)
        if use is Role.UNREAD:
            self._unread[f"events on lines {line[:60]} of devices", why_unread(line)] += 1
            return
        args, name = event.args or _NO_ARGS, str(event.name)
        kind = self._host_kind(name, args) if use is Role.HOST else _device_kind(use, name)
        if kind == IGNORED:
            self._unread[_MARKS] += 1
            return
        self.has_work = self.has_work or kind not in _IN_THEM
        is_step = role.is_host and args.step_num is not None
        start = as_ns(event.ts)
        self._rows.append(
            EventRow(
                EventKind(kind),
                self.trace.names.number(step_name(name, args.step_num or 0) if is_step else _shown(name, kind)),
                start,
                max(0, as_ns(event.ts + max(0.0, event.dur)) - start),
                self._lane(event, role, line),
                role.device,
                NONE if is_step else _number(args.run_id if kind == EventKind.OPERATOR else args.correlation_id),
                self._scope(args, role),
            )
        )

    def _host_kind(self, name: str, args: Args) -> int:
        """On the host an event with `hlo_op` is an executed instruction, whatever its name."""
        if args.step_num is not None:
            return EventKind.ANNOTATION
        if args.hlo_op:
            self._instructions += args.correlation_id is None
            return EventKind.OPERATOR if args.correlation_id is None else EventKind.RUNTIME
        kind = foreign_kind(name)
        if kind != MAYBE:
            return kind
        return EventKind.RUNTIME if self._keeps_all else IGNORED

    def _lane(self, event: Event, role: PlaneRole, line: str) -> int:
        stream = stream_number(line)
        name = f"stream {stream}" if stream is not None else line or str(event.tid)
        name = f"{role.part}: {name}" if role.part else name
        thread = thread_number(event) if stream is None else stream
        return self.trace.lane((event.pid, event.tid), Lane(0, thread, name, role.device))

    def _scope(self, args: Args, role: PlaneRole) -> int:
        path = str(args.name or "")
        if args.hlo_op:
            return self.trace.scopes.number(HloInstruction(args.hlo_op, args.hlo_module or "", NONE, path))
        if args.tf_op and not role.is_host:
            return self.trace.scopes.number(NodePath(args.tf_op))
        return NONE

    def flush(self) -> None:
        """Give the trace what was taken."""
        self.trace.add_rows(self._rows)
        self._rows.clear()

    def close(self) -> None:
        """Say what was passed over, and what such a file does not have."""
        trace, name = self.trace, self.trace.path.name
        if self._instructions:
            trace.engine = "xla"
            text = (
                f"{name} does not say when operations of XLA on a processor ended, which may go on after their call: "
                "their times are those of the calls. The .xplane.pb beside it says it, and whose layers they are."
            )
            trace.tell("trace-calls-only", "warning", text)
        if self._events >= _EVENTS_AT_MOST:
            text = f"{name} has {self._events:,} events: its maker leaves out what is more. The .xplane.pb has all."
            trace.tell("trace-maker", "warning", text)
        for (what, why), events in self._unread.items():
            trace.skip(what, events, why)
        self._passed_over.tell(trace)
        devices: Mapping[int, str] = {
            role.device: "tpu" if role.is_tpu else "gpu" for role in self._roles.values() if role and role.device != CPU
        }
        trace.facts = {"devices": [{"device": n, "name": None, "kind": kind} for n, kind in sorted(devices.items())]}


def _device_kind(use: Role, name: str) -> int:
    if use is Role.RANGES or (use is Role.OPERATIONS and name.partition(".")[0] in _HOLDERS):
        return EventKind.ANNOTATION
    if use is Role.BESIDE:
        return EventKind.TRANSFER if _COPIES.match(name) else EventKind.KERNEL
    return gpu_kind(name) if use is Role.KERNELS else EventKind.KERNEL


def _shown(name: str, kind: int) -> str:
    return shown_name(name) if kind == EventKind.PYTHON else name


def _number(value: int | str | None) -> int:
    """A number that events share; arguments are texts in such files."""
    if isinstance(value, str):
        value = int(value) if re.fullmatch(r"-?\d{1,18}", value) else None
    # Numbers of executions may be negative there: cut to 32 bits.
    return NONE if value is None else value % 2**32


READER = Reader("xspace-json", "TensorFlow or JAX profiler, for viewers (.trace.json.gz)", claims, read)
