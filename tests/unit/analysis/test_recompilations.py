"""Why graphs are compiled again: the rows of the report."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

from dlprof.analysis import recompilations
from dlprof.schema.tables import TABLES


def spans(*details: dict[str, Any] | None) -> pa.Table:
    """Compilations of 10 ms each at line 7 of train.py."""
    row = {
        "kind": "graph_compile",
        "name": "trace f",
        "start_ns": 0,
        "dur_ns": 10_000_000,
        "file": "train.py",
        "line": 7,
    }
    return pa.Table.from_pylist([{**row, "detail": d and json.dumps(d)} for d in details], schema=TABLES["spans"])


def test_recompilations_of_one_cause_are_one_row() -> None:
    """With count, time, cause and line; the first compilation does not count."""
    change = {"argument": "x", "what": "shape", "before": "float32[2]", "now": "float32[3]"}
    again = {"compiled": {"function": "f", "again": True, "cause": [change]}}
    first = {"compiled": {"function": "f", "again": False, "cause": []}}

    found = recompilations.find(spans(first, again, again, None))

    assert found == [
        recompilations.Recompilation("f", 2, 20_000_000, "x", "shape", "float32[2]", "float32[3]", "train.py", 7)
    ]


def test_guards_of_dynamo_are_the_cause() -> None:
    """It tells the condition that failed, not a signature."""
    guard = {"argument": None, "what": "guard", "before": None, "now": "tensor 'x' size mismatch"}
    found = recompilations.find(spans({"compiled": {"function": "f", "again": True, "cause": []}, "guards": [guard]}))

    assert (found[0].what, found[0].now) == ("guard", "tensor 'x' size mismatch")
