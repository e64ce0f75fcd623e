"""Graphs that are compiled again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings import diagnose
from dlprof.analysis.findings.finding import Diagnosis
from tests.unit import runs
from tests.unit.analysis.findings.cases import Planted, Tables, diagnosed, keep_source, parts, pick, quiet, slugs
from tests.unit.runs import MS


def planted() -> Planted:
    """Six graphs were compiled again for another shape."""
    return Planted(compiling(6))


def recompiled(count: int) -> list[dict[str, Any]]:
    """Spans of fit, and of so many recompilations of 0.2 s from 3 s on."""
    detail = {
        "compiled": {
            "function": "step",
            "again": True,
            "cause": [{"argument": "x", "what": "shape", "before": "(2,)", "now": "(3,)"}],
        }
    }
    spans = [
        runs.span("graph_compile", 3 + n * 0.3, 3.2 + n * 0.3, span_id=9 + n, detail=json.dumps(detail), line=12)
        for n in range(count)
    ]
    return [runs.fit_span(), *spans]


def compiling(count: int) -> Tables:
    """A training in which so many graphs were compiled again."""
    seconds = count * 0.2
    pieces = [("import", 0.0, 2.0), ("fit.steps", 2.0, 3.0)]
    for n in range(count):
        pieces += [("fit.graph_compile", 3 + n * 0.3, 3.2 + n * 0.3), ("fit.steps", 3.2 + n * 0.3, 3.3 + n * 0.3)]
    pieces += [("fit.steps", 3 + count * 0.3, 8.0), ("teardown", 8.0, 10.0)]
    return quiet(
        phases=parts(fit_steps=6 - seconds, fit_graph_compile=seconds, teardown=2),
        spans=recompiled(count),
        phase_intervals=runs.intervals(*pieces),
        steps=runs.steps(int(300 - seconds * 50)),
    )


def test_graphs_compiled_again_and_again_are_retracing(tmp_path: Path) -> None:
    """With the argument that changed, and the line."""
    finding = pick(planted().diagnosis(tmp_path), "retracing")

    assert finding.at_stake_ns == 1_200 * MS
    assert finding.line == 12
    assert "6 graphs were compiled again, most often step (shape of x: (2,) to (3,))" in finding.claim


def test_the_first_run_of_a_graph_that_was_compiled_again_is_retracing(tmp_path: Path) -> None:
    """0.05 s after each of six recompilations of 0.2 s; that of a graph compiled for the first time is not."""
    first_runs = [
        runs.span("first_run", 3.2 + n * 0.3, 3.25 + n * 0.3, span_id=20 + n, thread="MainThread") for n in range(6)
    ]
    for_the_first_time = [
        runs.span("graph_compile", 5.0, 5.2, span_id=40),
        runs.span("first_run", 5.2, 6.2, span_id=41),
    ]
    tables = compiling(6)
    tables["spans"] += [*first_runs, *for_the_first_time]

    assert pick(diagnosed(tmp_path / "r", **tables), "retracing").at_stake_ns == 1_500 * MS


def stages(compilations: list[dict[str, Any]], function: str) -> list[dict[str, Any]]:
    """Tracing of a function for 50 ms before each of its compilations."""
    detail = json.dumps({"graph": {"stage": "trace", "function": function}})
    return [
        {
            **row,
            "kind": "graph_stage",
            "start_ns": row["start_ns"] - 50 * MS,
            "dur_ns": 50 * MS,
            "span_id": row["span_id"] + 100,
            "detail": detail,
        }
        for row in compilations
    ]


def test_tracing_a_function_that_was_compiled_again_is_lost_with_it(tmp_path: Path) -> None:
    """Six of 0.2 s, 50 ms before each; the first stage is that of the first compilation."""
    tables = compiling(6)
    tables["spans"] += stages(tables["spans"][1:], "step")

    assert pick(diagnosed(tmp_path / "r", **tables), "retracing").at_stake_ns == 1_450 * MS


@pytest.mark.parametrize(("operators", "at_stake_ms"), [(6, 1_450), (2, 1_200)])
def test_operators_of_the_engine_that_were_compiled_as_often_follow_the_same_shapes(
    tmp_path: Path, operators: int, at_stake_ms: int
) -> None:
    """50 ms behind each of six: all but the first. Two are usual."""
    tables = compiling(6)
    detail = json.dumps({"graph": {"stage": "compile", "function": "append", "operator": True}})
    tables["spans"] += [
        runs.span("graph_compile", 3.2 + n * 0.3, 3.25 + n * 0.3, span_id=60 + n, detail=detail, line=13)
        for n in range(operators)
    ]

    assert pick(diagnosed(tmp_path / "r", **tables), "retracing").at_stake_ns == at_stake_ms * MS


@pytest.mark.parametrize(("phase", "at_stake_ms"), [("fit.graph_compile", 2_256), ("fit.callbacks", 1_200)])
def test_only_what_is_compiled_in_a_step_makes_it_longer_besides(phase: str, at_stake_ms: int, tmp_path: Path) -> None:
    """Six steps of 0.82 s, 0.2 s of each a compilation: all of the 1.056 s of dispatch are in these, or none of them."""
    tables = compiling(6)
    for row in tables["phase_intervals"]:
        if row["phase"] == "fit.graph_compile":
            row["phase"] = phase
    tables["phases"] = parts(**{"fit_steps": 4.8, phase.replace(".", "_"): 1.2, "teardown": 2})
    for row in tables["steps"][1:7]:
        row |= {"compiled": True, "dur_ns": 820 * MS}

    assert pick(diagnosed(tmp_path / "r", **tables), "retracing").at_stake_ns == at_stake_ms * MS


def test_the_short_last_batch_is_no_retracing(tmp_path: Path) -> None:
    """Two more graphs are usual."""
    assert "retracing" not in slugs(diagnosed(tmp_path / "r", **compiling(2)))


def test_one_compilation_that_takes_much_is_asked_about(tmp_path: Path) -> None:
    """A short last batch: 2 of 6 s, by one graph more."""
    tables = compiling(1)
    tables["spans"][1]["dur_ns"] = 2000 * MS
    finding = pick(diagnosed(tmp_path / "r", **tables), "retracing")

    assert "1 graph was compiled again, step (shape of x: (2,) to (3,))" in finding.claim
    assert finding.is_question


def test_functions_that_were_compiled_once_more_each_are_no_retracing(tmp_path: Path) -> None:
    """Six of the engine's own small ones, each for one more shape."""
    tables = compiling(6)
    for n, row in enumerate(tables["spans"][1:]):
        row["detail"] = row["detail"].replace('"step"', f'"step{n}"')

    assert "retracing" not in slugs(diagnosed(tmp_path / "r", **tables))


