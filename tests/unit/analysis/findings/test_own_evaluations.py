"""What evaluations of the script's own loops stand in besides the model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit import runs
from tests.unit.analysis.findings.cases import (
    BEGIN,
    Call,
    Tables,
    cpu,
    diagnosed,
    parts,
    pick,
    quiet,
    sampled,
    slugs,
)
from tests.unit.runs import S

OWN = runs.manifest(keras=None, engine={"name": "torch", "version": "2.13"})
LINE: list[Call] = [("<module>", "train.py", 50), ("evaluate", "train.py", 40)]
MODEL: list[Call] = [
    ("<module>", "train.py", 50),
    ("evaluate", "train.py", 39),
    ("forward", "torch/nn/modules/linear.py", 9),
]
IN_LIBRARY: list[Call] = [*LINE, ("sub", "<python>/re/__init__.py", 185)]
IN_DATA_SET: list[Call] = [*LINE, ("__next__", "torch/utils/data/dataloader.py", 7), ("__getitem__", "train.py", 12)]
IN_FILE: list[Call] = [*LINE, ("savetxt", "numpy/lib/npyio.py", 1400)]
IN_PROCESS: list[Call] = [*LINE, ("communicate", "<python>/subprocess.py", 1207)]


def evaluating(*calls: Call, until_s: float = 7.5, how: str = "inferred", source: str = "") -> Tables:
    """4 s of steps and 2 of validation, of which 1.5 stand in these frames and the rest in the model."""
    loop = {**runs.fit_span(), "detail": json.dumps({"how": how}), "file": "train.py", "line": 48}
    tested = {
        **runs.span("evaluate", 6, 8, span_id=5),
        "detail": json.dumps({"how": how}),
        "file": "train.py",
        "line": 38,
    }
    tested = {**tested, "name": "evaluate"}
    steps = [*runs.steps(200), *(_tested(row) for row in runs.steps(20, start_s=6))]
    line = {"file": "train.py", "function": "evaluate", "first_line": 36, "line": 40, "hits": 20, "time_ns": 0}
    return quiet(
        phases=parts(fit_steps=4, fit_validation=2, teardown=2),
        phase_intervals=runs.intervals(
            ("import", 0, 2), ("fit.steps", 2, 6), ("fit.validation", 6, 8), ("teardown", 8, 10)
        ),
        steps=steps,
        spans=[loop, tested],
        lines=[{**line, "source": source}, *({**line, "line": number, "source": ""} for number in (12, 39, 50))],
        **sampled((2, 6, MODEL[:1]), (6, until_s, list(calls)), (until_s, 8, MODEL)),
    )


def _tested(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "loop": "test", "loop_id": 5}


@pytest.mark.parametrize(
    ("calls", "slug", "line", "heading"),
    [
        (IN_LIBRARY, "python-overhead", 40, "Python of the script's own evaluation took long"),
        (IN_DATA_SET, "input-bound", 12, "The script's own evaluation waited for its input"),
        (IN_FILE, "io-bound", 40, "The script's own evaluation worked on files"),
        (IN_PROCESS, "script-waits", 40, "The script's own evaluation stood waiting"),
    ],
)
def test_what_an_evaluation_stands_in_is_told_in_place_of_its_length(
    calls: list[Call], slug: str, line: int, heading: str, tmp_path: Path
) -> None:
    """Before, all of them were a validation that took long, with Keras' arguments as advice."""
    diagnosis = diagnosed(tmp_path / "r", OWN, **evaluating(*calls))
    finding = pick(diagnosis, slug)

    assert (finding.heading, finding.line) == (heading, line)
    assert finding.at_stake_ns == pytest.approx(1.5 * S, rel=0.01)
    assert "validation-heavy" not in slugs(diagnosis)


def test_what_the_pipeline_of_an_evaluation_makes_and_drops_is_to_be_dropped_before(tmp_path: Path) -> None:
    """A window of 10 steps of the training reached into it: 2 batches of 40 elements, of which 10 went on."""
    row = {"window": 0, "pipeline": 0, "starting_ns": 0, "total_ns": S, "asynchronous": False, "file": "train.py"}
    stages = [
        {**row, "stage": 0, "name": "Root", "element_count": 2, "own_ns": 0, "file": None},
        {**row, "stage": 1, "parent": 0, "name": "FiniteSkip", "element_count": 10, "own_ns": 0, "line": 34},
        {**row, "stage": 2, "parent": 1, "name": "Map", "element_count": 40, "own_ns": S, "line": 33},
        {**row, "stage": 3, "parent": 2, "name": "TensorSlice", "element_count": 40, "own_ns": 0, "line": 32},
    ]
    of_training = [
        {**one, "pipeline": 1, "element_count": 10} for one in (stages[0], {**stages[3], "stage": 1, "parent": 0})
    ]
    window = {"window": 0, "engine": "tensorflow", "loop": "train", "steps": 10, "start_ns": 3 * S, "dur_ns": S}
    tables = evaluating(*IN_DATA_SET) | {"input_stages": [*stages, *of_training], "kernel_windows": [window]}

    finding = pick(diagnosed(tmp_path / "r", OWN, **tables), "input-bound")

    assert (finding.heading, finding.line) == ("The script's own evaluation waited for its input", 34)
    assert "FiniteSkip at line 34 drops 75 % of what it makes at the beginning of each pass" in finding.next_step
    assert finding.fix == "line 34 in front of the map at line 33"


def test_an_evaluation_that_runs_its_model_is_one_that_takes_long(tmp_path: Path) -> None:
    """With the line of its loop, and no advice for Keras."""
    finding = pick(diagnosed(tmp_path / "r", OWN, **evaluating(*MODEL)), "validation-heavy")

    assert finding.line == 38
    assert finding.next_step == "Validate on fewer samples, with larger batches, or every few epochs."


def test_a_call_of_c_is_a_wait_where_the_thread_stands_in_it(tmp_path: Path) -> None:
    """`time.sleep` leaves no frame, and neither does an operator: that has a core."""
    still = {**BEGIN, "run_ns": 6 * S, "main_run_ns": int(4.5 * S)}  # a thread of the engine's burns the core meanwhile
    works = {**BEGIN, "run_ns": 6 * S, "main_run_ns": 6 * S}
    at = {**BEGIN, "run_ns": 4 * S, "main_run_ns": 4 * S}
    tables = evaluating(*LINE)

    stands = diagnosed(tmp_path / "a", OWN, **tables | cpu((2, BEGIN), (6, at), (8, still)))
    computes = diagnosed(tmp_path / "b", OWN, **tables | cpu((2, BEGIN), (6, at), (8, works)))

    assert pick(stands, "script-waits").line == 40
    assert "script-waits" not in slugs(computes)


def test_evaluations_of_keras_are_left_to_the_rules_for_these(tmp_path: Path) -> None:
    """Its phases are the same, and its frames are around all of the script's."""
    found = diagnosed(tmp_path / "r", **evaluating(*IN_LIBRARY, how="keras"))

    assert not [one.heading for one in found.findings if "own evaluation" in (one.heading or "")]


def test_a_small_part_of_an_evaluation_is_not_told(tmp_path: Path) -> None:
    """0.3 s of 2."""
    found = diagnosed(tmp_path / "r", OWN, **evaluating(*IN_LIBRARY, until_s=6.3))

    assert "python-overhead" not in slugs(found)
    assert pick(found, "validation-heavy").at_stake_ns == 2 * S
