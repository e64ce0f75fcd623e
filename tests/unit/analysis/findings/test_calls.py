"""Calls, out of rows of spans."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings.calls import Calls
from dlprof.analysis.findings.finding import Abstain
from dlprof.schema.vocabulary import SpanKind
from tests.unit import runs
from tests.unit.runs import S


def calls(path: Path, *spans: dict[str, Any]) -> Calls:
    """Those of a run with these spans."""
    return Calls(runs.trained(path / "r", spans=list(spans)))


def test_calls_are_told_apart_by_their_kind(tmp_path: Path) -> None:
    """With times and the line that made them."""
    (save,) = calls(tmp_path, runs.fit_span(), runs.span("save", 3, 4, name="save_weights", line=40)).of(SpanKind.SAVE)

    assert (save.name, save.interval, save.dur_ns, save.line) == ("save_weights", (3 * S, 4 * S), S, ("train.py", 40))


def test_a_call_may_have_no_line(tmp_path: Path) -> None:
    """Such as an import that another import makes."""
    (call,) = calls(tmp_path, runs.span("import", 0, 1, file=None, line=None)).of(SpanKind.IMPORT)

    assert call.line is None


def test_what_was_compiled_is_in_the_detail(tmp_path: Path) -> None:
    """Of other calls there is none."""
    detail = json.dumps({"compiled": {"function": "step", "again": True}})
    seen = calls(tmp_path, runs.span("graph_compile", 3, 4, detail=detail), runs.span("save", 4, 5))
    compiled, save = seen.of(SpanKind.GRAPH_COMPILE, SpanKind.SAVE)

    assert (compiled.compiled, save.compiled) == ({"function": "step", "again": True}, {})


def test_without_calls_a_rule_abstains(tmp_path: Path) -> None:
    """The probe in the process saw nothing."""
    with pytest.raises(Abstain, match="the in-process probe left nothing"):
        calls(tmp_path).need_calls()


@pytest.mark.parametrize(
    ("name", "detail", "expected"),
    [
        ("fit", {"adapter": "ArrayDataAdapter"}, True),
        ("fit", {"adapter": "GeneratorDataAdapter", "data": [{"shape": [9]}]}, False),
        ("fit", {"data": [{"shape": [9]}]}, True),
        ("fit", {"data": []}, False),
        ("fit_generator", {"data": [{"shape": [9]}]}, False),
    ],
)
def test_whole_arrays_are_known_by_the_adapter_or_the_data(
    tmp_path: Path, name: str, detail: dict[str, Any], expected: bool
) -> None:
    """Keras 3 names the adapter; of Keras 2 the data are looked at."""
    assert calls(tmp_path, runs.span("fit", 2, 8, name=name, detail=json.dumps(detail))).feed_arrays is expected


def test_a_run_without_fit_was_given_no_arrays(tmp_path: Path) -> None:
    """It has a loop of its own."""
    assert calls(tmp_path, runs.span("on_batch", 2, 3)).feed_arrays is False
