"""Waits for what no traced step computes."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.analysis.findings import unseen_work
from dlprof.analysis.findings.case import Case
from tests.unit import runs
from tests.unit.analysis.findings.cases import FIT, diagnosed, on, quiet, sampled, slugs
from tests.unit.runs import S

WAITS = sampled((2, 6.5, [("<module>", "train.py", 9), ("_value", "jax/_src/array.py", 5)]), (6.5, 8, FIT))


@pytest.mark.parametrize(("ms", "asynchronous", "waited_s"), [(4, True, 3.3), (16, True, 0.0), (4, False, 0.0)])
def test_what_is_waited_for_beyond_the_kernels_is_told(
    ms: float, asynchronous: bool, waited_s: float, tmp_path: Path
) -> None:
    """4.5 s of waits in 6 s of steps of 20 ms, of which kernels take so many; where Python waits for each, none."""
    tables = quiet(**WAITS, **runs.window([{"op": "dot", "category": "matmul", "ms": ms}]))
    case = Case(runs.trained(tmp_path / "r", on("jax", asynchronous=asynchronous), **tables))

    assert unseen_work.waited_ns(case) == pytest.approx(waited_s * S, abs=0.05 * S)


def test_waits_for_other_work_are_no_start_of_steps(tmp_path: Path) -> None:
    """Told before as steps that are too small."""
    tables = quiet(**runs.window([{"op": "dot", "category": "matmul", "ms": 0.5}]))
    calm = diagnosed(tmp_path / "a", on("jax", asynchronous=True), **{**tables, **sampled((2, 8, FIT))})
    waits = diagnosed(tmp_path / "b", on("jax", asynchronous=True), **{**tables, **WAITS})

    assert "dispatch-bound" in slugs(calm)
    assert "dispatch-bound" not in slugs(waits)
