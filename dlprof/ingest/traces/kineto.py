"""Reads traces of torch.profiler (Kineto), of any of its versions, from CUDA, ROCm or CPU."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dlprof.ingest.attribution import flops
from dlprof.ingest.traces.base import CPU, NONE, Foreign, Integers, Kind, Lane, Trace
from dlprof.ingest.traces.chrome import Args, ChromeFile, Event

_KINDS = {
    "cpu_op": Kind.OPERATOR, "operator": Kind.OPERATOR,
    "kernel": Kind.KERNEL,
    "gpu_memcpy": Kind.TRANSFER, "memcpy": Kind.TRANSFER, "gpu_memset": Kind.TRANSFER, "memset": Kind.TRANSFER,
    "cuda_runtime": Kind.RUNTIME, "runtime": Kind.RUNTIME, "cuda_driver": Kind.RUNTIME,
    "privateuse1_runtime": Kind.RUNTIME, "mtia_runtime": Kind.RUNTIME,
    "user_annotation": Kind.ANNOTATION, "python_function": Kind.PYTHON,
}  # fmt: skip
_OTHER = -1
"""Events that tell again what others tell, or that are of no use here."""
_NO_ARGS = Args()
_DEVICES_AT_MOST = 2**15
_WAITING = re.compile(r"(cuda|hip|cu)\w*Synchronize$|^(cuda|hip)Memcpy(WithStream)?$")
_CATEGORIES = frozenset(
    name
    for known in _KINDS
    for name in (known, known.capitalize())
) | {"ac2g", "fwdbwd", "Trace", "cuda_sync", "gpu_user_annotation", "cpu_instant_event", "async"}  # fmt: skip


def claims(top: dict[str, Any], events: list[Event]) -> bool:
    """Whether a file in the Chrome format, of which these are the first events, is one of Kineto's."""
    if "schemaVersion" in top or "deviceProperties" in top or "baseTimeNanoseconds" in top:
        return True
    seen = {event.cat for event in events if event.cat}
    return len(seen & _CATEGORIES) >= 2 or bool(seen & {"cpu_op", "gpu_user_annotation", "cuda_runtime"})


def read(path: Path) -> Foreign:
    """The events of a Kineto trace.

    Raises:
        ArtifactError: The file is damaged.
    """
    source = ChromeFile(path)
    trace = Trace(path, "kineto", "torch")
    work = _Work(trace)
    for events in source.pieces():
        work.add(events)
    _close(trace, source, work)
    return Foreign("kineto", trace, facts=trace.facts, health=trace.health)


class _Kinds(dict[str | None, int]):
    """Category to kind; what is no event of ours is _OTHER."""

    def __missing__(self, category: str | None) -> int:
        self[category] = kind = int(_KINDS.get((category or "").lower(), _OTHER))
        return kind


class _Names(dict[Any, int]):
    """Name, whatever its type, to its number in the trace."""

    def __init__(self, trace: Trace) -> None:
        super().__init__()
        self._number = trace.names.number

    def __missing__(self, name: Any) -> int:
        self[name] = number = self._number(str(name))
        return number


class _Lanes(dict[tuple[Any, Any], int]):
    """(Process, thread) of the host to the number of its lane."""

    def __init__(self, trace: Trace) -> None:
        super().__init__()
        self._lane = trace.lane

    def __missing__(self, key: tuple[Any, Any]) -> int:
        lane = Lane(_number(key[0], 0), _number(key[1], 0), str(key[1]))
        self[key] = number = self._lane((*key, CPU), lane)
        return number


