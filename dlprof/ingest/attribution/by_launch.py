"""Attribution where an event belongs to what ran around its launch: PyTorch, and CUDA traces with NVTX ranges."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dlprof.ingest.attribution.labels import BACKWARD, FORWARD, INPUT, LOSS, METRICS, UPDATE, Labels, Model
from dlprof.ingest.attribution.names import plain
from dlprof.ingest.kernels.linking import Linked
from dlprof.ingest.kernels.nesting import levels, nest
from dlprof.ingest.kernels.trace import NONE, Integers, Kind, Trace

_MODULE = re.compile(r"^nn\.Module: (.+)$")
Sequences = dict[int, tuple[str | None, str | None]]
_SEQUENCES_KEPT = 200_000
_ENGINE = "autograd::engine::evaluate_function: "


def attribute(
    trace: Trace, columns: dict[str, npt.NDArray[Any]], model: Model, linked: Linked, sequences: Sequences | None = None
) -> Labels:
    """Labels by annotations, sequence numbers of autograd, and launches.

    Args:
        trace: The trace.
        columns: Its events, or those of a segment.
        model: What is known of the model.
        linked: Relations between the events.
        sequences: Labels of forward operators in earlier segments; those of this one are added.
    """
    labels = Labels.empty(len(columns["start"]))
    host = np.isin(columns["kind"], (Kind.OPERATOR, Kind.RUNTIME, Kind.WAIT))
    _by_annotation(trace, columns, labels, (host, model))
    if trace.engine == "torch":
        _Autograd(trace, columns, labels, linked, {} if sequences is None else sequences).apply()
    own = host & (columns["kind"] == Kind.OPERATOR)
    labels.op[own] = _renumbered(columns["name"][own], trace, labels)
    _to_kernels(trace, columns, labels, linked)
    return labels


def _renumbered(names: Integers, trace: Trace, labels: Labels) -> Integers:
    """Numbers of names as numbers of operators."""
    unique, inverse = np.unique(names, return_inverse=True)
    table = [labels.ops.number(plain(trace.names[n])) for n in unique.tolist()]
    return np.asarray(table or [NONE], np.int64)[inverse]


def _by_annotation(
    trace: Trace, columns: dict[str, npt.NDArray[Any]], labels: Labels, wanted: tuple[Any, Model]
) -> None:
    """Label host events by the innermost annotation around them that means something."""
    host, model = wanted
    meant = {n: m for n in np.unique(columns["name"][np.isin(columns["kind"], (Kind.ANNOTATION, Kind.PYTHON))]).tolist()
             if (m := _meaning(trace.names[n], model)) is not None}  # fmt: skip
    if not meant:
        return
    table = np.full(len(trace.names), NONE, np.int64)
    for name, (layer, direction) in meant.items():
        table[name] = labels.number(layer, direction)
    chosen = np.flatnonzero(np.isin(columns["kind"], (Kind.ANNOTATION, Kind.PYTHON)) & (table[columns["name"]] >= 0))
    tree = nest(columns["lane"][chosen], columns["start"][chosen], columns["dur"][chosen])
    rows = np.flatnonzero(host)
    around = tree.at(columns["lane"][rows].astype(np.int64), columns["start"][rows])
    inside = around >= 0
    labels.label[rows[inside]] = table[columns["name"][chosen[tree.order[around[inside]]]]]


def _meaning(name: str, model: Model) -> tuple[str | None, str | None] | None:
    """Layer and direction that the name of an annotation tells, or None."""
    if name.startswith("dlprof:"):
        _, what, rest = (*name.split(":", 2), "")[:3]
        return {
            "layer": (rest, FORWARD), "loss": (LOSS, FORWARD),
            "optimizer": (model.optimizers[0] if model.optimizers else rest or "optimizer", UPDATE),
            "metrics": (METRICS, FORWARD), "input": (INPUT, None),
        }.get(what)  # fmt: skip
    module = _MODULE.match(name)
    if module:
        return module[1], FORWARD
    if name.startswith("Optimizer."):
        return name.partition("#")[2].partition(".")[0] or "optimizer", UPDATE
    if name.startswith("enumerate(DataLoader)"):
        return INPUT, None
    return None


@dataclass
class _Autograd:
    """Backward operators: they carry the sequence number of the forward operator that made them."""

    trace: Trace
    columns: dict[str, npt.NDArray[Any]]
    labels: Labels
    linked: Linked
    sequences: Sequences

    def apply(self) -> None:
        """Label backward operators, and all that runs inside them."""
        tree = self.linked.host
        if not len(tree.order):
            return
        rows = tree.order
        texts = np.asarray([t.startswith((_ENGINE, "autograd::engine")) for t in self.trace.names.texts] or [False])
        is_engine = texts[self.columns["name"][rows]] & (self.columns["kind"][rows] == Kind.OPERATOR)
        root = _roots(tree.parent, tree.depth, is_engine)
        backward = root >= 0
        sequence = np.where(self.columns["kind"][rows] == Kind.OPERATOR, self.columns["link"][rows], NONE)
        self._forward(rows, sequence, backward)
        label = self._of_engines(rows, is_engine, sequence)
        self.labels.label[rows[backward]] = label[root[backward]]
        plain = ~backward & (self.labels.label[rows] == NONE)
        if is_engine.any():
            self.labels.label[rows[plain]] = self.labels.number(None, FORWARD)

    def _forward(self, rows: Integers, sequence: Integers, backward: Any) -> None:
        """Remember the label of the innermost forward operator of each sequence number."""
        chosen = np.flatnonzero((sequence >= 0) & ~backward & (self.labels.label[rows] >= 0))
        order = chosen[np.argsort(self.columns["start"][rows[chosen]], kind="stable")]
        pairs = self.labels.pairs
        found = zip(sequence[order].tolist(), self.labels.label[rows[order]].tolist(), strict=True)
        self.sequences.update((number, pairs[label]) for number, label in found)
        for number in list(self.sequences)[: max(0, len(self.sequences) - _SEQUENCES_KEPT)]:
            del self.sequences[number]  # of steps that are long over

    def _of_engines(self, rows: Integers, is_engine: Any, sequence: Integers) -> Integers:
        """Label of each node that the engine of autograd ran, in the order in which it ran them."""
        label = np.full(len(rows), NONE, np.int64)
        unknown = self.labels.number(None, BACKWARD)
        last = unknown
        for at in np.flatnonzero(is_engine)[np.argsort(self.columns["start"][rows[is_engine]], kind="stable")].tolist():
            forward = self.sequences.get(int(sequence[at]))
            if forward is not None:
                layer, direction = forward
                last = self.labels.number(layer, direction if direction == UPDATE else BACKWARD)
                label[at] = last
            else:
                # Gradients are added up right after the node that made them.
                label[at] = last if sequence[at] < 0 else unknown
        return label


def _roots(parent: Integers, depth: Integers, chosen: Any) -> Integers:
    """The outermost chosen event around each event, itself included, or NONE."""
    root = np.where(chosen, np.arange(len(parent)), NONE)
    for level in levels(depth)[1:]:
        at = level[parent[level] >= 0]
        above = root[parent[at]]
        root[at] = np.where(above >= 0, above, root[at])
    return root


def _to_kernels(trace: Trace, columns: dict[str, npt.NDArray[Any]], labels: Labels, linked: Linked) -> None:
    """Kernels and copies take label and operator from what launched them."""
    device = np.flatnonzero(linked.launch >= 0)
    if len(device):
        launch = linked.launch[device]
        labels.label[device] = labels.label[launch]
        operator = linked.operator[device]
        known = operator >= 0
        labels.op[device[known]] = labels.op[operator[known]]
    if trace.engine == "cuda":
        _by_range(trace, columns, labels, linked, device)


def _by_range(
    trace: Trace, columns: dict[str, npt.NDArray[Any]], labels: Labels, linked: Linked, device: Integers
) -> None:
    """The innermost NVTX range around the launch names the operator."""
    ranges = np.flatnonzero(columns["kind"] == Kind.ANNOTATION)
    if not len(ranges) or not len(device):
        return
    tree = nest(columns["lane"][ranges], columns["start"][ranges], columns["dur"][ranges])
    launch = linked.launch[device]
    around = tree.at(columns["lane"][launch].astype(np.int64), columns["start"][launch])
    inside = around >= 0
    names = columns["name"][ranges[tree.order[around[inside]]]]
    rows = device[inside]
    labels.op[rows] = _renumbered(names, trace, labels)
    for row, name in zip(rows.tolist(), names.tolist(), strict=True):
        text = trace.names[name]
        if labels.label[row] == NONE and ("Backward" in text or "backward" in text):
            labels.label[row] = labels.number(None, BACKWARD)
