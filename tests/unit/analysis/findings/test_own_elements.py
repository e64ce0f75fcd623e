"""Elements of arrays of an engine, taken one by one."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.analysis.findings import diagnose, own_elements
from dlprof.analysis.findings.case import Case
from tests.unit import runs
from tests.unit.analysis.findings.cases import Call, diagnosed, keep_source, on, pick
from tests.unit.analysis.findings.test_own_loop_python import looping
from tests.unit.runs import S

_JAX = {**on("jax", asynchronous=True), "keras": None}


@pytest.mark.parametrize("function", ["ArrayImpl.__index__", "__index__", "ArrayImpl.__iter__.<locals>.<genexpr>"])
def test_elements_of_an_array_that_lists_are_indexed_with_are_told(function: str, tmp_path: Path) -> None:
    """3 of 6 s of steps below a line of the script's own; false before: the function called there was to be compiled."""
    calls: list[Call] = [(function, "jax/_src/array.py", 320), ("ArrayImpl._value", "jax/_src/array.py", 623)]
    finding = pick(diagnosed(tmp_path / "r", _JAX, **looping(*calls)), "python-overhead")

    assert (finding.heading, finding.line) == ("Elements of an array were taken one by one", 40)
    assert finding.at_stake_ns == pytest.approx(3 * S, rel=0.01)
    assert finding.fix == "indices = np.asarray(indices), once, before they are used one by one"


@pytest.mark.parametrize(
    ("call", "are_taken"),
    [
        (("ArrayImpl.__iter__", "jax/_src/array.py", 340), True),
        (("ArrayImpl.__float__", "jax/_src/array.py", 300), False),
        (("__iter__", "torchdata/nodes/base.py", 300), False),
        (("DataLoader.__iter__", "torch/utils/data/dataloader.py", 490), False),
        (("DatasetV2.__iter__", "tensorflow/python/data/ops/dataset_ops.py", 500), False),
        (("DataLoader.__iter__", "mxnet/gluon/data/dataloader.py", 650), False),
    ],
)
def test_a_value_once_a_step_other_libraries_and_loaders_take_no_elements(
    call: Call, are_taken: bool, tmp_path: Path
) -> None:
    """The loss, which is waited for; and iterators that are made."""
    case = Case(runs.held(tmp_path / "r", _JAX, **{**runs.training(), **looping(call)}))
    sample = next(one for one in case.code.samples if one.frames[0].function == call[0])

    assert own_elements.takes_elements(case, sample) == are_taken


@pytest.mark.parametrize(
    ("text", "is_told"), [("key, sub = split(key)", False), ("rows = [x[i] for i in order]", True)]
)
def test_an_array_that_is_unpacked_into_names_is_no_loop_over_elements(
    text: str, is_told: bool, tmp_path: Path
) -> None:
    """As keys of JAX are split: two elements, whose operations may be compiled with the step."""
    calls: list[Call] = [("ArrayImpl.__iter__.<locals>.<genexpr>", "jax/_src/array.py", 350)]
    run = runs.trained(tmp_path / "r", _JAX, **looping(*calls))
    keep_source(run, "\n" * 39 + f"    {text}\n")
    headings = {one.heading for one in diagnose.diagnose(run).findings}

    assert ("Elements of an array were taken one by one" in headings) == is_told
