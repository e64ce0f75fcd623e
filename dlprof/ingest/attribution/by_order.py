"""Attribution for MXNet, whose profiler tells operator types only: by the order of execution in the bound graph.

Executions of one operator type keep the order of the graph's nodes: forward as they stand there, backward the
other way round. So the k-th `dot` of a step is the k-th `dot` node. Where the counts do not fit, and the nodes in
question belong to different layers, nothing is guessed.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dlprof.ingest.attribution.base import Attribution, Attributor
from dlprof.ingest.attribution.labels import Labels, Model
from dlprof.ingest.kernels.events import NONE, Events, Integers
from dlprof.ingest.kernels.linking import Linked
from dlprof.ingest.kernels.trace import Trace
from dlprof.schema.vocabulary import Direction, EventKind, PseudoLayer

_UPDATE = re.compile(r"(sgd|adam|adamw|rmsprop|rmspropalex|adagrad|adadelta|ftrl|nag|signum|lamb)\w*_update$")
_BACKWARD = "_backward_"
_ELEMENT_WISE = re.compile(
    r"(broadcast|elemwise)_(add|plus|sub|minus|mul|div|power|maximum|minimum)|_(mul|plus|minus|rminus|div|rdiv|power|rpower"
    r"|maximum|minimum)_scalar|_(plus|add|minus|sub|mul|div|power|maximum|minimum)|sqrt|rsqrt|square|abs|sign|clip"
)
"""What an optimiser that MXNet has written out in Python calls, weight by weight (AdaGrad, AdaDelta, Nadam, ...)."""
_BEGINS = frozenset(("Embedding", "FullyConnected", "Convolution", "Deconvolution", "RNN", "dot", "batch_dot"))
"""Operators on weights: after the way back they are of the next way forward."""
_SEPARATE = re.compile(r"[/:]")


@dataclass
class _ByOrder(Attributor):
    trace: Trace
    model: Model

    def labels(self, events: Events, linked: Linked) -> Labels:  # noqa: ARG002
        """Labels by order of execution; without a bound graph only direction and operator are told."""
        labels = Labels.empty(len(events))
        rows = np.flatnonzero(events.is_kind(EventKind.OPERATOR, EventKind.KERNEL, EventKind.TRANSFER))
        rows = rows[np.argsort(events.start[rows], kind="stable")]
        names = [self.trace.names[n] for n in events.name[rows].tolist()]
        labels.op[rows] = [labels.ops.number(name) for name in names]
        executed = Counter(names)
        graph = _best(self.model.graphs, executed)
        owners = _owners(graph) if graph else None
        for name, count in executed.items():
            at = rows[[i for i, other in enumerate(names) if other == name]]
            labels.label[at] = _label(name, count, owners, self.model, labels)
        _fill(labels, rows, names)
        if not any(_UPDATE.search(name) for name in executed):
            _fill_updates(labels, rows, names, self.model)
        return labels


def _label(name: str, count: int, owners: _Owners | None, model: Model, labels: Labels) -> Integers | int:
    """Labels of all executions of one operator type, in order of time."""
    if _UPDATE.search(name):
        return labels.number(model.optimizer, Direction.UPDATE)
    if name.startswith("Copy"):
        return labels.number(PseudoLayer.INPUT, None)
    backward = name.startswith(_BACKWARD)
    direction = Direction.BACKWARD if backward else Direction.FORWARD
    nodes = owners.of(name.removeprefix(_BACKWARD), backward=backward) if owners else []
    if not nodes:
        return labels.number(None, direction) if backward else NONE
    numbers = [labels.number(layer, direction) for layer in nodes]
    if len(set(numbers)) == 1:
        return numbers[0]
    if count % len(numbers):
        return labels.number(None, direction)
    return np.tile(np.asarray(numbers, np.int64), count // len(numbers))


def _fill(labels: Labels, rows: Integers, names: Sequence[str]) -> None:
    """Sums of gradients (`add_n`) belong to the backward operator before them."""
    last = NONE
    for row, name in zip(rows.tolist(), names, strict=True):
        if name in ("add_n", "_grad_add", "ElementWiseSum", "_zeros", "zeros_like", "ones_like", "_ones"):
            if labels.label[row] == NONE:
                labels.label[row] = last
        elif name.startswith(_BACKWARD):
            last = int(labels.label[row])


def _fill_updates(labels: Labels, rows: Integers, names: Sequence[str], model: Model) -> None:
    """Label updates that no operator of MXNet's makes: arithmetic behind the way back, before the next way forward."""
    update = labels.number(model.optimizer, Direction.UPDATE)
    is_behind = False
    for row, name in zip(rows.tolist(), names, strict=True):
        if name.startswith(_BACKWARD):
            is_behind = True
        elif name in _BEGINS:
            is_behind = False
        elif is_behind and labels.label[row] == NONE and _ELEMENT_WISE.fullmatch(name):
            labels.label[row] = update


