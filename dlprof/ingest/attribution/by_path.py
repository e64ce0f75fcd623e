"""Attribution where each event carries the path of its name scopes: TensorFlow 1 and 2."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np

from dlprof.ingest.attribution import paths
from dlprof.ingest.attribution.base import Attribution, Attributor
from dlprof.ingest.attribution.hlo_labels import HloLabels
from dlprof.ingest.attribution.labels import NOBODY, Label, Labels, Line, Model
from dlprof.ingest.kernels.events import NONE, Events
from dlprof.ingest.kernels.linking import Linked
from dlprof.ingest.kernels.scopes import HloInstruction, NodePath
from dlprof.ingest.kernels.trace import Trace
from dlprof.schema.vocabulary import Direction, EventKind, PseudoLayer

_EAGER = "EagerLocalExecute: "
_TYPED = re.compile(r"^(.*?):(_?[A-Za-z]\w*)(?:#.*)?$", re.DOTALL)
_INPUT_THREADS = "tf_data_"


@dataclass
class ByPath(Attributor):
    """Labels by the path in the name (TensorFlow) or in the scope (GPU kernels, JAX) of each event."""

    trace: Trace
    model: Model
    _hlo: HloLabels = field(init=False)

    def __post_init__(self) -> None:
        self._hlo = HloLabels(self.trace.programs, self.model)

    def labels(self, events: Events, linked: Linked) -> Labels:  # noqa: ARG002
        """Labels; each distinct pair of name and scope is looked at once."""
        labels = Labels.empty(len(events))
        wanted = events.is_kind(EventKind.OPERATOR, EventKind.KERNEL, EventKind.TRANSFER)
        scopes = len(self.trace.scopes) + 1
        keys = events.name[wanted].astype(np.int64) * scopes + events.scope[wanted] + 1
        unique, inverse = np.unique(keys, return_inverse=True)
        numbers = [self._numbers(key // scopes, key % scopes - 1, labels) for key in unique.tolist()]
        if numbers:
            labels.label[wanted], labels.op[wanted], labels.line[wanted] = np.asarray(numbers, np.int64)[inverse].T
        self._label_input(events, labels)
        return labels

    def _numbers(self, name: int, scope: int, labels: Labels) -> tuple[int, int, int]:
        """Numbers of the label, the operator and the line of events of a name and a scope."""
        label, op, line = self._of_event(self.trace.names[name], scope)
        return (
            labels.labels.number(label) if any(label) else NONE,
            labels.ops.number(op) if op else NONE,
            labels.lines.number(line) if line is not None else NONE,
        )

    def _of_event(self, name: str, number: int) -> tuple[Label, str, Line | None]:
        scope = self.trace.scopes[number] if number >= 0 else None
        if isinstance(scope, HloInstruction):
            return *self._hlo.label(scope), self._hlo.line(scope)
        return *_of_node((scope.path if isinstance(scope, NodePath) else "") or name, name, self.model), None

    def _label_input(self, events: Events, labels: Labels) -> None:
        """What the threads of tf.data run is input, whatever it is called."""
        lanes = [number for number, lane in enumerate(self.trace.lanes) if lane.name.startswith(_INPUT_THREADS)]
        rows = (events.kind == EventKind.OPERATOR) & (labels.label == NONE) & np.isin(events.lane, lanes)
        labels.label[rows] = labels.number(PseudoLayer.INPUT, None)


def _of_node(path: str, name: str, model: Model) -> tuple[Label, str]:
    """Label and operator of an event of TensorFlow: `SCOPE/NAME:Type`."""
    if path.startswith(_EAGER):
        return NOBODY, path.removeprefix(_EAGER)
    match = _TYPED.match(path)
    if not match:
        return NOBODY, name
    label = paths.label(match[1], model)
    if label.layer is None and paths.is_update(match[2]):
        return Label(None, Direction.UPDATE), match[2]
    return label, match[2]


ATTRIBUTION = Attribution("path", ByPath)
