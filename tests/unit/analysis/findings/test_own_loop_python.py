"""Python in the steps of the script's own loops."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings import diagnose
from tests.unit import runs
from tests.unit.analysis.findings.cases import (
    BEGIN,
    BUSY,
    KERNELS,
    Call,
    Tables,
    cpu,
    diagnosed,
    keep_source,
    on,
    pick,
    quiet,
    sampled,
    slugs,
)
from tests.unit.runs import MS, S

OWN = runs.manifest(keras=None)
LOOP: list[Call] = [("<module>", "train.py", 50), ("learn", "train.py", 40)]


def looping(*calls: Call, kernels_ms: float = 8, how: str = "inferred") -> Tables:
    """6 s of steps of the script's own, half of which stand in these frames; operators run for a part of each 20 ms."""
    span = {**runs.fit_span(), "detail": json.dumps({"how": how})}
    window = runs.window([{**KERNELS[0], "ms": kernels_ms}])
    engine: list[Call] = [*LOOP, ("backward", "torch/_tensor.py", 9)]
    return quiet(spans=[span], **window, **sampled((2, 5, [*LOOP, *calls]), (5, 8, engine)))


def test_lines_of_the_loop_that_run_no_operator_are_python(tmp_path: Path) -> None:
    """Half of the samples, and operators for 8 of 20 ms."""
    finding = pick(diagnosed(tmp_path / "r", OWN, **looping()), "python-overhead")

    assert finding.at_stake_ns == pytest.approx(3 * S, rel=0.01)
    assert finding.line == 40
    assert finding.heading == "Python of the script's own loop took long"


def test_what_runs_once_before_the_loop_is_none_of_its_steps(tmp_path: Path) -> None:
    """False before: a memory that was filled in front of the loop, in what was taken for its first step."""
    row = {"file": "train.py", "function": "f", "first_line": 1, "line": 40, "hits": 1, "time_ns": 3 * S}

    assert "python-overhead" not in slugs(diagnosed(tmp_path / "r", OWN, **{**looping(), "lines": [row]}))


def test_a_line_that_starts_operators_is_no_python(tmp_path: Path) -> None:
    """C++ leaves the user's line on top of its stack: while operators run it is theirs."""
    assert "python-overhead" not in slugs(diagnosed(tmp_path / "r", OWN, **looping(kernels_ms=19.5)))


def test_a_library_beside_the_engine_is_named_by_what_it_does(tmp_path: Path) -> None:
    """Whatever runs meanwhile."""
    drawing: list[Call] = [("savefig", "matplotlib/figure.py", 3), ("draw", "matplotlib/axes/_base.py", 9)]
    finding = pick(diagnosed(tmp_path / "r", OWN, **looping(*drawing, kernels_ms=19.5)), "python-overhead")

    assert finding.heading == "The loop drew figures"
    assert finding.claim.startswith("Figures are drawn in the steps of the script's own loop")
    assert finding.at_stake_ns == pytest.approx(3 * S, rel=0.01)


@pytest.mark.parametrize("call", [("wait", "<python>/threading.py", 9), ("matmul", "torch/functional.py", 9)])
def test_waiting_and_the_engine_are_no_python_of_the_loop(tmp_path: Path, call: Call) -> None:
    """They stand above the user's line."""
    assert "python-overhead" not in slugs(diagnosed(tmp_path / "r", OWN, **looping(call)))


def test_loops_of_keras_are_not_the_script_s(tmp_path: Path) -> None:
    """There a line of the user's that stands in fit has called it."""
    told: dict[str, Any] = runs.manifest()

    assert "python-overhead" not in slugs(diagnosed(tmp_path / "r", told, **looping(how="keras")))


def test_arrays_that_the_engine_makes_one_by_one_are_conversions(tmp_path: Path) -> None:
    """For half of the steps; a tenth of them is a batch a step, as everywhere."""
    made: list[Call] = [("array", "mxnet/ndarray/utils.py", 9), ("_sync_copyfrom", "mxnet/ndarray/ndarray.py", 7)]
    gluon = runs.manifest(keras=None, engine={"name": "mxnet", "version": "1.9.1"})
    finding = pick(diagnosed(tmp_path / "a", gluon, **looping(*made, kernels_ms=19.5)), "python-overhead")

    assert (finding.heading, finding.line) == ("Data were converted in each step", 40)
    assert finding.at_stake_ns == pytest.approx(3 * S, rel=0.01)
    assert "data.take(indices)" in str(finding.fix)
    few = looping(kernels_ms=19.5) | sampled((2, 3, [*LOOP, *made]), (3, 8, [*LOOP, ("f", "mxnet/gluon/block.py", 9)]))
    assert "python-overhead" not in slugs(diagnosed(tmp_path / "b", gluon, **few))


