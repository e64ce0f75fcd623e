"""Reads XSpace files (`.xplane.pb`) of the TensorFlow and JAX profilers, on CPU, GPU and TPU.

The file is mapped, and taken apart line by line, so that memory does not grow with it. On the host, events of
an executed operator are told from all others by their names (`SCOPE/NAME:Type`) or by their stat `hlo_op`;
on a GPU, what lies on lines named `Stream #…` is taken, because the other lines repeat it; on a TPU the operations
of its cores, and copies and collectives beside them. Steps and executions of programs are ranges on lanes of their own,
as are operations that a processor goes on with when their thread does something else.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from dlprof.ingest.artifact import ArtifactError
from dlprof.ingest.formats.base import FileContent, Reader, Sample
from dlprof.ingest.kernels import own_functions
from dlprof.ingest.kernels.beside import Beside
from dlprof.ingest.kernels.events import CPU, NONE, Booleans, Events, Integers
from dlprof.ingest.kernels.nesting import ROUNDING_NS
from dlprof.ingest.kernels.scopes import HloInstruction
from dlprof.ingest.kernels.trace import Lane, Trace
from dlprof.ingest.limits import budget
from dlprof.ingest.parse import xallocations, xends, xiterators, xlines
from dlprof.ingest.parse.hlo import program_of
from dlprof.ingest.parse.packed import mapped
from dlprof.ingest.parse.protowire import WireError, fields
from dlprof.ingest.parse.protowire import field as field_at
from dlprof.ingest.parse.xnames import IGNORED, NameTable, Told
from dlprof.ingest.parse.xplane import Line, Piece, Plane, SpaceBytes, SpaceHead
from dlprof.ingest.parse.xroles import PlaneRole, Role, line_role, plane_role, stream_number, why_unread
from dlprof.ingest.parse.xtpu import TpuNames
from dlprof.schema.vocabulary import EventKind

_DROPPED = re.compile(r"(\d+)[^.]*\bdropped")
_PROBLEMS_AT_MOST = 100
_HOLDS_OTHERS = ("while", "call", "conditional")
_MARKS = (
    "events of threads of the host",
    "marks of the framework itself, and ranges whose names tell no step, epoch or wait for data",
)
_IN_THEM = (EventKind.PYTHON, EventKind.ANNOTATION)
"""What tells who called for work, and is none itself."""


def claims(sample: Sample) -> bool:
    """Whether the file begins as an XSpace does: with a plane that has an id or a name."""
    head = sample.head
    if head[:1] != b"\x0a" or sample.path.name.endswith((".json", ".json.gz", ".csv")):
        return False
    if ".xplane.pb" in sample.path.name:
        return True
    try:
        number, value, _ = field_at(head, 0, 1 << 40)
        if number != 1 or not isinstance(value, tuple):
            return False
        for inner, part in fields(head, value[0], min(value[1], len(head))):
            if inner == 2 and isinstance(part, tuple):
                return head[part[0] : part[1]].startswith((b"/host:", b"/device:", b"Task Environment", b"/host"))
    except (WireError, IndexError):
        pass
    return False


def read(path: Path) -> FileContent:
    """The operators, kernels and copies of an XSpace, and the programs that XLA compiled.

    Raises:
        ArtifactError: The file is damaged, or empty: makers leave empty files when they run into limits.
    """
    return _read(path, is_foreign=True)


def read_window(path: Path) -> FileContent:
    """The same of a trace that dlprof took itself, whose phases are known: compilation is one, and no kernel.

    Raises:
        ArtifactError: The file is damaged, or empty.
    """
    return _read(path, is_foreign=False)


def _read(path: Path, *, is_foreign: bool) -> FileContent:
    if path.stat().st_size == 0:
        text = "the file is empty: a profiler leaves one when the trace is larger than 2 GB"
        raise ArtifactError(text, path=path, offset=0)
    with mapped(path) as data:
        reading = _Reading(path, data, is_foreign=is_foreign)
        content = reading.read()
        if reading.has_work:
            return content
        # No operator and no device: then what the framework tells of its own work is all there is.
        return _Reading(path, data, is_foreign=is_foreign, keeps_all=True).read()


@dataclass(frozen=True)
class _Marked:
    """Ends of the events of a line.

    Attributes:
        line: The line, by its place in the plane.
        end: When each event really ended (ns), or NONE.
        thread: The line on which that was marked, or NONE.
    """

    line: int
    end: Integers
    thread: Integers


class _Reading:
    """One file.

    Args:
        path: The file.
        data: Its bytes.
        is_foreign: Whether dlprof did not take the trace.
        keeps_all: Whether events of the host that are no operators are kept as work of the framework.

    Attributes:
        has_work: Whether it has shown an operator, a kernel, a copy or a wait, or a device that they would be of.
    """

    def __init__(self, path: Path, data: Any, *, is_foreign: bool, keeps_all: bool = False) -> None:
        self._bytes = SpaceBytes(data)
        self._trace = Trace(path, "xspace", "tensorflow", attribution="path")
        self._is_foreign, self._keeps_all = is_foreign, keeps_all
        self.has_work = False
        self._unread: Counter[tuple[str, str]] = Counter()
        self._impossible = 0
        self._beside = Beside(self._trace)

    def read(self) -> FileContent:
        """All planes."""
        try:
            head = self._bytes.head()
            for plane in head.planes:
                self._add_programs(plane)
            roles = [(plane, role) for plane in head.planes if (role := plane_role(plane.name)) is not None]
            if any(role.is_tpu for _, role in roles):
                self._keeps_all = self.has_work = True
            self._add_planes(roles)
            for plane in head.planes:
                if plane_role(plane.name) is None:
                    self._count_plane(plane)
            hosts = [plane for plane, role in roles if role.is_host]
            if hosts:
                self._trace.input_stages = xiterators.stages(self._bytes, hosts[0])
                self._trace.allocations = xallocations.allocations(self._bytes, hosts[0])
            self._add_plans(head.planes)
        except WireError as error:
            raise ArtifactError(f"damaged: {error}", path=self._trace.path, offset=error.offset) from error
        self._tell(head)
        return FileContent.of(self._trace)

    def _add_programs(self, plane: Plane) -> None:
        """The compiled programs, which stand in a plane of metadata."""
        if "metadata" not in plane.name:
            return
        self._trace.engine, self._trace.attribution = "xla", "program"
        self._trace.programs.update(self._bytes.programs(plane))

    def _add_plans(self, planes: Sequence[Plane]) -> None:
        """What was planned for the memory of the programs that ran."""
        ran = {
            f"{scope.module}({scope.program})": (scope.module, scope.program)
            for scope in self._trace.scopes.values
            if isinstance(scope, HloInstruction)
        }
        for plane in planes if ran else ():
            if "metadata" in plane.name:
                self._trace.plans.update({ran[name]: plan for name, plan in self._bytes.plans(plane, ran)})

    def _add_planes(self, planes: Sequence[tuple[Plane, PlaneRole]]) -> None:
        for plane, role in planes:
            self._add_events(plane, role)

    def _add_events(self, plane: Plane, role: PlaneRole) -> None:
        names = NameTable(
            self._trace, plane, is_gpu=not role.is_host, keeps_all=self._keeps_all, is_foreign=self._is_foreign
        )
        operations = TpuNames(self._trace, self._bytes, plane)
        ends = xends.ends(self._bytes, plane)
        for at, span in enumerate(plane.lines):
            line = self._bytes.line(span)
            use = line_role(role, line.name)
            if use is Role.UNREAD:
                self._unread[f"events on lines {line.name} of devices", why_unread(line.name)] += self._bytes.count(
                    line
                )
                continue
            lane = self._lane(plane, line, role)
            for piece in self._bytes.pieces(line):
                if use in (Role.HOST, Role.KERNELS):
                    self._add_piece(names, line.timestamp_ns, piece, lane, ends, at)
                else:
                    self._add_operations(operations, use, line.timestamp_ns, piece, lane)
        self._beside.put()

    def _lane(self, plane: Plane, line: Line, role: PlaneRole) -> int:
        stream = stream_number(line.name)
        name = f"stream {stream}" if stream is not None else line.name
        if role.part:
            name = f"{role.part}: {name}"
        thread = stream if stream is not None else line.number % 2**62
        return self._trace.lane((plane.name, line.number, line.name), Lane(0, thread, name, role.device))

    def _add_piece(self, names: NameTable, line_ns: int, piece: Piece, lane: int, ends: xends.Ends, at: int) -> None:
        try:
            heads = xlines.heads(piece.data, piece.begins)
            kinds = names.kinds(heads.metadata)
            keep = kinds != IGNORED
            events = xlines.decode(piece.data, heads, keep)
            stats = xlines.stat_values(piece.data, events, [*names.numbers, *ends.stats], names.references)
        except xlines.IrregularError as error:
            raise WireError("an event that is written in an unusual order", piece.at) from error
        told = names.resolve(events.metadata, kinds[keep], stats)
        if not names.is_gpu:
            self._unread[_MARKS] += len(keep) - int((told.kind != IGNORED).sum())
        numbers = next((stats[stat] for stat in ends.stats), None)
        self._add(events, line_ns, lane, told, None if numbers is None else _Marked(at, *ends.of(numbers)))

    def _add_operations(self, names: TpuNames, use: Role, line_ns: int, piece: Piece, lane: int) -> None:
        """Events of a line whose names tell all there is to tell."""
        try:
            heads = xlines.heads(piece.data, piece.begins)
            events = xlines.decode(piece.data, heads, np.ones(len(heads.metadata), bool))
        except xlines.IrregularError as error:
            raise WireError("an event that is written in an unusual order", piece.at) from error
        self._add(events, line_ns, lane, names.resolve(events.metadata, use))

    def _add(self, events: xlines.Events, line_ns: int, lane: int, told: Told, marked: _Marked | None = None) -> None:
        """Add those events that are kept and whose times make sense.

        Args:
            events: Events of a line.
            line_ns: The time that they count from (ns).
            lane: Their lane.
            told: What is told of each.
            marked: When and where each really ended; None: no end is marked.
        """
        kept = told.kind != IGNORED
        good = kept & (events.offset_ps >= 0) & (events.duration_ps >= 0)
        self.has_work = self.has_work or bool((good & ~np.isin(told.kind, _IN_THEM)).any())
        self._impossible += int((kept & ~good).sum())
        device = self._trace.lanes[lane].device
        # Rounded from picoseconds once, so that sums stay what the file says.
        start = line_ns + (events.offset_ps + 500) // 1000
        end = line_ns + (events.offset_ps + events.duration_ps + 500) // 1000
        dur = np.maximum(end - start, 0) if device == CPU else (events.duration_ps + 500) // 1000
        found = Events.of(
            kind=told.kind,
            name=told.name,
            start=start,
            dur=dur,
            device=np.full(len(good), device),
            lane=np.full(len(good), lane),
            link=told.link,
            scope=told.scope,
        )
        if marked is not None:
            good = good & ~self._add_beside(found, good & (told.kind == EventKind.OPERATOR), marked)
        self._trace.events.add(found.select(good))

    def _add_beside(self, found: Events, operators: Booleans, marked: _Marked) -> Booleans:
        """Add the operators that ended after their call; which they are."""
        called = found.ends
        self._beside.calls(marked.line, found.start[operators], called[operators])
        goes_on = operators & (marked.end > called + ROUNDING_NS)
        goes_on[goes_on] = ~self._holds_others(found.scope[goes_on].astype(np.int64))
        whole = replace(found, dur=np.where(goes_on, marked.end - found.start, found.dur)).select(goes_on)
        self._beside.add(whole, called[goes_on], marked.thread[goes_on])
        return goes_on

    def _holds_others(self, scopes: Integers) -> Booleans:
        """Whether each is a loop, a call or a condition: what runs in it has events, and would be counted twice."""
        known, number = np.unique(scopes, return_inverse=True)
        return np.asarray([self._opcode(scope) in _HOLDS_OTHERS for scope in known.tolist()], bool)[number]

    def _opcode(self, number: int) -> str:
        """The opcode of an instruction: where its program is not known, what XLA begins its name with."""
        scope = self._trace.scopes[number] if number != NONE else None
        if not isinstance(scope, HloInstruction):
            return ""
        program = program_of(self._trace.programs, scope.module, scope.program)
        return program[scope.op].opcode if scope.op in program else scope.op.partition(".")[0]

    def _count_plane(self, plane: Plane) -> None:
        """Count the events of a plane of which nothing is read."""
        events = sum(self._bytes.count(self._bytes.line(span)) for span in plane.lines)
        self._unread[f"events of plane {plane.name[:60]}", "a plane of a sort that is not read"] += events
        budget().hold_texts(2, 60, "planes")

    def _tell(self, head: SpaceHead) -> None:
        """What the file says of itself."""
        for (what, why), events in self._unread.items():
            self._trace.skip(what, events, why)
        text = f"{self._impossible} events of {self._trace.path.name} have impossible times and were passed over."
        self._trace.drop("trace-malformed", "warning", text, self._impossible)
        starts = [plane.own.get("profile_start_time") for plane in head.planes]
        for start in starts:
            if isinstance(start, int) and 0 <= start < 2**62:
                self._trace.zero_ns = start
        cores = {role.device: plane for plane in reversed(head.planes) if (role := plane_role(plane.name))}
        devices = [_device(plane, number) for number, plane in sorted(cores.items()) if number != CPU]
        host = head.hosts[0] if head.hosts else None
        self._trace.facts = {"host": host, "devices": devices, "planes": len(head.planes)}
        if functions := own_functions.of_trace(self._trace):
            self._trace.facts["own_with_callees"] = functions
        for problem in head.problems[:_PROBLEMS_AT_MOST]:
            match = _DROPPED.search(problem)
            self._trace.dropped += int(match[1][:18]) if match else 0
            self._trace.tell("trace-maker", "warning", f"{self._trace.path.name} says: {problem[:300]}")


def _device(plane: Plane, number: int) -> dict[str, Any]:
    names = (plane.own.get(key) for key in ("gpu_device_name", "device_type_string", "device_vendor"))
    name = next((name for name in names if isinstance(name, str) and name), None)
    return {"device": number, "name": name, "kind": "tpu" if plane.name.startswith("/device:TPU") else "gpu"}


READER = Reader("xspace", "TensorFlow or JAX profiler (.xplane.pb)", claims, read, read_window=read_window)
