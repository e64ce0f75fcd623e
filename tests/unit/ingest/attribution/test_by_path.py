"""Attribution of TensorFlow: the path in the name."""

from __future__ import annotations

from pathlib import Path

from dlprof.ingest.kernels.events import EventRow
from dlprof.ingest.kernels.trace import Lane, Trace
from dlprof.schema.vocabulary import EventKind
from tests.unit.ingest.attributing import labelled


def test_threads_of_tf_data_are_input() -> None:
    """Whatever they run."""
    trace = Trace(Path("x.pb"), "xspace", "tensorflow", "path")
    trace.lane(0, Lane(0, 0, "tf_data_private_threadpool/1"))
    trace.add_rows([EventRow(EventKind.OPERATOR, trace.names.number("GatherV2:GatherV2"), 0, 1, 0)])

    assert labelled(trace) == [("GatherV2:GatherV2", ("input", None), "GatherV2")]
