"""Evaluations and predictions of Keras that wait for their batches."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dlprof.analysis.findings.diagnose import diagnose
from dlprof.analysis.findings.finding import Finding
from tests.unit import runs
from tests.unit.analysis.findings.cases import Call, on, parts, quiet, sampled
from tests.unit.runs import S

ADAPTER: Call = ("_finite_generator", "keras/src/trainers/data_adapters/py_dataset_adapter.py", 264)
CALLS: list[Call] = [("<module>", "train.py", 9), ("predict", "keras/src/backend/jax/trainer.py", 723)]


def predicted(
    folder: Path,
    *,
    waits: float,
    adapter: str | None = "PyDatasetAdapter",
    users: bool = True,
    inside: bool = False,
    kind: str = "predict",
) -> list[Finding]:
    """What is said of 8 s, 4 of them in predict or evaluate, of which it waits for such a share for batches."""
    begin = 4.0
    steps = [
        {**row, "loop": kind, "loop_id": 9, "input_ns": 0 if inside else int(waits * 40e6)}
        for row in runs.steps(100, start_s=begin, dur_ms=40 * (1 - waits))
    ]
    making: list[Call] = [*CALLS, ADAPTER, *([("__getitem__", "data.py", 21)] if users else [])]
    detail = json.dumps({"adapter": adapter, "batches": 100} if adapter else {"batches": 100})
    row = {"file": "data.py", "function": "f", "first_line": 1, "line": 21, "hits": 9, "time_ns": S}
    stood = sampled(
        (begin, begin + 4 * waits, making), (begin + 4 * waits, 8, [*CALLS, ("step", "jax/_src/pjit.py", 3)])
    )
    tables = quiet(
        phases=parts(import_=2, script=2, **{kind: 4}, teardown=2),
        phase_intervals=runs.intervals(("import", 0, 2), ("script", 2, 4), (kind, 4, 8), ("teardown", 8, 10)),
        spans=[runs.span(kind, begin, 8, span_id=9, line=9, name=kind, detail=detail)],
        steps=steps,
        lines=[row, {**row, "file": "train.py", "line": 9}],
        **stood,
    )
    run = runs.trained(folder / "r", on("jax", input_inside_step=inside), **tables)
    return [one for one in diagnose(run).findings if one.slug == "input-bound"]


@pytest.mark.parametrize("inside", [False, True], ids=["between the steps", "in the step"])
@pytest.mark.parametrize("kind", ["predict", "evaluate"])
def test_batches_of_a_slow_data_set_are_waited_for(kind: str, inside: bool, tmp_path: Path) -> None:
    """Three quarters of 4 s, at the line of the data set; told by a clock, or by the stacks."""
    (finding,) = predicted(tmp_path, waits=0.75, kind=kind, inside=inside)

    assert finding.claim.startswith(f"{kind} waits for its batches, 75 % of its time: 3.00 s")
    assert (finding.file, finding.line) == ("data.py", 21)
    assert finding.fix == "super().__init__(workers=N, use_multiprocessing=True) in the data set"


@pytest.mark.parametrize(
    ("waits", "adapter", "users"),
    [(0.1, "PyDatasetAdapter", True), (0.75, "ArrayDataAdapter", False), (0.75, None, False)],
    ids=["hardly", "whole arrays", "of nobody knows what"],
)
def test_what_batches_cost_anyway_is_no_wait(waits: float, adapter: str | None, users: bool, tmp_path: Path) -> None:
    """Cutting them out of arrays is Keras' own."""
    assert predicted(tmp_path, waits=waits, adapter=adapter, users=users) == []


def test_a_data_set_without_code_of_the_scripts_is_told_at_the_call(tmp_path: Path) -> None:
    """Files that the engine itself decodes."""
    (finding,) = predicted(tmp_path, waits=0.75, adapter="TFDatasetAdapter", users=False)

    assert (finding.file, finding.line) == ("train.py", 9)
    assert "num_parallel_calls=tf.data.AUTOTUNE" in str(finding.fix)