def test_a_guard_is_told_as_it_is(tmp_path: Path) -> None:
    """Dynamo's guards have braces of their own."""
    guard = {"what": "guard", "now": "set(L['kwargs']) == {'training'}"}
    detail = json.dumps({"compiled": {"function": "step", "again": True}, "guards": [guard]})
    tables = compiling(6)
    for row in tables["spans"][1:]:
        row["detail"] = detail

    assert (
        "(set(L['kwargs']) == {'training'}): 1.20 s, " in pick(diagnosed(tmp_path / "r", **tables), "retracing").claim
    )


def made_anew(path: Path, name: str, source: str = "def g(x):\n    return x\n") -> Diagnosis:
    """Of a run in which six functions of one name were compiled at one line, each for the first time."""
    tables = compiling(6)
    detail = json.dumps({"compiled": {"function": name, "again": False, "cause": []}})
    tables["spans"] = [row if row["kind"] == "fit" else {**row, "detail": detail} for row in tables["spans"]]
    run = runs.trained(path / "r", **tables)
    keep_source(run, source)
    return diagnose.diagnose(run)


def test_a_function_that_is_made_anew_and_compiled_each_time_is_told_with_its_line(tmp_path: Path) -> None:
    """Six of one name, whose `def` is in the script: five too many."""
    finding = pick(made_anew(tmp_path, "g"), "retracing")

    assert "g was made anew 5 times, and compiled each time" in finding.claim
    assert (finding.at_stake_ns, finding.line) == (1_000 * MS, 12)