def test_a_copy_that_waits_for_operators_before_it_is_theirs(tmp_path: Path) -> None:
    """Operators run for 8 of 20 ms, and go on behind the call that starts them: half of the steps is 30 % of copies."""
    made: list[Call] = [("array", "mxnet/ndarray/utils.py", 9), ("_sync_copyfrom", "mxnet/ndarray/ndarray.py", 7)]
    gluon = {**on("mxnet", asynchronous=True), "keras": None}
    tables = looping(*made) | cpu((2, BEGIN), (8, BUSY))

    assert "python-overhead" not in slugs(diagnosed(tmp_path / "r", gluon, **tables))


def test_of_jax_no_array_is_to_be_indexed_outside_of_a_compiled_function(tmp_path: Path) -> None:
    """Measured: that took three times as long as to convert each batch."""
    made: list[Call] = [("array", "jax/_src/numpy/array_constructors.py", 9)]
    told = {**on("jax", asynchronous=True), "keras": None}
    finding = pick(diagnosed(tmp_path / "r", told, **looping(*made, kernels_ms=0.1)), "python-overhead")

    assert finding.next_step.startswith(
        "Make one array of NumPy of all rows, once, before the loop, and give its batches"
    )
    assert (
        finding.fix
        == "data = np.stack(rows), once, and step(params, data[indices]): a compiled function takes arrays of NumPy"
    )


def test_a_line_below_which_mostly_the_engine_stands_is_on_the_way_there(tmp_path: Path) -> None:
    """1.5 of 6 s in the line itself, 4.5 s in a session that it runs."""
    session: list[Call] = [*LOOP, ("run", "tensorflow_core/python/client/session.py", 956)]
    tables = looping() | sampled((2, 3.5, LOOP), (3.5, 8, session))

    assert "python-overhead" not in slugs(diagnosed(tmp_path / "r", OWN, **tables))


BACKWARD: list[Call] = [*LOOP, ("backward", "torch/_tensor.py", 9)]
COMPILES: list[Call] = [*LOOP, ("backend_compile_and_load", "jax/_src/compiler.py", 353)]


@pytest.mark.parametrize(
    "stood", [((2, 5, LOOP), (5, 8, BACKWARD)), ((2, 4, LOOP), (4, 6, COMPILES), (6, 8, BACKWARD))]
)
def test_calls_of_a_compiled_function_that_take_long_to_begin_are_asked_about(
    tmp_path: Path, stood: tuple[tuple[float, float, list[Call]], ...]
) -> None:
    """Half of 300 steps stands below line 40, which calls what JAX compiled; operators run for 8 of 20 ms.

    A sample that stands in the compiler may be long, and reach into the steps: it is none of them.
    """
    told = runs.manifest(keras=None, engine={"name": "jax", "version": "0.10.2"})
    tables = looping() | sampled(*stood)
    detail = json.dumps({"compiled": {"function": "step"}})
    tables["spans"] = [
        *tables["spans"],
        {**tables["spans"][0], "span_id": 9, "kind": "graph_compile", "detail": detail},
    ]
    run = runs.trained(tmp_path / "r", told, **tables)
    keep_source(run, "\n" * 39 + "    value, params = step(params, x)\n")
    finding = pick(diagnose.diagnose(run), "python-overhead")

    assert finding.claim.startswith("Calls of a compiled function take 10.0 ms in which no operator runs")
    assert (finding.line, finding.is_question) == (40, True)


def test_a_few_long_calls_of_a_compiled_function_are_no_cost_of_each(tmp_path: Path) -> None:
    """Two of 300 steps have half of the 6 s: what they are given was still being computed by another function."""
    told = runs.manifest(keras=None, engine={"name": "jax", "version": "0.10.2"})
    tables = looping(kernels_ms=1) | sampled((2, 5, [*LOOP]), (5, 8, [*LOOP, ("backward", "jax/_src/api.py", 9)]))
    detail = json.dumps({"compiled": {"function": "step"}})
    tables["spans"] = [
        *tables["spans"],
        {**tables["spans"][0], "span_id": 9, "kind": "graph_compile", "detail": detail},
    ]
    for number, row in enumerate(tables["steps"]):
        row |= {"dur_ns": int(1.5 * S) if number in (0, 150) else 2 * MS}
    run = runs.trained(tmp_path / "r", told, **tables)
    keep_source(run, "\n" * 39 + "    value, params = step(params, x)\n")

    claims = [one.claim for one in diagnose.diagnose(run).findings]
    assert not [claim for claim in claims if claim.startswith("Calls of a compiled function")]


