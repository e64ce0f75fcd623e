"""Whose the instructions of a program are that XLA compiled.

By their name scopes, by what was fused into them, and, where XLA itself made them, by the variable that they are a
gradient of, or by what uses their results.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping

from dlprof.ingest.attribution import hlo_gradients, paths
from dlprof.ingest.attribution.hlo_graph import HloGraph, product
from dlprof.ingest.attribution.labels import NOBODY, Label, Model
from dlprof.ingest.kernels.scopes import CountedInstruction, HloInstruction
from dlprof.ingest.parse.hlo import Instruction, Program
from dlprof.schema.vocabulary import Direction, PseudoLayer

_INSERTED = frozenset((
    "copy", "copy-start", "copy-done", "bitcast", "tuple", "get-tuple-element", "parameter", "constant", "broadcast",
    "transpose", "call",
))  # fmt: skip
"""Opcodes of instructions that XLA puts between those of the user's program."""
_COLLECTIVES = ("all-", "reduce-scatter", "collective-", "ragged-all-")
"""Opcodes of collectives begin so: their paths end in what they compute, such as `reduce_sum`."""
_PRODUCTS = {"convolution": "conv_general_dilated", "dot": "dot_general"}
"""What JAX calls them."""
_WHOLE = {"jit(_one_hot)": "one_hot"}
"""Functions of JAX that are one operator to who calls them, by the part of the path that they are."""
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

    def label(self, scope: HloInstruction) -> tuple[Label, str]:
        """Label and operator of an instruction."""
        key = f"{scope.module}({scope.program})"
        program = self._programs.get(key) or self._programs.get(scope.module) or {}
        instruction = program.get(scope.op)
        if instruction is None:
            return self._of_unknown(scope)
        if key not in self._graphs:
            self._graphs[key] = HloGraph(program)
        return self._owner(instruction, self._graphs[key]), _operator(instruction)

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
        if product(instruction) and (layer := hlo_gradients.layer_of(instruction, graph, self._own)) is not None:
            return Label(layer, Direction.BACKWARD)
        # XLA made it. It belongs to what uses its result; a copy to what made the value.
        sides = [graph.operands, graph.users] if instruction.opcode in _INSERTED else [graph.users, graph.operands]
        nearest = [self._nearest(instruction, side) for side in sides]
        named = [label for label in nearest if label.layer is not None]
        named.sort(key=lambda label: label.direction is Direction.UPDATE)  # gradients end there, whoever made them
        if named:
            return named[0]
        return own if own.direction else Label(PseudoLayer.XLA, None)

    def _nearest(self, start: Instruction, side: Callable[[Instruction], list[Instruction]]) -> Label:
        """The owner of the nearest instruction on one side that has one, by its own name.

        It has a vote for each way on which it is reached. These are counted, not gone: in a loop that was unrolled they
        are a power of its length.
        """
        seen, ring = {start.name}, {start.name: (start, 1)}
        for _ in range(_RINGS):
            ring = _next_ring(ring, seen, side)
            seen.update(ring)
            votes = Counter[Label]()
            for instruction, ways in ring.values():
                label = self._own(instruction)
                if label.layer is not None:
                    votes[label] += ways
            if votes:
                return votes.most_common(1)[0][0]
        return NOBODY

    def _own(self, instruction: Instruction) -> Label:
        """What an instruction's own name, or those of what was fused into it, tell."""
        if id(instruction) not in self._owned:
            self._owned[id(instruction)] = self._own_anew(instruction)
        return self._owned[id(instruction)]

    def _own_anew(self, instruction: Instruction) -> Label:
        # A fusion bears the name of its last operation, which may be of a layer far behind that of the product in it.
        inside = instruction.inside if instruction.opcode == "fusion" else ()
        of_products = self._majority([one for one in inside if one[1] in _PRODUCTS])
        if of_products is not None:
            return of_products
        label = self._of_path(instruction.op_name, instruction.source_file)
        if label.layer is not None or not instruction.inside:
            return label
        return self._majority(instruction.inside) or label

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

    def _majority(self, inside: Iterable[tuple[str, str]]) -> Label | None:
        votes = Counter(self._of_path(path, "") for path, opcode in inside if opcode not in _INSERTED)
        return next((label for label, _ in votes.most_common() if label.layer is not None), None)


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
        return _PRODUCTS[opcode]
    whole = next((name for part, name in _WHOLE.items() if part in instruction.op_name), None)
    if whole is not None:
        return whole
    last = instruction.op_name.rpartition("/")[2]
    return last if last and "(" not in last else instruction.opcode or instruction.name


def _by_source(source: str, model: Model) -> Label | None:
    """What the file of Keras that made an instruction tells, where its path tells nothing."""
    if "/optimizers/" in source:
        return Label(model.optimizer, Direction.UPDATE)
    if "/losses/" in source or "compile_utils" in source:
        return Label(PseudoLayer.LOSS, None)
    if "/metrics/" in source:
        return Label(PseudoLayer.METRICS, Direction.FORWARD)
    return None
