"""The step of each event."""

from __future__ import annotations

import numpy as np

from dlprof.ingest.kernels.events import NONE, Events, Integers
from dlprof.ingest.kernels.intervals import Intervals
from dlprof.ingest.kernels.linking import Linked
from dlprof.ingest.kernels.numbered import Numbered
from dlprof.schema.vocabulary import EventKind

_ANNOTATED = "ProfilerStep#"
_DIGITS_AT_MOST = 8


def by_time(events: Events, linked: Linked, steps: Intervals) -> Integers:
    """The step in which each event's launch, or the event itself, began; NONE where there is none."""
    origin = np.where(linked.launch >= 0, events.start[np.maximum(linked.launch, 0)], events.start)
    table = np.asarray([*steps.values, NONE], np.int64)
    return table[steps.at(origin)]


def annotated(events: Events, names: Numbered[str]) -> Intervals:
    """Steps that the trace itself names: `ProfilerStep#12`."""
    numbers = {at: number for at, text in enumerate(names.values) if (number := _number(text)) is not None}
    if not numbers:
        return Intervals()
    rows = np.flatnonzero(events.is_kind(EventKind.ANNOTATION) & np.isin(events.name, list(numbers)))
    rows = rows[np.argsort(events.start[rows], kind="stable")]
    return Intervals(events.start[rows], events.ends[rows], [numbers[n] for n in events.name[rows].tolist()])


def _number(text: str) -> int | None:
    digits = text.removeprefix(_ANNOTATED)
    return int(digits) if digits != text and digits.isdigit() and len(digits) <= _DIGITS_AT_MOST else None
