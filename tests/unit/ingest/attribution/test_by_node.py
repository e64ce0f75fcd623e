"""Attribution of CNTK: names of nodes."""

from __future__ import annotations

from dlprof.ingest.attribution.labels import Model
from dlprof.ingest.kernels.events import CPU
from dlprof.schema.vocabulary import EventKind
from tests.unit.ingest.attributing import labelled, make_trace

MODEL = Model(("dense_1",), (), ("rm_sprop",), ({"owner": {"Times17": "dense_1"}},))


def test_a_node_has_the_layer_that_owns_it_and_the_pass_in_its_name() -> None:
    """What no layer owns is the loss's, and what runs in a weight update the optimiser's."""
    trace = make_trace(
        [
            (EventKind.OPERATOR, "Times17Forward", 0, 10, CPU, 0, -1),
            (EventKind.OPERATOR, "Times17Backward", 20, 10, CPU, 0, -1),
            (EventKind.OPERATOR, "Log3Forward", 40, 10, CPU, 0, -1),
            (EventKind.ANNOTATION, "__Weight Update", 60, 20, CPU, 0, -1),
            (EventKind.OPERATOR, "Sqrt9Forward", 65, 10, CPU, 0, -1),
        ],
        "node",
    )

    assert labelled(trace, MODEL) == [
        ("Times17Forward", ("dense_1", "forward"), "Times"),
        ("Times17Backward", ("dense_1", "backward"), "Times"),
        ("Log3Forward", ("loss", "forward"), "Log"),
        ("__Weight Update", None, None),
        ("Sqrt9Forward", ("rm_sprop", "update"), "Sqrt"),
    ]


def test_without_a_graph_a_node_has_its_pass_only() -> None:
    """No layer is guessed."""
    trace = make_trace([(EventKind.OPERATOR, "Times17Forward", 0, 10, CPU, 0, -1)], "node")

    assert labelled(trace, Model()) == [("Times17Forward", (None, "forward"), "Times")]
