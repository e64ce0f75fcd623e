"""Whose the instructions of a program are that XLA compiled.

By their name scopes, by what was fused into them, and, where XLA itself made them, by the variable that they are a
gradient of, or by what uses their results.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TypeVar

from dlprof.ingest.attribution import hlo_gradients, paths
from dlprof.ingest.attribution.hlo_graph import HloGraph, product
from dlprof.ingest.attribution.labels import NOBODY, Label, Line, Model
from dlprof.ingest.kernels.scopes import CountedInstruction, HloInstruction
from dlprof.ingest.parse.hlo import Frame, Fused, Instruction, Program, program_of
from dlprof.schema.vocabulary import Direction, PseudoLayer

T = TypeVar("T")
_INSERTED = frozenset((
    "copy", "copy-start", "copy-done", "bitcast", "tuple", "get-tuple-element", "parameter", "constant", "broadcast",
    "transpose", "call",
))  # fmt: skip
"""Opcodes of instructions that XLA puts between those of the user's program."""
_COLLECTIVES = ("all-", "reduce-scatter", "collective-", "ragged-all-")
"""Opcodes of collectives begin so: their paths end in what they compute, such as `reduce_sum`."""
_PRODUCTS = {"convolution": "conv_general_dilated", "dot": "dot_general"}
"""What JAX calls them."""
_UNDONE_GROUPS = "convolution-base-dilated"
"""XLA's name for what it makes, on a processor, of the gradient of grouped weights: all groups by all others."""
_WHOLE = {"jit(_one_hot)": "one_hot"}
"""Functions of JAX that are one operator to who calls them, by the part of the path that they are."""
_OF_KERAS = "/keras/src/"
_METRICS, _LOSSES, _OPTIMIZERS = "/metrics/", "/losses/", "/optimizers/"
"""Folders of Keras: who works in one of them works for it."""
_PARTS = (_METRICS, _OPTIMIZERS, _LOSSES)
_LINES = 1 << 31
"""No file has more: a number beyond is not one of a line."""
_RINGS = 4
"""How far the owner of an instruction that XLA made is looked for."""


