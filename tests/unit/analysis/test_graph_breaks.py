"""Breaks of graphs, summed by line and reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dlprof.analysis import graph_breaks
from dlprof.analysis.graph_breaks import GraphBreak
from tests.unit import runs


def span(number: int, reason: str, line: int) -> dict[str, Any]:
    """A break."""
    return runs.span("graph_break", number, number, name=reason, span_id=number, file="train.py", line=line)


def test_breaks_of_a_line_and_a_reason_are_counted(tmp_path: Path) -> None:
    """Each time that the compiler met one; other spans are none."""
    spans = [span(1, "print", 9), span(2, "item", 7), span(3, "print", 9), runs.span("fit", 1, 2, span_id=4)]
    run = runs.make(tmp_path / "r", spans=spans)

    assert graph_breaks.find(run.table("spans", graph_breaks.COLUMNS)) == [
        GraphBreak("print", 2, "train.py", 9),
        GraphBreak("item", 1, "train.py", 7),
    ]
