"""What an event carries besides its name, for attribution: one type per thing that traces tell.

A trace numbers its scopes as it numbers names, so that each distinct one is made and looked at once.
A reader may have types of its own, for an attribution of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dlprof.schema.vocabulary import Direction, EventKind


@dataclass(frozen=True, slots=True)
class Work:
    """What one execution did, where its scope tells it.

    Attributes:
        flops: Floating-point operations.
        moved_bytes: Bytes that were copied.
    """

    flops: float | None = None
    moved_bytes: float | None = None


@dataclass(frozen=True, slots=True)
class Scope:
    """Something that an event carries; compared by what it holds."""

    TELLS_WORK_OF: ClassVar[tuple[EventKind, ...]] = ()
    """Kinds of events whose work it tells."""

    def work(self, name: str) -> Work:  # noqa: ARG002  (for those that tell some)
        """The work of an event of that name."""
        return Work()


@dataclass(frozen=True, slots=True)
class NodePath(Scope):
    """The path of a node of a graph, and its type: `SCOPE/NAME:Type`."""

    path: str


@dataclass(frozen=True, slots=True)
class HloInstruction(Scope):
    """An instruction of a program that XLA compiled.

    Attributes:
        op: Its name, unique in its program.
        module: Name of the program.
        program: Number of the program, or NONE.
        path: Name scopes in which it was made; may be empty.
    """

    op: str
    module: str
    program: int
    path: str


@dataclass(frozen=True, slots=True)
class CountedInstruction(HloInstruction):
    """An instruction whose work its compiler counted, as for TPUs.

    Attributes:
        sort: What XLA calls its sort: `convolution fusion`, `all-reduce`; may be empty.
        flops: Floating-point operations of one execution, or None.
        accessed_bytes: Bytes that one execution reads and writes in memory, or None.
    """

    TELLS_WORK_OF: ClassVar[tuple[EventKind, ...]] = (EventKind.KERNEL, EventKind.TRANSFER)
    sort: str = ""
    flops: int | None = None
    accessed_bytes: int | None = None

    def work(self, name: str) -> Work:  # noqa: ARG002
        """What the compiler counted."""
        flops, accessed = self.flops, self.accessed_bytes
        return Work(None if flops is None else float(flops), None if accessed is None else float(accessed))


@dataclass(frozen=True, slots=True)
class LayerPass(Scope):
    """Layer and pass, where the tracer knew them; a layer of an update is that of the optimiser."""

    layer: str | None
    direction: Direction | None


@dataclass(frozen=True, slots=True)
class BytesMoved(Scope):
    """The size of a copy (bytes)."""

    size: int
    TELLS_WORK_OF: ClassVar[tuple[EventKind, ...]] = (EventKind.TRANSFER,)

    def work(self, name: str) -> Work:  # noqa: ARG002
        """The bytes."""
        return Work(moved_bytes=float(self.size))
