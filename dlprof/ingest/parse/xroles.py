"""What the planes and lines of an XSpace are for, by the names that its makers give them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from dlprof.ingest.kernels.events import CPU

_GPU = re.compile(r"^/device:(?:GPU|CUSTOM):(?:.*?:)?(\d{1,4})$")
_TPU = re.compile(r"^/device:TPU:(?:.*?:)?(\d{1,4})(?: SparseCore (\d{1,4}))?$")
_STREAM = re.compile(r"^Stream #(\d+)")
_RANGES = re.compile(r"(Steps|XLA Modules|Sparse Core Modules)$")
_OPS = re.compile(r"^(XLA Ops|Sparse Core Ops)$")
_REPEATS = "they repeat, sorted otherwise, what other lines of the device tell"
_REASONS = {
    "XLA TraceMe": "waits and marks of the runtime on the device, in which no operation runs",
    "Launch Stats": "figures of launches, which the host's lines tell too",
    "Host Offload Ops": "work that the host does for the device",
    "_counters_": "values of counters; there is no table for them",
}


class Role(Enum):
    """What the events of a line are."""

    KERNELS = "kernels"
    """Kernels and copies on a stream."""
    OPERATIONS = "operations"
    """Instructions of a compiled program, executed one after another."""
    BESIDE = "beside"
    """Copies and collectives that run beside them."""
    RANGES = "ranges"
    """Steps, and executions of programs."""
    HOST = "host"
    UNREAD = "unread"


@dataclass(frozen=True)
class PlaneRole:
    """What a plane is of.

    Attributes:
        device: Number of the device, or CPU.
        is_tpu: Whether it is a core of a TPU.
        part: What part of the device it is, for names of lanes; empty: the device itself.
    """

    device: int
    is_tpu: bool = False
    part: str = ""

    @property
    def is_host(self) -> bool:
        """Whether it has threads of the host."""
        return self.device == CPU


def plane_role(name: str) -> PlaneRole | None:
    """What a plane is of; None: of nothing that is read."""
    gpu, tpu = _GPU.match(name), _TPU.match(name)
    if gpu:
        return PlaneRole(int(gpu[1]))
    if tpu:
        return PlaneRole(int(tpu[1]), is_tpu=True, part=f"SparseCore {tpu[2]}" if tpu[2] else "")
    return PlaneRole(CPU) if name.startswith("/host:CPU") else None


def line_role(plane: PlaneRole, name: str) -> Role:
    """What the events of a line are."""
    if plane.is_host:
        return Role.HOST
    if _RANGES.search(name):
        return Role.RANGES
    if not plane.is_tpu:
        return Role.KERNELS if _STREAM.match(name) else Role.UNREAD
    if _OPS.match(name):
        return Role.OPERATIONS
    return Role.BESIDE if name == "Async XLA Ops" else Role.UNREAD


def stream_number(name: str) -> int | None:
    """The number of a stream; None: the line is none."""
    match = _STREAM.match(name)
    return int(match[1]) if match else None


def why_unread(line: str) -> str:
    """Why the events of a line are not read."""
    return _REASONS.get(line, _REPEATS)