def test_tracing_and_lowering_of_such_functions_is_lost_with_them(tmp_path: Path) -> None:
    """Stages of their own on JAX, beside the compilation: 50 ms before each, those of the first left out."""
    tables = compiling(6)
    detail = json.dumps({"compiled": {"function": "g", "again": False, "cause": []}})
    compilations = [{**row, "detail": detail} for row in tables["spans"] if row["kind"] != "fit"]
    tables["spans"] = [row for row in tables["spans"] if row["kind"] == "fit"]
    tables["spans"] += [*compilations, *stages(compilations, "g")]
    run = runs.trained(tmp_path / "r", **tables)
    keep_source(run, "def g(x):\n    return x\n")

    assert pick(diagnose.diagnose(run), "retracing").at_stake_ns == 1_250 * MS


def test_functions_that_an_engine_makes_for_its_operators_are_not_the_script_s(tmp_path: Path) -> None:
    """Nothing in the script is called so."""
    assert "retracing" not in slugs(made_anew(tmp_path, "broadcast_in_dim"))


def test_a_lambda_that_is_compiled_anew_is_the_script_s_wherever_it_is_called(tmp_path: Path) -> None:
    """Compiled at line 12, where it is called; made at another one."""
    source = "\n" * 4 + "step = jax.jit(jax.grad(lambda p: p))\n"

    finding = pick(made_anew(tmp_path / "a", "<lambda>", source), "retracing")

    assert "<lambda> was made anew 5 times" in finding.claim
    assert "retracing" not in slugs(made_anew(tmp_path / "b", "<lambda>"))


def first_steps(*fits: tuple[int, float, float, str], made: float = 1.9) -> Tables:
    """Trainings, each by its thread, begin, end (s) and layer, whose first steps of 0.5 s compile; models made before.

    Phases are of thread 1, whose training begins at 2 s.
    """
    spans = [runs.span("script", 0, 10, span_id=90, file=None, line=None), runs.span("construct", made, made + 0.05)]
    rows = []
    for number, (thread, begin, end, layer) in enumerate(fits):
        model = {"layers": [{"name": layer, "class": "Dense"}], "models": [], "optimizer": {}}
        span = {**runs.fit_span(model=model), "span_id": 20 + number, "thread_id": thread}
        spans.append({**span, "start_ns": round(begin * 1000) * MS, "dur_ns": round((end - begin) * 1000) * MS})
        changes: dict[str, Any] = {"thread_id": thread, "loop_id": 20 + number}
        rows += runs.steps(1, start_s=begin, dur_ms=500, first=True, **changes)
        rows += runs.steps(20, start_s=begin + 0.5, **changes)
    return quiet(
        phases=parts(fit_graph_compile=2, fit_steps=4, teardown=2),
        spans=spans,
        phase_intervals=runs.intervals(
            ("import", 0, 2), ("fit.graph_compile", 2, 4), ("fit.steps", 4, 8), ("teardown", 8, 10)
        ),
        steps=rows,
    )


def test_models_that_are_trained_side_by_side_are_each_compiled_once(tmp_path: Path) -> None:
    """False before: the second and third were taken for the first one's model, and each for compiled again."""
    side_by_side = first_steps((1, 2.0, 7.0, "dense"), (2, 2.6, 7.0, "dense_1"), (3, 3.2, 7.0, "dense_2"))
    of_one_name = first_steps((1, 2.0, 7.0, "dense"), (2, 2.6, 7.0, "dense"), (3, 3.2, 7.0, "dense"))

    assert "retracing" not in slugs(diagnosed(tmp_path / "a", **side_by_side))
    assert "retracing" not in slugs(diagnosed(tmp_path / "b", **of_one_name))


def test_models_that_were_all_made_before_are_each_compiled_once(tmp_path: Path) -> None:
    """Their layers have other names, in trainings one after another."""
    tables = first_steps((1, 2.0, 2.5, "dense"), (1, 2.6, 3.1, "dense_1"), (1, 3.2, 7.0, "dense_2"))

    assert "retracing" not in slugs(diagnosed(tmp_path / "r", **tables))


def test_one_model_whose_step_function_is_made_anew_on_a_thread_is_told(tmp_path: Path) -> None:
    """Twice, beside another model's training on another thread."""
    tables = first_steps(
        (1, 2.0, 2.5, "dense"), (2, 2.2, 7.0, "dense_1"), (1, 2.6, 3.1, "dense"), (1, 3.2, 7.0, "dense")
    )
    finding = pick(diagnosed(tmp_path / "r", **tables), "retracing")

    assert finding.heading == "The step function was compiled more than once"
    assert "The step function was made anew 2 times" in finding.claim
