"""Attribution where each event carries the path of its name scopes: TensorFlow 1 and 2, JAX."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt

from dlprof.ingest.attribution import paths
from dlprof.ingest.attribution.labels import BACKWARD, FORWARD, INPUT, LOSS, METRICS, UPDATE, XLA, Labels, Model
from dlprof.ingest.traces.base import NONE, Kind, Trace
from dlprof.ingest.traces.hlo import Instruction, Program

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
    match = _TYPED.match(path)
    if not match:
        return None, None, name
    layer, direction = paths.label(match[1], model)
    if layer is None and paths.is_update(match[2]):
        return None, UPDATE, match[2]
    return layer, direction, match[2]


class _Hlo:
    """Labels of the instructions of compiled programs."""

    def __init__(self, trace: Trace, model: Model) -> None:
        self._programs: dict[str, Program] = trace.programs
        self._model = model
        self._by_number: dict[str, dict[int, Instruction]] = {}

    def label(self, scope: str) -> tuple[str | None, str | None, str]:
        """Layer, direction and operator of `hlo, OP, MODULE, PROGRAM, PATH`, separated by tabs."""
        _, op, module, program, path = scope.split("\t")
        found = self._program(module, program)
        instruction = found.get(op) if found else None
        if instruction is None:
            layer, direction = paths.label(path, self._model) if "/" in path else (None, None)
            return layer, direction, path.rpartition("/")[2] if "/" in path else re.sub(r"[.\d]+$", "", op)
        return self._of_instruction(instruction, f"{module}({program})", found or {})

    def _program(self, module: str, program: str) -> Program | None:
        return self._programs.get(f"{module}({program})") or self._programs.get(module)

    def _of_instruction(
        self, instruction: Instruction, key: str, program: Program, depth: int = 0
    ) -> tuple[str | None, str | None, str]:
        op = self._operator(instruction)
        layer, direction = self._of_path(instruction.op_name, instruction.source_file)
        if layer is None and instruction.inside:
            layer, direction = self._majority(instruction)
        if layer is None and not instruction.op_name and instruction.opcode in _INSERTED:
            # A copy belongs to what made the value it copies, if that is an instruction of the program.
            if depth < 4:
                layer, direction = self._of_operand(instruction, key, program, depth)
            return (layer, direction, op) if layer else (XLA, None, op)
        if layer is None and not instruction.op_name and not instruction.inside:
            return XLA, None, op
        return layer, direction, op

    def _of_operand(
        self, instruction: Instruction, key: str, program: Program, depth: int
    ) -> tuple[str | None, str | None]:
        numbers = self._by_number.get(key)
        if numbers is None:
            numbers = self._by_number[key] = {i.number: i for i in program.values()}
        for operand in instruction.operands[:1]:
            source = numbers.get(operand)
            if source is not None and source.opcode != "parameter":
                layer, direction, _ = self._of_instruction(source, key, program, depth + 1)
                return (None, None) if layer == XLA else (layer, direction)
        return None, None

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

    def _majority(self, instruction: Instruction) -> tuple[str | None, str | None]:
        votes = Counter(self._of_path(path, "") for path, opcode in instruction.inside if opcode not in _INSERTED)
        votes.pop((None, None), None)
        named = [(pair, count) for pair, count in votes.most_common() if pair[0] is not None]
        return named[0][0] if named else (None, None)

    @staticmethod
    def _operator(instruction: Instruction) -> str:
        inside = {opcode for _, opcode in instruction.inside}
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
