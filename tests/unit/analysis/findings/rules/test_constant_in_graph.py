"""The rule constant-in-graph."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.rules import constant_in_graph
from tests.unit.analysis.findings.cases import Planted
from tests.unit.analysis.memory_runs import MB
from tests.unit.runs import fit_span, span, trained


def constant(size: int, number: int = 5, **changes: Any) -> dict[str, Any]:
    """A span of a constant of so many bytes."""
    detail = json.dumps({"constant": {"function": "step", "bytes": size}})
    told = {"name": "float32[1000x1000]", "span_id": number, "line": 12, "detail": detail, **changes}
    return span("graph_constant", 2.5, 2.5, **told)


def planted() -> Planted:
    """One of 400 MB."""
    return Planted({"spans": [fit_span(), constant(400 * MB)]})


def claims(folder: Path, *constants: dict[str, Any]) -> list[Any]:
    """Claims on a run with these."""
    return list(constant_in_graph.look(Case(trained(folder / "r", spans=[fit_span(), *constants]))))


def test_a_large_constant_is_told_with_its_line(tmp_path: Path) -> None:
    """It takes no time from other rules."""
    (claim,) = claims(tmp_path, constant(400 * MB))

    assert claim.sentence.before == ("`step` holds float32[1000x1000] (400 MB) as a constant, used at train.py:12")
    assert (claim.line, dict(claim.takes)) == (("train.py", 12), {})


def test_each_graph_has_a_copy(tmp_path: Path) -> None:
    """Three of 10 MB are 30 MB; another one is told by its size."""
    copies = [constant(10 * MB, number) for number in (5, 6, 7)]
    (claim,) = claims(tmp_path, *copies, constant(20 * MB, 8, line=14))

    assert "in each of 3 graphs, 30 MB together" in claim.sentence.before
    assert claim.sentence.before.endswith("; 1 more with 20 MB")


def test_a_constant_without_a_line_of_the_users_has_none(tmp_path: Path) -> None:
    """It is told all the same."""
    (claim,) = claims(tmp_path, constant(400 * MB, file=None, line=None))

    assert claim.line is None


def test_small_constants_are_silent(tmp_path: Path) -> None:
    """Tables of positions have some megabytes."""
    assert claims(tmp_path, constant(8 * MB)) == []
