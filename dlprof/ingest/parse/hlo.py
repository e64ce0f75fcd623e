"""What a compiled XLA program says of its instructions: HloProto, as far as attribution needs it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dlprof.ingest.parse import protowire
from dlprof.ingest.parse.protowire import Span, fields


@dataclass(frozen=True)
class Instruction:
    """An instruction of a program.

    Attributes:
        name: Unique in its program; the name of its executions in a trace.
        opcode: For example `fusion`, `dot`, `copy`.
        op_name: Path of name scopes in which the user's program made it; empty where XLA inserted it.
        source_file: File of the user's program or of Keras that made it.
        inside: Path names and opcodes of the instructions that were fused into it.
        operands: Numbers of the instructions whose results it takes.
        number: Its number in its computation.
        computation: Number of the computation that it stands in.
    """

    name: str
    opcode: str
    op_name: str
    source_file: str
    inside: tuple[tuple[str, str], ...]
    operands: tuple[int, ...]
    number: int
    computation: int = 0


Program = dict[str, Instruction]


def read(data: bytes) -> tuple[str, Program]:
    """Name and instructions of the program in an HloProto; all computations' instructions are in one dict.

    Raises:
        WireError: The bytes are damaged.
    """
    name, computations = "", []
    for number, value in fields(data, 0, len(data)):
        if number == 1 and isinstance(value, tuple):  # HloProto.hlo_module
            for inner, part in fields(data, *value):
                if inner == 1 and isinstance(part, tuple):
                    name = _text(data, part)
                elif inner == 3 and isinstance(part, tuple):
                    computations.append(_computation(data, part))
    bodies = {number: [(i["op_name"], i["opcode"]) for i in rows] for number, rows in computations}
    found: Program = {}
    for computation, rows in computations:
        for row in rows:
            inside = tuple(pair for called in row["called"] for pair in bodies.get(called, ()))
            found[row["name"]] = Instruction(
                row["name"], row["opcode"], row["op_name"], row["source_file"], inside, tuple(row["operands"]),
                row["number"], computation,
            )  # fmt: skip
    return name, found


def _computation(data: bytes, span: Span) -> tuple[int, list[dict[str, Any]]]:
    number, rows = -1, []
    for field, value in fields(data, *span):
        if field == 2 and isinstance(value, tuple):
            rows.append(_instruction(data, value))
        elif field == 5 and isinstance(value, int):
            number = value
    return number, rows


def _instruction(data: bytes, span: Span) -> dict[str, Any]:
    row: dict[str, Any] = {
        "name": "", "opcode": "", "op_name": "", "source_file": "", "called": [], "operands": [], "number": -1,
    }  # fmt: skip
    for field, value in fields(data, *span):
        if field == 1 and isinstance(value, tuple):
            row["name"] = _text(data, value)
        elif field == 2 and isinstance(value, tuple):
            row["opcode"] = _text(data, value)
        elif field == 7 and isinstance(value, tuple):
            for inner, part in fields(data, *value):
                if inner in (2, 3) and isinstance(part, tuple):
                    row["op_name" if inner == 2 else "source_file"] = _text(data, part)
        elif field == 35 and isinstance(value, int):
            row["number"] = value
        elif field in (36, 38):
            row["operands" if field == 36 else "called"].extend(_numbers(data, value))
    return row


def _numbers(data: bytes, value: int | Span) -> list[int]:
    """A repeated number, packed or not."""
    if isinstance(value, int):
        return [value]
    at, end = value
    found = []
    while at < end:
        number, at = protowire.varint(data, at, end)
        found.append(number)
    return found


def _text(data: bytes, span: Span) -> str:
    return data[span[0] : span[1]].decode("utf-8", "replace")