class _Work:
    """Turns events into columns, piece by piece; by columns, because there are millions of them."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.thread_names: dict[Any, str] = {}
        self._kinds, self._names, self._lanes = _Kinds(), _Names(trace), _Lanes(trace)

    def add(self, events: list[Event]) -> None:
        """Add one piece."""
        for event in events:
            if event.ph == "M":
                self._metadata(event)
        kinds, names, lanes = self._kinds, self._names, self._lanes
        chosen = [event for event in events if event.ph == "X" and kinds[event.cat] != _OTHER]
        kind = np.array([kinds[event.cat] for event in chosen], np.int64)
        columns: dict[str, Any] = {
            "kind": kind,
            "name": np.array([names[event.name] for event in chosen], np.int64),
            "start": _as_ns(np.array([event.ts for event in chosen], float)),
            "dur": _as_ns(np.maximum(0, np.array([event.dur for event in chosen], float))),
            "device": np.full(len(chosen), CPU),
            "lane": np.array([lanes[event.pid, event.tid] for event in chosen], np.int64),
            "link": np.full(len(chosen), NONE),
            "scope": np.full(len(chosen), NONE),
        }
        self._operators(chosen, columns, np.flatnonzero(kind == Kind.OPERATOR))
        for at in np.flatnonzero((kind == Kind.KERNEL) | (kind == Kind.TRANSFER)).tolist():
            self._on_device(chosen[at], columns, at)
        for at in np.flatnonzero(kind == Kind.RUNTIME).tolist():
            self._call(chosen[at], columns, at)
        self.trace.add(**columns)

    def _operators(self, events: list[Event], columns: dict[str, Any], rows: Integers) -> None:
        """Sequence numbers of autograd, and the shapes that give operations."""
        arguments = [events[at].args or _NO_ARGS for at in rows.tolist()]
        columns["link"][rows] = [_number(a.sequence, NONE) for a in arguments]
        number = self.trace.scopes.number
        shaped = np.isin(columns["name"][rows], [self._names[name] for name in flops.TORCH_OPERATORS])
        for position in np.flatnonzero(shaped).tolist():
            dims = bytes(arguments[position].dims)
            if dims:
                columns["scope"][rows[position]] = number(dims.decode("utf-8", "replace"))

    def _on_device(self, event: Event, columns: dict[str, Any], at: int) -> None:
        args = event.args or _NO_ARGS
        device = _number(args.device, _number(event.pid, 0))
        device = device if CPU <= device < _DEVICES_AT_MOST else 0
        stream = _number(event.tid, 0)
        columns["device"][at] = device
        columns["link"][at] = _number(args.correlation, NONE)
        lane = Lane(_number(event.pid, 0), stream, f"stream {stream}", device)
        columns["lane"][at] = self.trace.lane((event.pid, event.tid, device), lane)
        if args.bytes is not None:
            columns["scope"][at] = self.trace.scopes.number(f"bytes={_number(args.bytes, 0)}")

    def _call(self, event: Event, columns: dict[str, Any], at: int) -> None:
        columns["link"][at] = _number((event.args or _NO_ARGS).correlation, NONE)
        if _WAITING.search(str(event.name)):
            columns["kind"][at] = Kind.WAIT

    def _metadata(self, event: Event) -> None:
        if event.name == "thread_name" and event.args is not None and event.args.name is not None:
            self.thread_names[event.pid, event.tid] = str(event.args.name)


def _as_ns(us: npt.NDArray[np.float64]) -> Integers:
    """Microseconds as nanoseconds; Unix times keep the digits that a product would lose."""
    whole = np.floor(us)
    return whole.astype(np.int64) * 1000 + np.rint((us - whole) * 1000).astype(np.int64)


def _number(value: Any, default: Any) -> Any:
    """`value` as a number, also one in a text such as `stream 7` or `0x0`; else the default."""
    if type(value) is int:
        return value if -(2**62) < value < 2**62 else value % 2**31
    if type(value) is float:
        return int(value) if -(2**62) < value < 2**62 else default
    if type(value) is str:
        match = re.fullmatch(r"(?:stream )?(0x[0-9a-fA-F]+|-?\d+)", value)
        if match:
            return _number(int(match[1], 0) if match[1][:2] == "0x" else int(match[1]), default)
    return default


def _said(value: Any) -> str | int | None:
    """A value that the file gives, if it is a text or a number."""
    return value if isinstance(value, str) or (isinstance(value, int) and abs(value) < 2**62) else None


def _close(trace: Trace, source: ChromeFile, work: _Work) -> None:
    for (pid, tid), name in work.thread_names.items():
        trace.rename_lane((pid, tid, CPU), name)
    top = source.top
    base = top.get("baseTimeNanoseconds")
    trace.zero_ns = base if isinstance(base, int) and 0 <= base < 2**62 else 0
    distributed = top.get("distributedInfo")
    distributed = distributed if isinstance(distributed, dict) else {}
    devices = top.get("deviceProperties")
    devices = [d for d in devices if isinstance(d, dict)] if isinstance(devices, list) else []
    trace.facts = {
        "rank": _said(distributed.get("rank")),
        "world_size": _said(distributed.get("world_size")),
        "distributed_backend": _said(distributed.get("backend")),
        "devices": [
            {"device": d["id"], "name": _said(d.get("name"))} for d in devices if isinstance(_said(d.get("id")), int)
        ],
        "host": _said(top.get("host_name")),
        "schema_version": _said(top.get("schemaVersion")),
    }
    source.judge(trace)
