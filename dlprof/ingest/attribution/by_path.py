"""Attribution where each event carries the path of its name scopes: TensorFlow 1 and 2, JAX."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dlprof.ingest.attribution import paths
from dlprof.ingest.attribution.labels import BACKWARD, FORWARD, INPUT, LOSS, METRICS, UPDATE, XLA, Labels, Model
from dlprof.ingest.kernels.trace import NONE, Kind, Trace
from dlprof.ingest.parse.hlo import Instruction, Program

_EAGER = "EagerLocalExecute: "
_TYPED = re.compile(r"^(.*?):(_?[A-Za-z]\w*)(?:#.*)?$", re.DOTALL)
_INSERTED = frozenset(
    [
        "copy",
        "copy-start",
        "copy-done",
        "bitcast",
        "tuple",
        "get-tuple-element",
        "parameter",
        "constant",
        "broadcast",
        "transpose",
        "call",
    ]
)


def attribute(trace: Trace, columns: dict[str, npt.NDArray[Any]], model: Model) -> Labels:
    """Labels by the path in the name (TensorFlow) or in the scope (GPU kernels, JAX) of each event."""
    labels = Labels.empty(len(columns["start"]))
    wanted = np.isin(columns["kind"], (Kind.OPERATOR, Kind.KERNEL, Kind.TRANSFER))
    keys = columns["name"].astype(np.int64) * (len(trace.scopes) + 1) + columns["scope"] + 1
    unique, inverse = np.unique(keys[wanted], return_inverse=True)
    hlo = _Hlo(trace, model)
    numbers, ops = [], []
    for key in unique.tolist():
        name, scope = trace.names[key // (len(trace.scopes) + 1)], key % (len(trace.scopes) + 1) - 1
        text = trace.scopes[scope] if scope >= 0 else ""
        if text.startswith("hlo\t"):
            layer, direction, op = hlo.label(text)
        else:
            layer, direction, op = _of_name(text.removeprefix("tf\t") or name, name, model)
        numbers.append(labels.number(layer, direction) if layer or direction else NONE)
        ops.append(labels.ops.number(op) if op else NONE)
    if len(unique):
        labels.label[wanted] = np.asarray(numbers, np.int64)[inverse]
        labels.op[wanted] = np.asarray(ops, np.int64)[inverse]
    _input_lanes(trace, columns, labels)
    return labels


def _input_lanes(trace: Trace, columns: dict[str, npt.NDArray[Any]], labels: Labels) -> None:
    """What the threads of tf.data run is input, whatever it is called."""
    lanes = [number for number, lane in enumerate(trace.lanes) if lane.name.startswith("tf_data_")]
    rows = (columns["kind"] == Kind.OPERATOR) & (labels.label == NONE) & np.isin(columns["lane"], lanes)
    labels.label[rows] = labels.number(INPUT, None)


def _of_name(path: str, name: str, model: Model) -> tuple[str | None, str | None, str]:
    """Layer, direction and operator of an event of TensorFlow: `SCOPE/NAME:Type`."""
    if path.startswith(_EAGER):
        return None, None, path.removeprefix(_EAGER)
    match = _TYPED.match(path)
    if not match:
        return None, None, name
    layer, direction = paths.label(match[1], model)
    if layer is None and paths.is_update(match[2]):
        return None, UPDATE, match[2]
    return layer, direction, match[2]


class _Graph:
    """Who takes whose result in a program."""

    def __init__(self, program: Program) -> None:
        self._by_number = {(i.computation, i.number): i for i in program.values()}
        self._users: dict[tuple[int, int], list[Instruction]] = {}
        for instruction in program.values():
            for operand in instruction.operands:
                self._users.setdefault((instruction.computation, operand), []).append(instruction)

    def operands(self, instruction: Instruction) -> list[Instruction]:
        """The instructions whose results an instruction takes."""
        found = (self._by_number.get((instruction.computation, number)) for number in instruction.operands)
        return [operand for operand in found if operand is not None]

    def users(self, instruction: Instruction) -> list[Instruction]:
        """The instructions that take the result of an instruction."""
        return self._users.get((instruction.computation, instruction.number), [])


Pair = tuple[str | None, str | None]
_NOBODY: Pair = (None, None)


class _Hlo:
    """Labels of the instructions of compiled programs."""

    def __init__(self, trace: Trace, model: Model) -> None:
        self._programs: dict[str, Program] = trace.programs
        self._model = model
        self._graphs: dict[str, _Graph] = {}

    def label(self, scope: str) -> tuple[str | None, str | None, str]:
        """Layer, direction and operator of `hlo, OP, MODULE, PROGRAM, PATH`, separated by tabs."""
        _, op, module, program, path = scope.split("\t")
        key = f"{module}({program})"
        found = self._programs.get(key) or self._programs.get(module) or {}
        instruction = found.get(op)
        if instruction is None:
            layer, direction = paths.label(path, self._model) if "/" in path else _NOBODY
            return layer, direction, path.rpartition("/")[2] if "/" in path else re.sub(r"[.\d]+$", "", op)
        if key not in self._graphs:
            self._graphs[key] = _Graph(found)
        return (*self._owner(instruction, self._graphs[key]), self._operator(instruction))

    def _owner(self, instruction: Instruction, graph: _Graph) -> Pair:
        own = self._own(instruction)
        if own[0] is not None:
            return own
        if instruction.op_name and not instruction.inside:
            return own
        # XLA made it. It belongs to what uses its result; a copy to what made the value.
        sides = [graph.operands, graph.users] if instruction.opcode in _INSERTED else [graph.users, graph.operands]
        found = [self._nearest(instruction, side) for side in sides]
        named = [pair for pair in found if pair[0] is not None]
        named.sort(key=lambda pair: pair[1] == UPDATE)  # gradients end in the optimiser, whoever made them
        if named:
            return named[0]
        return own if own[1] else (XLA, None)

    def _nearest(self, start: Instruction, side: Callable[[Instruction], list[Instruction]]) -> Pair:
        """The owner of the nearest instruction on one side that has one, by its own name."""
        seen, ring = {start.name}, [start]
        for _ in range(4):
            ring = [i for one in ring for i in side(one) if i.name not in seen and i.opcode != "parameter"]
            seen.update(i.name for i in ring)
            votes = Counter(pair for pair in map(self._own, ring) if pair[0] is not None)
            if votes:
                return votes.most_common(1)[0][0]
        return _NOBODY

    def _own(self, instruction: Instruction) -> Pair:
        """What an instruction's own name, or those of what was fused into it, tell."""
        pair = self._of_path(instruction.op_name, instruction.source_file)
        return pair if pair[0] is not None or not instruction.inside else self._majority(instruction) or pair

    def _of_path(self, path: str, source: str) -> tuple[str | None, str | None]:
        if not path:
            return None, None
        layer, direction = paths.label(path, self._model)
        if layer is not None and (self._model.is_known or "/src/" not in source):
            return layer, direction
        backward = paths.components(path)[1]
        by_file = _by_source(source, self._model)
        if by_file is not None:
            return by_file[0], by_file[1] or (BACKWARD if backward else FORWARD)
        return layer, direction

    def _majority(self, instruction: Instruction) -> Pair | None:
        votes = Counter(self._of_path(path, "") for path, opcode in instruction.inside if opcode not in _INSERTED)
        named = [pair for pair, _ in votes.most_common() if pair[0] is not None]
        return named[0] if named else None

    @staticmethod
    def _operator(instruction: Instruction) -> str:
        # A product stays one when XLA has folded a transpose into it, whose name it may bear then.
        inside = {instruction.opcode, *(opcode for _, opcode in instruction.inside)}
        for opcode in ("convolution", "dot"):
            if opcode in inside:
                return "dot_general" if opcode == "dot" else "conv_general_dilated"
        last = instruction.op_name.rpartition("/")[2]
        return last if last and "(" not in last else instruction.opcode or instruction.name


def _by_source(source: str, model: Model) -> tuple[str, str | None] | None:
    """What the file of Keras that made an instruction tells, where its path tells nothing."""
    if "/optimizers/" in source:
        return (model.optimizers[0] if model.optimizers else "optimizer"), UPDATE
    if "/losses/" in source or "compile_utils" in source:
        return LOSS, None
    if "/metrics/" in source:
        return METRICS, FORWARD
    return None
