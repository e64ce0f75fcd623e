"""Lines that run very many times in each step of the script's own loop."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.unit.analysis.findings.cases import Tables, diagnosed, pick
from tests.unit.analysis.findings.test_own_loop_python import OWN, looping
from tests.unit.runs import S


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