class HloLabels:
    """Labels of the instructions of compiled programs.

    Args:
        programs: The programs, by name, or by name and number.
        model: What is known of the model.
    """

    def __init__(self, programs: Mapping[str, Program], model: Model) -> None:
        self._programs = programs
        self._model = model
        self._graphs: dict[str, HloGraph] = {}
        self._owned: dict[int, Label] = {}  # by the instruction's identity; the programs keep it alive
        self._known: dict[tuple[str, str], Label] = {}
        self._lines: dict[Frame, Line | None] = {}
        self._own_lines: dict[int, Line | None] = {}  # by the instruction's identity, too
        self._makers: dict[Frame, str] = {}

    def label(self, scope: HloInstruction) -> tuple[Label, str]:
        """Label and operator of an instruction."""
        key, instruction = self._instruction(scope)
        if instruction is None:
            return self._of_unknown(scope)
        return self._owner(instruction, self._graphs[key]), _operator(instruction)

    def line(self, scope: HloInstruction) -> Line | None:
        """The innermost line of the user's that made an instruction; None: its program does not say.

        What XLA put in the place of others, or between them, has the line of its neighbours.
        """
        key, instruction = self._instruction(scope)
        if instruction is None:
            return None
        own = self._own_line(instruction)
        sides = () if own is not None else _sides(instruction, self._graphs[key])
        return next((line for side in sides if (line := _nearest(instruction, side, self._own_line)) is not None), own)

    def _own_line(self, instruction: Instruction) -> Line | None:
        if id(instruction) not in self._own_lines:
            self._own_lines[id(instruction)] = self._own_line_anew(instruction)
        return self._own_lines[id(instruction)]

    def _own_line_anew(self, instruction: Instruction) -> Line | None:
        """The line of the product in a fusion, else of most of what was fused, else of the instruction itself.

        What a loop or a condition runs is not fused into it: its own line is the one that asks for it.
        """
        inside = instruction.inside if instruction.opcode == "fusion" else ()
        for fused in ([one for one in inside if one.opcode in _PRODUCTS], inside):
            votes = Counter(self._users(one.frame) for one in fused if one.opcode not in _INSERTED)
            named = next((line for line, _ in votes.most_common() if line is not None), None)
            if named is not None:
                return named
        return self._users(instruction.frame)

    def _instruction(self, scope: HloInstruction) -> tuple[str, Instruction | None]:
        """It, and the key of the graph that it is in; None: its program is not known."""
        key = f"{scope.module}({scope.program})"
        program = program_of(self._programs, scope.module, scope.program)
        instruction = program.get(scope.op)
        if instruction is not None and key not in self._graphs:
            self._graphs[key] = HloGraph(program)
        return key, instruction

    def _users(self, frame: Frame | None) -> Line | None:
        """The innermost of a frame and those around it that is in a file of the user's."""
        passed = []
        found = None
        for one in frame.outwards() if frame is not None else ():
            if one in self._lines:
                found = self._lines[one]
                break
            passed.append(one)
            short = self._model.files.short(one.file)
            if self._model.files.is_users(short) and 0 < one.line < _LINES:
                found = Line(short, one.line)
                break
        self._lines.update(dict.fromkeys(passed, found))  # each frame is looked at once
        return found

    def _of_unknown(self, scope: HloInstruction) -> tuple[Label, str]:
        """Those of an instruction whose program the trace does not have."""
        if "/" in scope.path:
            return paths.label(scope.path, self._model), scope.path.rpartition("/")[2]
        if isinstance(scope, CountedInstruction) and scope.sort:
            return NOBODY, scope.sort
        return NOBODY, re.sub(r"[.\d]+$", "", scope.op)

    def _owner(self, instruction: Instruction, graph: HloGraph) -> Label:
        own = self._own(instruction)
        if own.layer is not None:
            return own
        if instruction.op_name and not instruction.inside:
            return own
        if product(instruction) and (layer := self._layer_of_gradient(instruction, graph)) is not None:
            return Label(layer, Direction.BACKWARD)
        # XLA made it. It belongs to what uses its result; a copy to what made the value.
        nearest = [_nearest(instruction, side, self._named) for side in _sides(instruction, graph)]
        named = [label for label in nearest if label is not None]
        named.sort(key=lambda label: label.direction is Direction.UPDATE)  # gradients end there, whoever made them
        if named:
            return named[0]
        return own if own.direction else Label(PseudoLayer.XLA, None)

    def _layer_of_gradient(self, instruction: Instruction, graph: HloGraph) -> str | None:
        moved = hlo_gradients.moved_by(instruction, graph, lambda path: self._of_path(path, ""))
        return moved or hlo_gradients.layer_of(instruction, graph, self._own)

    def _named(self, instruction: Instruction) -> Label | None:
        """Its own label, where that has a layer."""
        label = self._own(instruction)
        return label if label.layer is not None else None

    def _own(self, instruction: Instruction) -> Label:
        """What an instruction's own name, or those of what was fused into it, tell."""
        if id(instruction) not in self._owned:
            self._owned[id(instruction)] = self._own_anew(instruction)
        return self._owned[id(instruction)]

    def _own_anew(self, instruction: Instruction) -> Label:
        # A fusion bears the name of its last operation, which may be of a layer far behind that of the product in it.
        inside = instruction.inside if instruction.opcode == "fusion" else ()
        of_products = self._majority([one for one in inside if one.opcode in _PRODUCTS])
        if of_products is not None:
            return of_products
        label = self._of_path(instruction.op_name, self._maker(instruction.frame))
        if label.layer is not None or not instruction.inside:
            return label
        return self._majority(instruction.inside) or label

    def _maker(self, frame: Frame | None) -> str:
        """The file that made an instruction, or that of a metric, an optimiser or a loss of Keras around it.

        These compute with operators of Keras' own, which are in other files; a metric may well be the mean of a loss.
        """
        if frame is None:
            return ""
        if frame not in self._makers:
            files = [one.file for one in frame.outwards() if _OF_KERAS in one.file]
            told = [file for part in _PARTS for file in files if part in file]
            self._makers[frame] = told[0] if told else frame.file
        return self._makers[frame]

    def _of_path(self, path: str, source: str) -> Label:
        if (path, source) not in self._known:
            self._known[path, source] = self._of_path_anew(path, source)
        return self._known[path, source]

    def _of_path_anew(self, path: str, source: str) -> Label:
        if not path:
            return NOBODY
        label = paths.label(path, self._model)
        if label.layer is not None and (self._model.is_known or "/src/" not in source):
            return label
        by_file = _by_source(source, self._model)
        if by_file is None:
            return label
        backward = paths.components(path)[1]
        return Label(by_file.layer, by_file.direction or (Direction.BACKWARD if backward else Direction.FORWARD))

    def _majority(self, inside: Iterable[Fused]) -> Label | None:
        votes = Counter(self._of_path(one.op_name, "") for one in inside if one.opcode not in _INSERTED)
        return next((label for label, _ in votes.most_common() if label.layer is not None), None)


