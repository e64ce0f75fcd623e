"""Why graphs are compiled again: from signatures to the rows of the report."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest
from dlprof_probes.inproc.causes import Causes

from dlprof.analysis import recompilations
from dlprof.schema.tables import TABLES


def function() -> None:
    """Stands for one of the user's."""


@pytest.mark.parametrize(
    ("before", "now", "what"),
    [
        ("float32[128,784]", "float32[64,784]", "shape"),
        ("float32(128, 784)", "float64(128, 784)", "dtype"),
        ("1", "2", "value"),
        ("<weakref at 0x7f10>", "<weakref at 0x7f20>", "identity"),
        (None, "int32()", "number of arguments"),
    ],
)
def test_what_differs_is_named(before: str | None, now: str, what: str) -> None:
    """As users of the engines call it."""
    causes = Causes()
    causes.note(function, "f", {} if before is None else {"x": before})

    facts = causes.note(function, "f", {"x": now})

    assert facts == {
        "function": "f", "again": True, "cause": [{"argument": "x", "what": what, "before": before, "now": now}],
    }  # fmt: skip


def test_the_first_compilation_has_no_cause() -> None:
    """Nor has that of another function with the same signature."""
    causes = Causes()
    causes.note(function, "f", {"x": "float32[2]"})

    assert causes.note(lambda: None, "f", {"x": "float32[2]"}) == {"function": "f", "again": False, "cause": []}


def test_the_nearest_earlier_signature_counts() -> None:
    """Not simply the last one: then more arguments would seem to differ than do."""
    causes = Causes()
    for shape, flag in (("float32[128]", "False"), ("float32[64]", "True")):
        causes.note("key", "f", {"x": shape, "training": flag})

    cause = causes.note("key", "f", {"x": "float32[128]", "training": "None"})["cause"]

    assert cause == [{"argument": "training", "what": "value", "before": "False", "now": "None"}]


def test_a_shape_that_comes_back_is_told_against_the_last_one() -> None:
    """An engine that keeps one compilation only does it again and again."""
    causes = Causes()
    for shape in ("(128, 16)", "(104, 16)"):
        causes.note("module", "m", {"data": shape})

    cause = causes.note("module", "m", {"data": "(128, 16)"})["cause"]

    assert cause == [{"argument": "data", "what": "shape", "before": "(104, 16)", "now": "(128, 16)"}]


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
