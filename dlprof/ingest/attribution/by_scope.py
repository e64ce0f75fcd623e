"""Attribution where the tracer knew layer and pass of each event: the scope holds them. Chainer, OpenVINO."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dlprof.ingest.attribution.base import Attribution, Attributor
from dlprof.ingest.attribution.labels import Label, Labels, Model
from dlprof.ingest.kernels.events import NONE, Events
from dlprof.ingest.kernels.linking import Linked
from dlprof.ingest.kernels.scopes import LayerPass, Scope
from dlprof.ingest.kernels.trace import Trace
from dlprof.schema.vocabulary import Direction


@dataclass
class _ByScope(Attributor):
    trace: Trace
    model: Model

    def labels(self, events: Events, linked: Linked) -> Labels:  # noqa: ARG002
        """Labels out of the scopes; the first word of the name is the operator."""
        labels = Labels.empty(len(events))
        numbers = np.full(len(self.trace.scopes) + 1, NONE, np.int64)  # the last one for those without a scope
        for number, scope in enumerate(self.trace.scopes.values):
            label = self._label(scope)
            if label is not None:
                numbers[number] = labels.labels.number(label)
        labels.label[:] = numbers[events.scope]
        labels.op[:] = [labels.ops.number(self.trace.names[n].partition(" ")[0]) for n in events.name.tolist()]
        return labels

    def _label(self, scope: Scope) -> Label | None:
        if not isinstance(scope, LayerPass) or (scope.layer is None and scope.direction is None):
            return None
        updates = scope.direction is Direction.UPDATE
        return Label(self.model.optimizer if updates else scope.layer, scope.direction)


ATTRIBUTION = Attribution("scope", _ByScope)
