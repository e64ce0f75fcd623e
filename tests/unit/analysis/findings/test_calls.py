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


OTHER = {"thread_id": 7, "thread": "worker"}
SCRIPT = runs.span("script", 0, 10, span_id=90, file=None, line=None)
TURN = {"thread": "worker", "thread_id": 7, "system_id": 70, "start_ns": 2 * S, "end_ns": 8 * S}


@pytest.mark.parametrize(
    ("turns", "fit", "expected"),
    [
        ([], {}, ["main"]),  # the main thread trains, another one evaluates beside
        ([TURN], OTHER, ["worker"]),  # the other way round, and the main one has nothing but its evaluation
        ([], OTHER, []),  # phases are of the main thread: what the other one trains and evaluates is in none
    ],
)
def test_what_is_inside_fit_is_of_its_thread_and_of_the_one_that_phases_are_of(
    tmp_path: Path, turns: list[dict[str, Any]], fit: dict[str, Any], expected: list[str]
) -> None:
    """Both threads evaluate while one of them fits."""
    both = [runs.span("evaluate", 3, 4, name="main"), runs.span("evaluate", 3, 4, name="worker", **OTHER)]
    spans = [SCRIPT, {**runs.fit_span(), **fit}, *both]
    run = runs.trained(tmp_path / "r", runs.manifest(phase_threads=turns), spans=spans)

    assert [call.name for call in Calls(run).inside_fit(SpanKind.EVALUATE)] == expected


def test_calls_of_a_thread_are_told_while_phases_are_of_it(tmp_path: Path) -> None:
    """From 2 s to 8 s they are of the worker."""
    spans = [
        runs.span("save", begin, begin + 0.5, name=f"{change.get('thread', 'main')} {begin}", **change)
        for begin in (1, 3, 9)
        for change in ({}, OTHER)
    ]
    run = runs.trained(tmp_path / "r", runs.manifest(phase_threads=[TURN]), spans=[SCRIPT, *spans])

    assert [call.name for call in Calls(run).with_phases(SpanKind.SAVE)] == ["main 1", "worker 3", "main 9"]


def test_where_nothing_tells_the_main_thread_calls_of_all_are_told(tmp_path: Path) -> None:
    """As in a run that was imported."""
    assert len(calls(tmp_path, runs.span("save", 3, 4, **OTHER)).with_phases(SpanKind.SAVE)) == 1
