"""Attribution where the tracer knew layer and pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.ingest.attribution.labels import Model
from dlprof.ingest.kernels.events import NONE, EventRow
from dlprof.ingest.kernels.scopes import BytesMoved, LayerPass, Scope
from dlprof.ingest.kernels.trace import Lane, Trace
from dlprof.schema.vocabulary import Direction, EventKind
from tests.unit.ingest.attributing import labelled


@pytest.mark.parametrize(
    ("scope", "label"),
    [
        (LayerPass("dense_1", Direction.BACKWARD), ("dense_1", "backward")),
        (LayerPass(None, Direction.FORWARD), (None, "forward")),
        (LayerPass("dense_1", Direction.UPDATE), ("rm_sprop", "update")),
        (LayerPass(None, None), None),
        (BytesMoved(8), None),
        (None, None),
    ],
)
def test_the_scope_is_the_label(scope: Scope | None, label: tuple[str | None, str] | None) -> None:
    """But for updates, which are the optimiser's; the first word of the name is the operator."""
    trace = Trace(Path("t.json"), "chainer", "chainer", "scope")
    lane = trace.lane(0, Lane(0, 0, "main"))
    name, number = trace.names.number("FullyConnected brgemm"), NONE if scope is None else trace.scopes.number(scope)
    trace.add_rows([EventRow(EventKind.OPERATOR, name, 0, 1, lane, scope=number)])

    assert labelled(trace, Model((), (), ("rm_sprop",))) == [("FullyConnected brgemm", label, "FullyConnected")]
