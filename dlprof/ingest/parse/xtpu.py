"""What the names of operations on a TPU tell: kind, short name, and the work that the compiler counted."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from dlprof.ingest.kernels.events import NONE, Integers
from dlprof.ingest.kernels.scopes import CountedInstruction
from dlprof.ingest.kernels.trace import Trace
from dlprof.ingest.parse.xnames import Told
from dlprof.ingest.parse.xplane import Plane, SpaceBytes
from dlprof.ingest.parse.xroles import Role
from dlprof.schema.vocabulary import EventKind

_HOLDERS = ("while", "conditional", "call")
"""Sorts of instructions that hold others, which the same line shows within their time."""
_COPIES = re.compile(r"^(async )?(copy|slice|dynamic-(update-)?slice|host|infeed|outfeed|send|recv)")
_HLO = re.compile(r"%?([\w.-]+)\s*=")
_OPCODE = re.compile(r"[\])}]\s+([a-z][\w-]*)\(")
_MODULE = re.compile(r"(.*)\((\d+)\)$")
_MOST = 2**53


class TpuNames:
    """The names of a plane of a TPU; each is looked at once.

    Args:
        trace: Numbers names and scopes.
        space: Where the metadata of the plane lie.
        plane: The plane; its executions of programs are called `jit_f(123)`, by the program's number.
    """

    def __init__(self, trace: Trace, space: SpaceBytes, plane: Plane) -> None:
        self._trace = trace
        self._space = space
        self._plane = plane
        self._modules = {int(m[2]): m[1] for name in plane.names.values() if (m := _MODULE.match(name))}
        self._known: dict[tuple[Role, int], tuple[int, int, int]] = {}

    def resolve(self, metadata: Integers, role: Role) -> Told:
        """What is told of events of a line, by the numbers of their names."""
        unique, inverse = np.unique(metadata, return_inverse=True)
        rows = [self._of(role, number) for number in unique.tolist()]
        columns = np.asarray(rows or [(0, 0, 0)], np.int64)[inverse.reshape(-1)].T
        return Told(columns[0], columns[1], columns[2], np.full(len(metadata), NONE, np.int64))

    def _of(self, role: Role, number: int) -> tuple[int, int, int]:
        key = (role, number)
        if key not in self._known:
            self._known[key] = self._make(role, number)
        return self._known[key]

    def _make(self, role: Role, number: int) -> tuple[int, int, int]:
        text = self._plane.names.get(number, "")
        if role is Role.RANGES:
            return EventKind.ANNOTATION, self._trace.names.number(text), NONE
        told = self._space.described(self._plane, number)
        match = _HLO.match(text)
        short = match[1] if match else told.short or text
        sort = _sort(told.stats, text)
        scope = self._instruction(role, short, sort, told.stats)
        return self._kind(role, sort or short), self._trace.names.number(short), self._trace.scopes.number(scope)

    @staticmethod
    def _kind(role: Role, sort: str) -> EventKind:
        if sort in _HOLDERS:
            return EventKind.ANNOTATION
        return EventKind.TRANSFER if role is Role.BESIDE and _COPIES.match(sort) else EventKind.KERNEL

    def _instruction(self, role: Role, short: str, sort: str, stats: Mapping[str, Any]) -> CountedInstruction:
        # The copy itself stands beside the operations, where the trace has it: they begin it, and wait for it.
        moves = role is Role.BESIDE or not _COPIES.match(sort)
        program = _count(stats.get("program_id"), 2**64)
        number = NONE if program is None else program
        path = stats.get("tf_op")
        return CountedInstruction(
            short,
            self._modules.get(number, ""),
            number,
            path.rstrip(":") if isinstance(path, str) else "",
            sort,
            _count(stats.get("flops"), _MOST),
            _count(stats.get("bytes_accessed"), _MOST) if moves else None,
        )


def _sort(stats: Mapping[str, Any], text: str) -> str:
    """The sort of an instruction, as XLA calls it, else its opcode; may be empty."""
    sort = stats.get("hlo_category")
    if isinstance(sort, str) and sort:
        return sort
    match = _OPCODE.search(text)
    return match[1] if match else ""


def _count(value: Any, most: int) -> int | None:
    return value if type(value) is int and 0 <= value < most else None
