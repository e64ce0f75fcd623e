"""Attribution where the name of an event is that of a node of the graph, with its pass: CNTK."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np

from dlprof.ingest.attribution.base import Attribution, Attributor
from dlprof.ingest.attribution.labels import Labels, Model
from dlprof.ingest.kernels.events import NONE, Booleans, Events
from dlprof.ingest.kernels.linking import Linked
from dlprof.ingest.kernels.trace import Trace
from dlprof.schema.vocabulary import Direction, EventKind, PseudoLayer

_NODE = re.compile(r"^(.+?)(\d*)(Forward|Backward)$")
_UPDATE = "__Weight Update"


@dataclass
class _ByNode(Attributor):
    trace: Trace
    model: Model
    _owner: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for graph in self.model.graphs:
            self._owner.update(graph.get("owner", {}))

    def labels(self, events: Events, linked: Linked) -> Labels:  # noqa: ARG002
        """Labels by the names of nodes; what runs in a weight update is the optimiser's, whatever it is called."""
        labels = Labels.empty(len(events))
        rows = np.flatnonzero(events.kind == EventKind.OPERATOR)
        unique, inverse = np.unique(events.name[rows], return_inverse=True)
        numbers = [self._numbers(self.trace.names[name], labels) for name in unique.tolist()]
        if numbers:
            labels.label[rows], labels.op[rows] = np.asarray(numbers, np.int64)[inverse].T
        inside = rows[self._in_update(events)[rows]]
        labels.label[inside] = labels.number(self.model.optimizer, Direction.UPDATE)
        return labels

    def _numbers(self, name: str, labels: Labels) -> tuple[int, int]:
        """Numbers of the label and the operator of a node. What no layer made is the loss's, or the metrics'."""
        match = _NODE.match(name)
        if match is None:
            return NONE, labels.ops.number(name)
        layer = self._owner.get(match[1] + match[2]) or (PseudoLayer.LOSS if self._owner else None)
        direction = Direction.BACKWARD if match[3] == "Backward" else Direction.FORWARD
        return labels.number(layer, direction), labels.ops.number(match[1])

    def _in_update(self, events: Events) -> Booleans:
        """Whether each event begins in a weight update."""
        number = self.trace.names.numbers.get(_UPDATE, NONE)
        updates = events.select((events.kind == EventKind.ANNOTATION) & (events.name == number))
        begun = np.searchsorted(np.sort(updates.start), events.start, "right")
        ended = np.searchsorted(np.sort(updates.ends), events.start, "right")
        return np.asarray(begun > ended)


ATTRIBUTION = Attribution("node", _ByNode)
