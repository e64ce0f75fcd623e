"""Attribution where an event belongs to what ran around its launch: any trace with calls, ranges and kernels."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from dlprof.ingest.attribution.base import Attribution, Attributor
from dlprof.ingest.attribution.labels import Label, Labels, Model
from dlprof.ingest.attribution.names import plain
from dlprof.ingest.kernels.events import NONE, Booleans, Events, Integers
from dlprof.ingest.kernels.linking import Linked
from dlprof.ingest.kernels.nesting import nest_events
from dlprof.ingest.kernels.trace import Trace
from dlprof.schema.vocabulary import Direction, EventKind, PseudoLayer

_MODULE = re.compile(r"^nn\.Module: (.+)$")
_RANGES = (EventKind.ANNOTATION, EventKind.PYTHON)


@dataclass
class ByLaunch(Attributor):
    """Labels by annotations and launches; for those that know more of a trace, too."""

    trace: Trace
    model: Model

    def labels(self, events: Events, linked: Linked) -> Labels:
        """Host events by the annotation around them, kernels by the call that launched them."""
        labels = Labels.empty(len(events))
        host = events.is_kind(EventKind.OPERATOR, EventKind.RUNTIME, EventKind.WAIT)
        self._label_annotated(events, labels, host)
        self._label_host(events, linked, labels)
        own = events.kind == EventKind.OPERATOR
        labels.op[own] = self._operators(events.name[own].astype(np.int64), labels)
        device = np.flatnonzero(linked.launch >= 0)
        if len(device):
            _hand_to_kernels(linked, labels, device)
            self._label_kernels(events, linked, labels, device)
        return labels

    def _label_host(self, events: Events, linked: Linked, labels: Labels) -> None:
        """What else tells of host events."""

    def _label_kernels(self, events: Events, linked: Linked, labels: Labels, device: Integers) -> None:
        """What else tells of kernels."""

    def _operators(self, names: Integers, labels: Labels) -> Integers:
        """Numbers of names as numbers of operators."""
        unique, inverse = np.unique(names, return_inverse=True)
        table = [labels.ops.number(plain(self.trace.names[n])) for n in unique.tolist()]
        return np.asarray(table or [NONE], np.int64)[inverse]

    def _label_annotated(self, events: Events, labels: Labels, host: Booleans) -> None:
        """Label host events by the innermost annotation around them that means something."""
        is_range = events.is_kind(*_RANGES)
        table = self._meanings(np.unique(events.name[is_range]).tolist(), labels)
        chosen = np.flatnonzero(is_range & (table[events.name] >= 0))
        if not len(chosen):
            return
        tree = nest_events(events, chosen)
        rows = np.flatnonzero(host)
        around = tree.at(events.lane[rows].astype(np.int64), events.start[rows])
        inside = around >= 0
        labels.label[rows[inside]] = table[events.name[chosen[tree.order[around[inside]]]]]

    def _meanings(self, names: Iterable[int], labels: Labels) -> Integers:
        """The label that each name tells, by its number; NONE for those that tell none."""
        table = np.full(len(self.trace.names), NONE, np.int64)
        for name in names:
            meaning = _meaning(self.trace.names[name], self.model)
            if meaning is not None:
                table[name] = labels.labels.number(meaning)
        return table


def _meaning(name: str, model: Model) -> Label | None:
    """Layer and direction that the name of an annotation tells, or None."""
    if name.startswith("dlprof:"):
        return _own_meaning(name, model)
    module = _MODULE.match(name)
    if module:
        return Label(module[1], Direction.FORWARD)
    if name.startswith("Optimizer."):
        return Label(name.partition("#")[2].partition(".")[0] or PseudoLayer.OPTIMIZER, Direction.UPDATE)
    if name.startswith("enumerate(DataLoader)"):
        return Label(PseudoLayer.INPUT, None)
    return None


def _own_meaning(name: str, model: Model) -> Label | None:
    """That of an annotation which dlprof's own tracer made: `dlprof:layer:dense_1`."""
    _, what, rest = (*name.split(":", 2), "")[:3]
    optimizer = model.optimizers[0] if model.optimizers else rest or PseudoLayer.OPTIMIZER
    return {
        "layer": Label(rest, Direction.FORWARD),
        "loss": Label(PseudoLayer.LOSS, Direction.FORWARD),
        "optimizer": Label(optimizer, Direction.UPDATE),
        "metrics": Label(PseudoLayer.METRICS, Direction.FORWARD),
        "input": Label(PseudoLayer.INPUT, None),
    }.get(what)


def _hand_to_kernels(linked: Linked, labels: Labels, device: Integers) -> None:
    """Kernels and copies take label and operator from what launched them."""
    labels.label[device] = labels.label[linked.launch[device]]
    operator = linked.operator[device]
    known = operator >= 0
    labels.op[device[known]] = labels.op[operator[known]]


ATTRIBUTION = Attribution("launch", ByLaunch)
