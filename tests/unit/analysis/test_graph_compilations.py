"""What it took to make graphs, by function and stage."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dlprof.analysis import graph_compilations
from dlprof.analysis.graph_compilations import GraphCompilation
from tests.unit import runs


def span(kind: str, start_ns: int, dur_ns: int, stage: str | None, function: str | None = None, **more: Any) -> Any:
    """A part of making a graph."""
    told = {name: value for name, value in (("stage", stage), ("function", function)) if value}
    detail = json.dumps({"graph": told}) if told else None
    times = {"start_ns": start_ns, "dur_ns": dur_ns, "span_id": start_ns}
    return runs.span(kind, 0, 0, **{"detail": detail, **times, **more})


def found(folder: Path, *spans: Any) -> list[GraphCompilation]:
    """Those of a run with these spans."""
    run = runs.make(folder / "r", spans=list(spans))
    return graph_compilations.find(run.table("spans", graph_compilations.COLUMNS))


def test_stages_of_a_function_are_summed(tmp_path: Path) -> None:
    """Over all times that it was compiled; a function that took longer comes first."""
    one = [span("graph_stage", 10 + at, 5, "trace", "step") for at in (0, 100)] + [
        span("graph_stage", 15, 2, "lower", "step"),
        span("graph_compile", 17, 30, "compile", "step", file="t.py", line=9),
    ]

    step, add = found(tmp_path, *one, span("graph_compile", 300, 3, "compile", "add", file=None, line=None))

    assert step == GraphCompilation(
        function="step", count=1, time_ns=42, trace_ns=10, lower_ns=2, compile_ns=30, file="t.py", line=9
    )
    assert add == GraphCompilation(function="add", count=1, time_ns=3, compile_ns=3, file=None, line=None)


def test_a_stage_inside_of_another_is_not_counted_twice(tmp_path: Path) -> None:
    """Dynamo calls the compiler while it traces; the compiler's part names no function."""
    spans = (
        span("graph_compile", 10, 50, "trace", name="torch.compile step"),
        span("graph_stage", 30, 20, "compile", name="compile"),
    )

    (step,) = found(tmp_path, *spans)

    assert (step.function, step.count, step.trace_ns, step.compile_ns, step.time_ns) == (
        "torch.compile step",
        1,
        30,
        20,
        50,
    )


def test_the_first_run_of_a_graph_is_of_the_function_that_was_traced(tmp_path: Path) -> None:
    """TensorFlow optimises the graph in it."""
    traced = {"graph": {"stage": "trace"}, "compiled": {"function": "step"}}
    spans = (
        span("graph_compile", 10, 5, None, name="trace step", detail=json.dumps(traced)),
        span("first_run", 20, 7, "first_run", "step", name="first run of __inference_step_9"),
    )

    (step,) = found(tmp_path, *spans)

    assert (step.trace_ns, step.first_run_ns, step.compile_ns, step.count) == (5, 7, None, 1)


def test_an_engine_that_tells_no_stage_compiles(tmp_path: Path) -> None:
    """Also one whose stage this dlprof does not know."""
    spans = (
        span("graph_compile", 10, 5, None, name="theano.function"),
        span("graph_compile", 20, 5, "link", name="theano.function"),
    )

    (function,) = found(tmp_path, *spans)

    assert (function.function, function.compile_ns, function.trace_ns) == ("theano.function", 10, None)


def test_threads_do_not_contain_each_other(tmp_path: Path) -> None:
    """Two that compile at the same time."""
    spans = (
        span("graph_compile", 10, 50, "compile", "one", thread_id=1),
        span("graph_compile", 20, 10, "compile", "other", thread_id=2),
    )

    assert [(one.function, one.time_ns) for one in found(tmp_path, *spans)] == [("one", 50), ("other", 10)]