def _sides(instruction: Instruction, graph: HloGraph) -> Sequence[Callable[[Instruction], list[Instruction]]]:
    """Where the owner of an instruction that XLA made is looked for: a copy is of what made the value."""
    if instruction.opcode in _INSERTED:
        return graph.operands, graph.users
    return graph.users, graph.operands


def _nearest(
    start: Instruction, side: Callable[[Instruction], list[Instruction]], told: Callable[[Instruction], T | None]
) -> T | None:
    """What the nearest instructions on one side tell, of which one tells anything.

    Each has a vote for each way on which it is reached. These are counted, not gone: in a loop that was unrolled they
    are a power of its length.
    """
    seen, ring = {start.name}, {start.name: (start, 1)}
    for _ in range(_RINGS):
        ring = _next_ring(ring, seen, side)
        seen.update(ring)
        votes = Counter[T]()
        for instruction, ways in ring.values():
            value = told(instruction)
            if value is not None:
                votes[value] += ways
        if votes:
            return votes.most_common(1)[0][0]
    return None


_Ring = dict[str, tuple[Instruction, int]]
"""Instructions that are as far from one, by name, each with the number of ways on which it is reached."""


def _next_ring(ring: _Ring, seen: Collection[str], side: Callable[[Instruction], list[Instruction]]) -> _Ring:
    """Those that are one further."""
    found: _Ring = {}
    for inner, ways in ring.values():
        for one in side(inner):
            if one.name not in seen and one.opcode != "parameter":
                before = found[one.name][1] if one.name in found else 0
                found[one.name] = (one, before + ways)
    return found


def _operator(instruction: Instruction) -> str:
    if instruction.opcode.startswith(_COLLECTIVES):
        return instruction.opcode
    # A product stays one when XLA has folded a transpose into it, whose name it may bear then.
    opcode = product(instruction)
    if opcode is not None:
        if instruction.name.startswith(_UNDONE_GROUPS):
            return f"{_PRODUCTS[opcode]} (gradient of groups)"
        groups = max([instruction.groups, *(one.groups for one in instruction.inside)])
        return f"{_PRODUCTS[opcode]} ({groups} groups)" if groups > 1 else _PRODUCTS[opcode]
    whole = next((name for part, name in _WHOLE.items() if part in instruction.op_name), None)
    if whole is not None:
        return whole
    last = instruction.op_name.rpartition("/")[2]
    return last if last and "(" not in last else instruction.opcode or instruction.name


def _by_source(source: str, model: Model) -> Label | None:
    """What the file of Keras that made an instruction tells, where its path tells nothing."""
    if _OPTIMIZERS in source:
        return Label(model.optimizer, Direction.UPDATE)
    if _LOSSES in source or "compile_utils" in source:
        return Label(PseudoLayer.LOSS, None)
    if _METRICS in source:
        return Label(PseudoLayer.METRICS, Direction.FORWARD)
    return None
