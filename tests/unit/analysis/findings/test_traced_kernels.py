"""What the kernel windows tell the rules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.traced_kernels import TracedKernels
from tests.unit import runs
from tests.unit.analysis.findings.cases import GPU, KERNELS, on, quiet

CALLING = {"op": "EagerPyFunc", "category": "other", "direction": "forward"}
"""An operator of TensorFlow that calls Python."""


def kernels(path: Path, *rows: dict[str, Any]) -> TracedKernels:
    """Those of a window with these kernels in each step."""
    return Case(runs.trained(path / "r", on("tensorflow"), **quiet(**runs.window(list(rows))))).kernels


def test_a_gpu_is_seen_by_its_kernels(tmp_path: Path) -> None:
    """Not by its name in the manifest."""
    assert kernels(tmp_path / "gpu", *GPU).has_gpu
    assert not kernels(tmp_path / "cpu", *KERNELS).has_gpu


def test_without_a_window_nothing_is_known(tmp_path: Path) -> None:
    """No split, no operators, no GPU."""
    none = Case(runs.trained(tmp_path / "r")).kernels

    assert (none.split, none.operators.rows, none.has_gpu, none.window_steps) == (None, (), False, 0)


def test_operators_that_call_python_are_known_by_name(tmp_path: Path) -> None:
    """One of two, in each of ten steps."""
    rows = kernels(tmp_path, *KERNELS, {**CALLING, "layer": "dense", "ms": 2}).calling_python

    assert [(row.op, row.count) for row in rows] == [("EagerPyFunc", 10)]


def test_python_is_called_for_layers_or_for_the_input(tmp_path: Path) -> None:
    """By where operators spend most of that time."""
    layer, feed = {**CALLING, "layer": "dense"}, {**CALLING, "layer": "input"}

    assert kernels(tmp_path / "a", {**layer, "ms": 3}, {**feed, "ms": 2}).call_python_for_layers
    assert not kernels(tmp_path / "b", {**layer, "ms": 2}, {**feed, "ms": 3}).call_python_for_layers


def test_lines_have_the_time_of_the_kernels_that_they_made(tmp_path: Path) -> None:
    """Ten steps; what has no line is none's."""
    one = {"op": "dot_general", "category": "matmul", "file": "train.py", "line": 5, "ms": 2}
    rows = (one, {**one, "op": "add", "ms": 1}, {**one, "line": 9, "ms": 4}, {"op": "copy", "ms": 8})
    found = kernels(tmp_path, *rows)

    assert dict(found.by_line) == {("train.py", 9): 40_000_000, ("train.py", 5): 30_000_000}
    assert dict(found.line_times(lambda row: row["op"] == "add")) == {("train.py", 5): 10_000_000}
