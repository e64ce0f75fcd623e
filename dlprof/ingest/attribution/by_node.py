"""Attribution where the trace itself tells: CNTK's names of nodes, with the pass; Chainer's links and passes."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt

from dlprof.ingest.attribution.labels import BACKWARD, FORWARD, LOSS, UPDATE, Labels, Model
from dlprof.ingest.kernels.trace import NONE, Kind, Trace

_NODE = re.compile(r"^(.+?)(\d*)(Forward|Backward)$")
_UPDATE = "__Weight Update"


def attribute_told(trace: Trace, columns: dict[str, npt.NDArray[Any]], model: Model) -> Labels:
    """Labels out of scopes of the form `LAYER, DIRECTION`, separated by a tab."""
    labels = Labels.empty(len(columns["start"]))
    numbers = np.full(len(trace.scopes) + 1, NONE, np.int64)  # the last one for those without a scope
    for number, text in enumerate(trace.scopes.texts):
        layer, _, direction = text.partition("\t")
        if direction == UPDATE:
            layer = model.optimizers[0] if model.optimizers else "optimizer"
        if layer or direction:
            numbers[number] = labels.number(layer or None, direction or None)
    labels.label[:] = numbers[columns["scope"]]
    labels.op[:] = [labels.ops.number(trace.names[n].partition(" ")[0]) for n in columns["name"].tolist()]
    return labels


def attribute(trace: Trace, columns: dict[str, npt.NDArray[Any]], model: Model) -> Labels:
    """Labels by the names of nodes; what runs in a weight update is the optimiser's, whatever it is called."""
    labels = Labels.empty(len(columns["start"]))
    owner: dict[str, str] = {}
    for graph in model.graphs:
        owner.update(graph.get("owner", {}))
    rows = np.flatnonzero(columns["kind"] == Kind.OPERATOR)
    found = {number: _of_name(trace.names[number], owner, labels) for number in np.unique(columns["name"][rows])}
    labels.label[rows] = [found[number][0] for number in columns["name"][rows].tolist()]
    labels.op[rows] = [found[number][1] for number in columns["name"][rows].tolist()]
    optimizer = model.optimizers[0] if model.optimizers else "optimizer"
    inside = _inside(trace, columns)
    labels.label[rows[inside[rows]]] = labels.number(optimizer, UPDATE)
    return labels


def _of_name(name: str, owner: dict[str, str], labels: Labels) -> tuple[int, int]:
    """Number of the label and of the operator of a node. What no layer made is the loss's, or the metrics'."""
    match = _NODE.match(name)
    if match is None:
        return NONE, labels.ops.number(name)
    layer = owner.get(match[1] + match[2]) or (LOSS if owner else None)
    direction = BACKWARD if match[3] == "Backward" else FORWARD
    return labels.number(layer, direction), labels.ops.number(match[1])


def _inside(trace: Trace, columns: dict[str, npt.NDArray[Any]]) -> npt.NDArray[np.bool_]:
    """Whether each event begins in a weight update."""
    number = trace.names.numbers.get(_UPDATE, NONE)
    updates = np.flatnonzero((columns["kind"] == Kind.ANNOTATION) & (columns["name"] == number))
    start = np.sort(columns["start"][updates])
    end = np.sort(columns["start"][updates] + columns["dur"][updates])
    return np.searchsorted(start, columns["start"], "right") > np.searchsorted(end, columns["start"], "right")
