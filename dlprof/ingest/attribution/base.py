"""What an attribution is: a way to find out whose the events of a trace are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from dlprof.ingest.attribution.labels import Labels, Model
from dlprof.ingest.kernels.events import Events, Integers
from dlprof.ingest.kernels.intervals import Intervals
from dlprof.ingest.kernels.linking import Linked
from dlprof.ingest.kernels.trace import Trace


class Attributor(Protocol):
    """Labels the events of one trace, segment by segment; it may remember what later segments need."""

    def labels(self, events: Events, linked: Linked) -> Labels:
        """Layer, direction and operator of each event of a segment.

        Args:
            events: The segment, on the run's timeline.
            linked: Relations between its events.
        """
        ...

    def steps(self, events: Events, steps: Intervals) -> Integers | None:  # noqa: ARG002
        """The step of each event, where the trace tells more of it than the time; else None.

        Args:
            events: The segment.
            steps: Steps of the run, not empty; their values are running numbers.
        """
        return None


@dataclass(frozen=True)
class Attribution:
    """A way of attribution; readers choose one for their traces by its name.

    Attributes:
        name: Its name, as in `Trace.attribution`.
        begin: Makes what labels the events of a trace, given what the run tells of the model.
        needs_whole_trace: Whether a large trace must not be cut into segments, because events are told apart by how
            many came before them.
    """

    name: str
    begin: Callable[[Trace, Model], Attributor]
    needs_whole_trace: bool = False