def _best(graphs: Sequence[Mapping[str, Any]], executed: Counter[str]) -> Mapping[str, Any] | None:
    """The graph that explains most of what was executed; of equal ones the last that was bound."""
    has_backward = any(name.startswith(_BACKWARD) for name in executed)
    best, best_score = None, -math.inf
    for graph in graphs:
        wanted = Counter(node["op"] for node in graph["nodes"] if node["op"] != "null")
        score = sum(executed[op] for op, count in wanted.items() if executed[op] and executed[op] % count == 0)
        score -= sum(count for op, count in wanted.items() if op not in executed)
        score += 1000 * (bool(graph.get("training")) == has_backward)
        if score >= best_score:
            best, best_score = graph, score
    return best


@dataclass(frozen=True)
class _Owners:
    """The layers of a graph's nodes, by operator type, in order of the graph."""

    forward: Mapping[str, list[str | None]]
    backward: Mapping[str, list[str | None]]

    def of(self, op: str, *, backward: bool) -> list[str | None]:
        """Layers of the nodes of type `op`, in the order in which they are executed."""
        if backward:
            return self.backward.get(op) or self.backward.get(op.lstrip("_")) or self.backward.get("_" + op) or []
        return list(self.forward.get(op, []))


def _owners(graph: Mapping[str, Any]) -> _Owners:
    nodes = graph["nodes"]
    layer = _layers(graph)
    # Gluon's loss is outside the graph: then its end leads to it.
    ends = graph.get("ends") or [i for i, n in enumerate(nodes) if n["op"] in ("MakeLoss", "make_loss")]
    on_loss_path = _ancestors(nodes, ends)
    forward: dict[str, list[str | None]] = {}
    backward: dict[str, list[str | None]] = {}
    for index, node in enumerate(nodes):
        if node["op"] == "null":
            continue
        forward.setdefault(node["op"], []).append(layer[index])
        if index in on_loss_path:
            for name in {node["op"], node["op"].removeprefix("elemwise_"), node["op"].removeprefix("_")}:
                backward.setdefault(name, []).insert(0, layer[index])
    return _Owners(forward, backward)


def _layers(graph: Mapping[str, Any]) -> list[str | None]:
    """The layer of each node: by its own name, those of its weights, or the layer whose output it leads to."""
    nodes = graph["nodes"]
    found: list[str | None] = [None] * len(nodes)
    known = set(graph.get("layer_names", ()))
    ends: dict[str, str] = {}
    for layer, names in graph.get("outputs", {}).items():
        for name in names:
            ends.setdefault(name, layer)  # a model that ends with a layer was called after it
    for index, node in enumerate(nodes):
        prefix = _SEPARATE.split(node["name"])[0]
        if prefix in known:
            found[index] = prefix
    for index, node in enumerate(nodes):  # in order of the graph: a layer's own nodes before later layers'
        if node["name"] in ends:
            _mark(nodes, index, ends[node["name"]], found)
    _rest(nodes, found, knows_ends=bool(ends))
    return found


def _rest(nodes: Sequence[Mapping[str, Any]], found: list[str | None], *, knows_ends: bool) -> None:
    """Nodes that belong to no layer: the loss, and the metrics."""
    loss = _ancestors(nodes, [i for i, n in enumerate(nodes) if n["op"] in ("MakeLoss", "make_loss")])
    for index, node in enumerate(nodes):
        if found[index] is None and node["op"] != "null":
            weights = [found[i] for i in node["inputs"] if nodes[i]["op"] == "null" and found[i]]
            if weights:
                found[index] = weights[0]
            elif knows_ends:
                found[index] = PseudoLayer.LOSS if index in loss else PseudoLayer.METRICS


def _mark(nodes: Sequence[Mapping[str, Any]], end: int, layer: str, found: list[str | None]) -> None:
    """Give `layer` to all nodes that lead to its output and belong to no earlier layer."""
    waiting = [end]
    while waiting:
        index = waiting.pop()
        if found[index] not in (None, layer):
            continue
        found[index] = layer
        waiting.extend(i for i in nodes[index]["inputs"] if found[i] is None and nodes[i]["op"] != "null")


def _ancestors(nodes: Sequence[Mapping[str, Any]], ends: list[int]) -> set[int]:
    seen, waiting = set(), list(ends)
    while waiting:
        index = waiting.pop()
        if index not in seen:
            seen.add(index)
            waiting.extend(nodes[index]["inputs"])
    return seen


ATTRIBUTION = Attribution("order", _ByOrder, needs_whole_trace=True)
