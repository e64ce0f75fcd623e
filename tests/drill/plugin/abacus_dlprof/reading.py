"""What Abacus' profiler writes, and whose its operations are."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dlprof.ingest.artifact import ArtifactError
from dlprof.ingest.attribution.base import Attribution, Attributor
from dlprof.ingest.attribution.labels import Labels, Model
from dlprof.ingest.formats.base import FileContent, Reader, Sample
from dlprof.ingest.kernels.events import EventRow, Events
from dlprof.ingest.kernels.linking import Linked
from dlprof.ingest.kernels.trace import Lane, Trace
from dlprof.schema.vocabulary import Direction, EventKind

_HEAD = "#abacus"


def claims(sample: Sample) -> bool:
    """Whether a file is of Abacus' profiler."""
    return sample.text.startswith(_HEAD)


def read(path: Path) -> FileContent:
    """The operations of a file; their names tell operation, layer and pass.

    Raises:
        ArtifactError: The file is damaged.
    """
    trace = Trace(path, "abacus", "abacus", attribution="abacus")
    lane = trace.lane("main", Lane(process=0, thread=0, name="main"))
    rows = []
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    for number, line in enumerate(lines[1:], 2):
        try:
            operation, layer, direction, start, dur = line.split("\t")
            name = trace.names.number(f"{operation} {layer} {direction}")
            rows.append(EventRow(EventKind.OPERATOR, name, int(start), int(dur), lane))
        except ValueError as error:
            raise ArtifactError(f"line {number}: {error}", path=path) from error
    trace.add_rows(rows)
    return FileContent.of(trace)


@dataclass
class _ByName(Attributor):
    trace: Trace

    def labels(self, events: Events, linked: Linked) -> Labels:
        """Layer, direction and operation, as the names tell them."""
        labels = Labels.empty(len(events))
        unique, inverse = np.unique(events.name, return_inverse=True)
        numbers = [self._numbers(self.trace.names[name], labels) for name in unique.tolist()]
        labels.label[:], labels.op[:] = np.asarray(numbers, np.int64)[inverse].T
        return labels

    @staticmethod
    def _numbers(name: str, labels: Labels) -> tuple[int, int]:
        operation, layer, direction = name.split(" ")
        return labels.number(layer, Direction(direction)), labels.ops.number(operation)


def _begin(trace: Trace, _model: Model) -> Attributor:
    return _ByName(trace)


READER = Reader("abacus", "Abacus' profiler (text)", claims, read)
ATTRIBUTION = Attribution("abacus", _begin)
