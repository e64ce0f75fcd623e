"""Lines that run very many times in each step of the script's own loop."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit import runs
from tests.unit.analysis.findings.cases import KERNELS, Call, Tables, diagnosed, parts, pick, quiet, sampled
from tests.unit.analysis.findings.test_own_loop_python import LOOP, OWN, looping
from tests.unit.runs import MS, S


def line(number: int, hits: int, **more: Any) -> dict[str, Any]:
    """A row of `lines`."""
    place = {"file": "train.py", "function": "bound", "first_line": 30, "line": number, "source": "x += 1"}
    return {**place, "hits": hits, "how": "exact", "time_ns": S, **more}


def bounding(hits: int) -> Tables:
    """Half of 300 steps stands below line 31, which ran so often."""
    return looping(("bound", "train.py", 31), ("__mul__", "mxnet/ndarray/ndarray.py", 9)) | {
        "lines": [line(31, hits), line(5, 300, function="f")]
    }


def test_a_line_that_runs_for_each_weight_is_named_with_how_often(tmp_path: Path) -> None:
    """50 times a step, in an operation of the engine each time."""
    finding = pick(diagnosed(tmp_path / "r", OWN, **bounding(300 * 50)), "python-overhead")

    assert finding.claim.startswith("Line 31 runs 50 times in each step of the script's own loop")
    assert (finding.line, finding.heading) == (31, "A line ran very many times in each step")
    assert finding.at_stake_ns == pytest.approx(3 * S, rel=0.01)


def test_a_line_that_runs_once_a_step_is_none(tmp_path: Path) -> None:
    """Whatever it takes."""
    diagnosis = diagnosed(tmp_path / "r", OWN, **bounding(300))

    assert all(finding.heading != "A line ran very many times in each step" for finding in diagnosis.findings)


def test_hits_that_are_scaled_too_high_are_seen_beside_those_of_the_loop_s_own_line(tmp_path: Path) -> None:
    """False before: 15,000 hits of each line of a loop of 300 steps, as windows had scaled them."""
    tables = bounding(300 * 50)
    tables["spans"] = [{**tables["spans"][0], "file": "train.py", "line": 5}]
    tables["lines"] = [tables["lines"][0], line(5, 300 * 50, function="f")]
    diagnosis = diagnosed(tmp_path / "r", OWN, **tables)

    assert all(finding.heading != "A line ran very many times in each step" for finding in diagnosis.findings)


def test_hits_of_windows_are_told_as_about_so_many(tmp_path: Path) -> None:
    """20,000 have one digit, and so has what a step has of them."""
    tables = bounding(20_000)
    counted = [{**row, "how": "scaled"} for row in tables["lines"]]
    exact, scaled = (
        diagnosed(tmp_path / "a", OWN, **tables),
        diagnosed(tmp_path / "b", OWN, **tables | {"lines": counted}),
    )

    assert "runs 67 times in each step" in pick(exact, "python-overhead").claim
    assert "runs about 70 times in each step" in pick(scaled, "python-overhead").claim


@pytest.mark.parametrize(("how", "found"), [("scaled", True), ("exact", False)])
def test_a_line_that_asks_for_values_ran_as_often_as_it_asked(tmp_path: Path, how: str, found: bool) -> None:
    """Not told before: windows met 9 hits a step of a line that asked 16,000 times for values in 300 steps."""
    tables = bounding(2700)
    tables["lines"] = [{**row, "how": how} for row in tables["lines"]]
    asked = {"what": "asscalar()", "file": "train.py", "line": 31, "calls": 16_000, "dur_ns": S}
    tables["syncs"] = [{**asked, "start_ns": 2 * S, "end_ns": 10 * S}]
    diagnosis = diagnosed(tmp_path / "r", {**OWN, "syncs_of": [OWN["engine"]["name"]]}, **tables)

    claims = [one.claim for one in diagnosis.findings if one.heading == "A line ran very many times in each step"]
    assert [claim.startswith("Line 31 runs about 53 times in each step") for claim in claims] == [True] * found


def test_hits_of_an_evaluation_behind_the_training_are_none_of_its_steps(tmp_path: Path) -> None:
    """False before: 60 a step, of a line that stood as long outside of the steps as in them."""
    tables = bounding(300 * 60)
    stood = (("bound", "train.py", 31), ("__mul__", "mxnet/ndarray/ndarray.py", 9))
    inside = [(2 + n / 2, 2.5 + n / 2, [*LOOP, *stood]) for n in range(6)]
    outside = [(8 + n / 2, 8.5 + n / 2, [*LOOP, *stood]) for n in range(6)]
    tables |= sampled(*inside, *outside)
    tables |= {"phases": parts(fit_steps=6, script=3), "phase_intervals": runs.intervals(
        ("import", 0, 2), ("fit.steps", 2, 8), ("script", 8, 11)
    )}  # fmt: skip

    assert (
        "Line 31 runs about 30 times in each step"
        in pick(diagnosed(tmp_path / "r", OWN, **tables), "python-overhead").claim
    )


def test_a_line_of_a_layer_runs_as_often_as_there_are_layers(tmp_path: Path) -> None:
    """False before: the `forward` of 24 equal blocks. One that runs oftener than any layers can is named."""
    called: list[Call] = [("_call_impl", "torch/nn/modules/module.py", 1), ("bound", "train.py", 31)]
    rows = [{**KERNELS[0], "layer": f"block.{number}", "ms": 0.3} for number in range(24)]
    tables = looping(*called, ("linear", "torch/nn/modules/linear.py", 9)) | runs.window(rows)
    deep, often = ({**tables, "lines": [line(31, 300 * count)]} for count in (24, 60))

    assert all("times in each step" not in one.claim for one in diagnosed(tmp_path / "a", OWN, **deep).findings)
    assert pick(diagnosed(tmp_path / "b", OWN, **often), "python-overhead").line == 31


@pytest.mark.parametrize(("started", "at_stake", "goes_back"), [(60, 3_250, True), (20, 2_000, False)])
def test_gradients_go_back_through_what_such_a_line_started(
    started: int, at_stake: int, goes_back: bool, tmp_path: Path
) -> None:
    """A penalty over all weights: three of four operators of the way back are of no layer; that is half of the steps.

    A line that runs 50 times in a step in which 20 operators of no layer start does not start them.
    """
    back: list[Call] = [("<module>", "train.py", 60), ("_engine_run_backward", "torch/autograd/graph.py", 7)]
    mine: list[Call] = [("<module>", "train.py", 50), ("bound", "train.py", 31)]
    row = {"op": "aten::mul", "category": "elementwise", "layer": None, "direction": "backward", "ms": 0.01}
    forward = {**row, "direction": "forward"}
    window = runs.window([*[forward] * started, *[row] * 90, *[{**row, "layer": "dense"}] * 30])
    stood = sampled(
        (2, 3 if goes_back else 4, mine), (3 if goes_back else 4, 6, back), (6, 8, [("<module>", "train.py", 55)])
    )
    tables = {**looping(), **window, **stood, "lines": [line(31, 300 * 50)]}

    finding = pick(diagnosed(tmp_path / "r", OWN, **tables), "python-overhead")

    assert ("starts something small each time, and again on the way back:" in finding.claim) is goes_back
    assert finding.at_stake_ns == pytest.approx(at_stake * MS, rel=0.01)
    assert finding.line == 31


@pytest.mark.parametrize(("hits", "is_told"), [(100 * 50, True), (100 * 5, False)])
def test_lines_of_an_evaluation_of_the_script_s_own_that_run_for_each_element_are_named(
    hits: int, is_told: bool, tmp_path: Path
) -> None:
    """2 s of 100 steps stand below them; silence before, for only steps of training were looked at."""
    span = {**runs.span("evaluate", 4, 8, span_id=5), "detail": json.dumps({"how": "inferred"})}
    tested = runs.steps(100, start_s=4, dur_ms=40, loop="test", loop_id=5)
    tables = quiet(
        phases=parts(fit_steps=2, evaluate=4, teardown=2),
        phase_intervals=runs.intervals(("import", 0, 2), ("fit.steps", 2, 4), ("evaluate", 4, 8), ("teardown", 8, 10)),
        steps=[*runs.steps(100), *tested],
        spans=[span],
        lines=[line(31, hits)],
        **sampled((4, 6, [("<module>", "train.py", 50), ("bound", "train.py", 31)]), (6, 8, LOOP)),
    )
    found = diagnosed(tmp_path / "r", OWN, **tables).findings

    told = [one for one in found if one.heading == "A line ran very many times in each step"]
    assert [(one.line, one.at_stake_ns) for one in told] == ([(31, 2 * S)] if is_told else [])
    assert all("runs 50 times in each step of the script's own evaluation" in one.claim for one in told)
