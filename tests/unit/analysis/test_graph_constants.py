"""Large arrays that compiled functions hold as constants."""

from __future__ import annotations

import json
from pathlib import Path

from dlprof.analysis import graph_constants
from dlprof.analysis.graph_constants import GraphConstant
from tests.unit.runs import span, trained


def test_constants_are_summed_by_function_and_line(tmp_path: Path) -> None:
    """Two graphs hold the first; the largest in all comes first; what tells no bytes is left out."""
    told = [
        span("graph_constant", 1, 1, span_id=number, name=name, line=line, detail=json.dumps(detail))
        for number, (name, line, detail) in enumerate(
            [
                ("float32[10]", 3, {"constant": {"function": "f", "bytes": 40}}),
                ("float32[15]", 4, {"constant": {"function": "g", "bytes": 60}}),
                ("float32[10]", 3, {"constant": {"function": "f", "bytes": 40}}),
                ("float32[99]", 5, {}),
            ]
        )
    ]

    assert graph_constants.of_run(trained(tmp_path / "r", spans=told)) == (
        GraphConstant("float32[10]", "f", 40, 2, "train.py", 3),
        GraphConstant("float32[15]", "g", 60, 1, "train.py", 4),
    )


def test_a_run_without_any_has_none(tmp_path: Path) -> None:
    """Most have none."""
    assert graph_constants.of_run(trained(tmp_path / "r")) == ()
