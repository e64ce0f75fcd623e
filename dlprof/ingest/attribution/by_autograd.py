"""Attribution of PyTorch: backward operators carry the number of the forward operator that made them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dlprof.ingest.attribution.base import Attribution
from dlprof.ingest.attribution.by_launch import ByLaunch
from dlprof.ingest.attribution.labels import Label, Labels
from dlprof.ingest.kernels.events import NONE, Booleans, Events, Integers
from dlprof.ingest.kernels.linking import Linked
from dlprof.ingest.kernels.nesting import levels
from dlprof.schema.vocabulary import Direction, EventKind

_SEQUENCES_KEPT = 200_000
_ENGINE = "autograd::engine"


@dataclass
class _ByAutograd(ByLaunch):
    _sequences: dict[int, Label] = field(default_factory=dict)
    """Labels of forward operators by autograd's sequence number, over all segments so far."""

    def _label_host(self, events: Events, linked: Linked, labels: Labels) -> None:
        """Label backward operators, and all that runs inside them."""
        tree = linked.host
        if not len(tree.order):
            return
        rows = tree.order
        is_operator = events.kind[rows] == EventKind.OPERATOR
        runs_engine = np.asarray([text.startswith(_ENGINE) for text in self.trace.names.values] or [False])
        is_engine = runs_engine[events.name[rows]] & is_operator
        root = _roots(tree.parent, tree.depth, is_engine)
        backward = root >= 0
        sequence = np.where(is_operator, events.link[rows], NONE)
        forward = (sequence >= 0) & ~backward & (labels.label[rows] >= 0)
        self._remember(events.start[rows[forward]], sequence[forward], labels, rows[forward])
        label = np.full(len(rows), NONE, np.int64)
        order = np.flatnonzero(is_engine)
        order = order[np.argsort(events.start[rows[order]], kind="stable")]
        label[order] = self._of_engine(sequence[order], labels)
        labels.label[rows[backward]] = label[root[backward]]
        if is_engine.any():
            unlabelled = ~backward & (labels.label[rows] == NONE)
            labels.label[rows[unlabelled]] = labels.number(None, Direction.FORWARD)

    def _remember(self, start: Integers, sequence: Integers, labels: Labels, rows: Integers) -> None:
        """Remember the label of the innermost forward operator of each sequence number."""
        order = np.argsort(start, kind="stable")
        known = labels.labels
        numbers = zip(sequence[order].tolist(), labels.label[rows[order]].tolist(), strict=True)
        self._sequences.update((number, known[label]) for number, label in numbers)
        for number in list(self._sequences)[: max(0, len(self._sequences) - _SEQUENCES_KEPT)]:
            del self._sequences[number]  # of steps that are long over

    def _of_engine(self, sequence: Integers, labels: Labels) -> list[int]:
        """Label of each node that the engine of autograd ran, in the order in which it ran them."""
        unknown = labels.number(None, Direction.BACKWARD)
        last, numbers = unknown, []
        for number in sequence.tolist():
            forward = self._sequences.get(number)
            if forward is not None:
                updates = forward.direction is Direction.UPDATE
                last = labels.number(forward.layer, forward.direction if updates else Direction.BACKWARD)
            # Gradients are added up, by nodes without a number, right after the node that made them.
            numbers.append(last if forward is not None or number < 0 else unknown)
        return numbers


def _roots(parent: Integers, depth: Integers, chosen: Booleans) -> Integers:
    """The outermost chosen event around each event, itself included, or NONE."""
    root = np.where(chosen, np.arange(len(parent)), NONE)
    for level in levels(depth)[1:]:
        at = level[parent[level] >= 0]
        above = root[parent[at]]
        root[at] = np.where(above >= 0, above, root[at])
    return root


ATTRIBUTION = Attribution("autograd", _ByAutograd)
