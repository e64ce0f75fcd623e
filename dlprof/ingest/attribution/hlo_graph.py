"""What takes whose result in a program that XLA compiled."""

from __future__ import annotations

from dlprof.ingest.parse.hlo import Instruction, Program

_PRODUCTS = ("convolution", "dot")
MOVES = frozenset(("bitcast", "convert", "copy", "copy-done", "copy-start", "parameter", "reshape", "transpose"))
"""Opcodes that pass on what they take, in another place, layout or type; `parameter` stands in what was fused."""


class HloGraph:
    """The instructions of a program, by who takes whose result."""

    def __init__(self, program: Program) -> None:
        self._by_number = {(i.computation, i.number): i for i in program.values()}
        self._users: dict[tuple[int, int], list[Instruction]] = {}
        for instruction in program.values():
            for operand in instruction.operands:
                self._users.setdefault((instruction.computation, operand), []).append(instruction)

    def operands(self, instruction: Instruction) -> list[Instruction]:
        """The instructions whose results an instruction takes."""
        operands = (self._by_number.get((instruction.computation, number)) for number in instruction.operands)
        return [operand for operand in operands if operand is not None]

    def users(self, instruction: Instruction) -> list[Instruction]:
        """The instructions that take the result of an instruction."""
        return self._users.get((instruction.computation, instruction.number), [])


def product(instruction: Instruction) -> str | None:
    """The product that an instruction is, or has had fused into it: `convolution`, `dot`; None: none."""
    opcodes = {instruction.opcode, *(one.opcode for one in instruction.inside)}
    return next((opcode for opcode in _PRODUCTS if opcode in opcodes), None)


def is_move(instruction: Instruction) -> bool:
    """Whether it passes on what it takes."""
    if instruction.opcode in ("fusion", "call"):
        return bool(instruction.inside) and all(one.opcode in MOVES for one in instruction.inside)
    return instruction.opcode in MOVES and instruction.opcode != "parameter"
