"""Foreign traces of Python functions."""

from __future__ import annotations

import json

from dlprof.report import imported_functions
from dlprof.report.model import KernelSums, LayerKernels, Report, Source
from dlprof.schema.vocabulary import RunState
from tests.unit.report.reports import report


def _report(source: str, *ops: tuple[str, int], facts: str = "{}") -> Report:
    rows = tuple(LayerKernels(None, None, name, "other", "operator", "cpu", 1, ns, 0.1) for name, ns in ops)
    sums = KernelSums(rows, sum(ns for _, ns in ops), 0, 0, (), ())
    return report(state=RunState.IMPORTED, kernels=sums, sources=(Source("f", source, 1, 0, facts),))


def test_names_with_a_place_behind_are_those_of_functions() -> None:
    """As VizTracer has them; most of the time decides."""
    functions = [("step (/a/train.py:12)", 60), ("time.time", 40)]

    assert imported_functions.noun(_report("chrome", *functions), "operator") == "Python function"
    assert imported_functions.noun(_report("chrome", ("conv (a.py:1)", 40), ("gemm", 60)), "operator") == "operator"
    assert imported_functions.noun(_report("kineto", *functions), "operator") == "operator"
    assert imported_functions.noun(_report("chrome", *functions), "kernel") == "kernel"


def test_sums_of_cprofile_are_those_of_functions() -> None:
    """Whatever their names are; those of `-X importtime` are imports."""
    assert imported_functions.noun(_report("importtime", ("numpy", 1)), "operator") == "import"
    assert imported_functions.noun(_report("cprofile", ("{built-in method time.sleep}", 1)), "operator") == (
        "Python function"
    )


def test_functions_with_their_callees_are_told_the_longest_first() -> None:
    """Of all files."""
    told = {"own_with_callees": [{"function": "a", "total_ns": 1}, {"function": "b", "total_ns": 2}]}

    assert imported_functions.with_callees(_report("cprofile", facts=json.dumps(told))) == [("b", 2), ("a", 1)]
