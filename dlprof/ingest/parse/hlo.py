"""What a compiled XLA program says of its instructions: HloProto, as far as attribution needs it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from dlprof.ingest.limits import budget
from dlprof.ingest.parse import protowire
from dlprof.ingest.parse.protowire import Span, fields


@dataclass(frozen=True, eq=False)
class Frame:
    """A call of the user's program while it was traced; those of JAX itself are left out.

    Attributes:
        file: The file, as Python names it.
        line: The line in it.
        caller: The frame around it; None: there is none, or it was not kept.
    """

    file: str
    line: int
    caller: Frame | None = None

    def outwards(self) -> Iterator[Frame]:
        """This one, and those around it, from the inside."""
        frame: Frame | None = self
        while frame is not None:
            yield frame
            frame = frame.caller


class Fused(NamedTuple):
    """An instruction within another one."""

    op_name: str
    opcode: str
    frame: Frame | None = None
    groups: int = 1


@dataclass(frozen=True)
class Instruction:
    """An instruction of a program.

    Attributes:
        name: Unique in its program; the name of its executions in a trace.
        opcode: For example `fusion`, `dot`, `copy`.
        op_name: Path of name scopes in which the user's program made it; empty where XLA inserted it.
        frame: Where the user's program, or Keras, made it; None: the program does not say.
        inside: The instructions that were fused into it.
        operands: Numbers of the instructions whose results it takes.
        number: Its number in its computation.
        computation: Number of the computation that it stands in.
        groups: Into how many groups a convolution takes its channels, or its batch, apart.
    """

    name: str
    opcode: str
    op_name: str
    frame: Frame | None
    inside: tuple[Fused, ...]
    operands: tuple[int, ...]
    number: int
    computation: int = 0
    groups: int = 1


Program = dict[str, Instruction]

# Numbers of the fields of HloProto and of the messages in it.
_MODULE = 1
_MODULE_NAME, _MODULE_COMPUTATIONS, _MODULE_FRAMES = 1, 3, 17
_COMPUTATION_INSTRUCTIONS, _COMPUTATION_NUMBER = 2, 5
_NAME, _OPCODE, _METADATA, _NUMBER, _OPERANDS, _CALLED = 1, 2, 7, 35, 36, 38
_FEATURE_GROUPS, _BATCH_GROUPS = 50, 61
_OP_NAME, _SOURCE_FILE, _SOURCE_LINE, _FRAME = 2, 3, 4, 15
# StackFrameIndexProto, and its FileLocation and StackFrame. All of them are numbered from 1 on.
_FILE_NAMES, _LOCATIONS, _FRAMES = 1, 3, 4
_LOCATION_FILE, _LOCATION_LINE = 1, 3
_FRAME_LOCATION, _FRAME_CALLER = 1, 2


_ROW_BYTES = 1000
"""An instruction, beside its texts and numbers (bytes)."""


@dataclass
class _Row:
    """An instruction as its message has it."""

    name: str = ""
    opcode: str = ""
    op_name: str = ""
    source_file: str = ""
    source_line: int = 0
    frame: int = 0
    called: list[int] = field(default_factory=list)
    operands: list[int] = field(default_factory=list)
    number: int = -1
    groups: int = 1


@dataclass
class _Computation:
    number: int = -1
    rows: list[_Row] = field(default_factory=list)


def program_of(programs: Mapping[str, Program], module: str, number: int) -> Program:
    """The instructions of a program, by its name and number, else by its name; none where it is not known."""
    return programs.get(f"{module}({number})") or programs.get(module) or {}


def read(data: bytes) -> tuple[str, Program]:
    """Name and instructions of the program in an HloProto; all computations' instructions are in one dict.

    Raises:
        WireError: The bytes are damaged.
    """
    name, computations, frames = "", [], _Frames()
    for number, value in fields(data, 0, len(data)):
        if number == _MODULE and isinstance(value, tuple):
            for inner, part in fields(data, *value):
                if inner == _MODULE_NAME and isinstance(part, tuple):
                    name = _text(data, part)
                elif inner == _MODULE_COMPUTATIONS and isinstance(part, tuple):
                    budget().hold(_ROW_BYTES, "computations of programs")
                    computations.append(_computation(data, part))
                elif inner == _MODULE_FRAMES and isinstance(part, tuple):
                    frames = _frames(data, part)
    return name, _program(computations, frames)


@dataclass
class _Frames:
    """Frames of a program, by number."""

    by_number: Sequence[Frame] = ()

    def of(self, row: _Row) -> Frame | None:
        """That of an instruction: by its number, or, as older versions of JAX have it, written out."""
        if 0 < row.frame <= len(self.by_number):
            return self.by_number[row.frame - 1]
        return Frame(row.source_file, row.source_line) if row.source_file else None


def _frames(data: bytes, span: Span) -> _Frames:
    files: list[str] = []
    places: list[tuple[int, int]] = []
    frames: list[tuple[int, int]] = []
    for number, value in fields(data, *span):
        if not isinstance(value, tuple):
            continue
        budget().hold(_ROW_BYTES, "frames of programs")
        if number == _FILE_NAMES:
            files.append(_text(data, value))
        elif number == _LOCATIONS:
            places.append(_pair(data, value, _LOCATION_FILE, _LOCATION_LINE))
        elif number == _FRAMES:
            frames.append(_pair(data, value, _FRAME_LOCATION, _FRAME_CALLER))
    found: list[Frame] = []
    for place, caller in frames:
        file, line = places[place - 1] if 0 < place <= len(places) else (0, 0)
        # Callers come first. What says otherwise may be its own caller: it has none.
        around = found[caller - 1] if 0 < caller <= len(found) else None
        found.append(Frame(files[file - 1] if 0 < file <= len(files) else "", line, around))
    return _Frames(found)


def _pair(data: bytes, span: Span, first: int, second: int) -> tuple[int, int]:
    """Two numbers of a message; 0: it has it not."""
    told = {number: value for number, value in fields(data, *span) if isinstance(value, int)}
    return told.get(first, 0), told.get(second, 0)


def _program(computations: Sequence[_Computation], frames: _Frames) -> Program:
    bodies = {
        body.number: tuple(Fused(row.op_name, row.opcode, frames.of(row), row.groups) for row in body.rows)
        for body in computations
    }
    for row in (row for body in computations for row in body.rows):
        # A body may be called from many places: what is fused into each is held once for each.
        budget().hold(8 * sum(len(bodies.get(called, ())) for called in row.called), "fused instructions of programs")
    return {
        row.name: Instruction(
            name=row.name,
            opcode=row.opcode,
            op_name=row.op_name,
            frame=frames.of(row),
            inside=tuple(one for called in row.called for one in bodies.get(called, ())),
            operands=tuple(row.operands),
            number=row.number,
            computation=computation.number,
            groups=row.groups,
        )
        for computation in computations
        for row in computation.rows
    }


def _computation(data: bytes, span: Span) -> _Computation:
    computation = _Computation()
    for number, value in fields(data, *span):
        if number == _COMPUTATION_INSTRUCTIONS and isinstance(value, tuple):
            budget().hold(_ROW_BYTES + 4 * (value[1] - value[0]), "instructions of programs")
            computation.rows.append(_instruction(data, value))
        elif number == _COMPUTATION_NUMBER and isinstance(value, int):
            computation.number = value
    return computation


def _instruction(data: bytes, span: Span) -> _Row:
    row = _Row()
    for number, value in fields(data, *span):
        if number == _NAME and isinstance(value, tuple):
            row.name = _text(data, value)
        elif number == _OPCODE and isinstance(value, tuple):
            row.opcode = _text(data, value)
        elif number == _METADATA and isinstance(value, tuple):
            _read_metadata(row, data, value)
        elif number == _NUMBER and isinstance(value, int):
            row.number = value
        elif number in (_FEATURE_GROUPS, _BATCH_GROUPS) and isinstance(value, int):
            row.groups = max(row.groups, value)
        elif number == _OPERANDS:
            row.operands.extend(_numbers(data, value))
        elif number == _CALLED:
            row.called.extend(_numbers(data, value))
    return row


def _read_metadata(row: _Row, data: bytes, span: Span) -> None:
    for number, value in fields(data, *span):
        if number == _OP_NAME and isinstance(value, tuple):
            row.op_name = _text(data, value)
        elif number == _SOURCE_FILE and isinstance(value, tuple):
            row.source_file = _text(data, value)
        elif number == _SOURCE_LINE and isinstance(value, int):
            row.source_line = value
        elif number == _FRAME and isinstance(value, int):
            row.frame = value


def _numbers(data: bytes, value: int | Span) -> list[int]:
    """A repeated number, packed or not."""
    if isinstance(value, int):
        return [value]
    at, end = value
    numbers = []
    while at < end:
        number, at = protowire.varint(data, at, end)
        numbers.append(number)
    return numbers


def _text(data: bytes, span: Span) -> str:
    return data[span[0] : span[1]].decode("utf-8", "replace")
