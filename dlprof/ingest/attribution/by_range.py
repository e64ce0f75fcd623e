"""Attribution of traces of CUDA's tools: the NVTX range around a launch names the operator."""

from __future__ import annotations

import numpy as np

from dlprof.ingest.attribution.base import Attribution
from dlprof.ingest.attribution.by_launch import ByLaunch
from dlprof.ingest.attribution.labels import Labels
from dlprof.ingest.kernels.events import NONE, Events, Integers
from dlprof.ingest.kernels.linking import Linked
from dlprof.ingest.kernels.nesting import nest_events
from dlprof.schema.vocabulary import Direction, EventKind


class _ByRange(ByLaunch):
    def _label_kernels(self, events: Events, linked: Linked, labels: Labels, device: Integers) -> None:
        """The innermost NVTX range around the launch names the operator."""
        ranges = np.flatnonzero(events.kind == EventKind.ANNOTATION)
        if not len(ranges):
            return
        tree = nest_events(events, ranges)
        launch = linked.launch[device]
        around = tree.at(events.lane[launch].astype(np.int64), events.start[launch])
        inside = around >= 0
        names = events.name[ranges[tree.order[around[inside]]]].astype(np.int64)
        rows = device[inside]
        labels.op[rows] = self._operators(names, labels)
        backward = np.asarray([_is_backward(text) for text in self.trace.names.values], bool)[names]
        labels.label[rows[backward & (labels.label[rows] == NONE)]] = labels.number(None, Direction.BACKWARD)


def _is_backward(name: str) -> bool:
    return "Backward" in name or "backward" in name


ATTRIBUTION = Attribution("range", _ByRange)