@pytest.mark.parametrize(("file", "is_python"), [("numpy/core/fromnumeric.py", False), ("pandas/core/frame.py", True)])
def test_numpy_that_is_given_arrays_of_an_engine_which_works_on_waits_for_them(
    tmp_path: Path, file: str, is_python: bool
) -> None:
    """False before: a mean of losses that took a tenth of the run, in which operators ran."""
    told = {**on("jax", asynchronous=True), "keras": None}
    found = slugs(diagnosed(tmp_path / "r", told, **looping(("mean", file, 9), kernels_ms=19.9)))

    assert ("python-overhead" in found) is is_python


def test_where_nobody_measured_whether_it_ran_a_line_may_have_waited(tmp_path: Path) -> None:
    """No counters of the thread: it is asked, not said."""
    finding = pick(diagnosed(tmp_path / "r", OWN, **looping()), "python-overhead")

    assert finding.claim.startswith("The script stands, whether it runs or waits was not measured there, most of all ")
    assert finding.confidence < 0.5


def test_code_that_exec_made_is_no_library(tmp_path: Path) -> None:
    """A cell: what it calls leaves no frame, as with a line of the script's; operators run for all of the steps."""
    cell: list[Call] = [("<module>", "<ipython-input-2>", 5)]

    assert "python-overhead" not in slugs(diagnosed(tmp_path / "r", OWN, **looping(*cell, kernels_ms=19.5)))


SHARED = {"run_ns": 6 * S, "wait_ns": 0, "main_run_ns": 2 * S, "main_wait_ns": 0}
"""The thread of the steps had a core for 2 of 6 s, others of the process for 4."""
ACTS: list[Call] = [("run", "<python>/threading.py", 9), ("actor", "train.py", 12)]
RESTS: list[Call] = [("actor", "train.py", 12), ("wait", "<python>/threading.py", 327)]


def beside(other: list[Call], *stood: tuple[float, float, list[Call]]) -> Tables:
    """Steps in which the thread stands so, hardly an operator runs, and another thread of the program stands so."""
    tables = looping(kernels_ms=0.1) | sampled(*stood)
    others = sampled((2, 8, other), thread="actor")
    for row in (*others["stacks"], *others["frames"]):
        row["stack_id"] += 10
    both = {name: [*tables[name], *others[name]] for name in ("stacks", "frames")}
    return {**tables, **both, **cpu((2, BEGIN), (8, SHARED))}


@pytest.mark.parametrize(
    ("other", "told"),
    [
        (ACTS, []),  # the thread ran for 2 of the 5 s in which it waits for nothing else: 0.8 s of 2 in the line
        (RESTS, [2.0]),  # who has the cores is no thread that runs Python: all that ran may have been there
    ],
)
def test_a_line_that_waits_for_the_interpreter_is_not_told_for_all_that_it_stands(
    tmp_path: Path, other: list[Call], told: list[float]
) -> None:
    """Of 6 s the thread stands in a queue for 1, in a line for 2, and in the engine for 3."""
    queue: list[Call] = [*LOOP[:1], ("learn", "train.py", 30), ("wait", "<python>/threading.py", 327)]
    stood = (2, 3, queue), (3, 5, LOOP), (5, 8, [*LOOP[:1], ("learn", "train.py", 41), BACKWARD[-1]])
    found = diagnosed(tmp_path / "r", OWN, **beside(other, *stood))

    assert [one.at_stake_ns / S for one in found.findings if one.slug == "python-overhead"] == pytest.approx(told)


@pytest.mark.parametrize(("other", "told"), [(ACTS, ["gil-contention"]), (RESTS, ["script-waits"])])
def test_a_line_that_stands_waits_for_other_threads_where_these_run_python(
    tmp_path: Path, other: list[Call], told: list[str]
) -> None:
    """For the interpreter, which no frame shows; else nothing tells what for."""
    stood = (2, 5, LOOP), (5, 8, [*LOOP, ("backward", "torch/_tensor.py", 9)])
    found = slugs(diagnosed(tmp_path / "r", OWN, **beside(other, *stood)))

    assert [slug for slug in found if slug in ("gil-contention", "script-waits")] == told
