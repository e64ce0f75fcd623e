"""Where the program asks for values of the device."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis import syncs
from dlprof.analysis.syncs import SyncPlace
from tests.unit import runs
from tests.unit.runs import MS, S


def place(line: int, calls: int, ms: int, begin_s: float, end_s: float) -> dict[str, Any]:
    """A row of `syncs`."""
    times = {"start_ns": round(begin_s * S), "end_ns": round(end_s * S), "dur_ns": ms * MS}
    return {"what": "item()", "file": "train.py", "line": line, "calls": calls, **times}


def test_places_come_with_their_share_and_calls_a_step(tmp_path: Path) -> None:
    """100 steps of 20 ms from 2 s on: one is called twice in each, one once at the 10 steps from 3 s on, one before."""
    rows = [place(5, 1, 1, 1.0, 1.5), place(7, 10, 50, 3.0, 3.2), place(9, 200, 2000, 2.0, 4.0)]
    run = runs.make(tmp_path / "r", runs.manifest(syncs_of=["torch"]), steps=runs.steps(100), syncs=rows)

    assert syncs.of_run(run) == (
        SyncPlace(what="item()", file="train.py", line=9, calls=200, ns=2 * S, share=0.2, calls_per_step=2.0),
        SyncPlace(what="item()", file="train.py", line=7, calls=10, ns=50 * MS, share=0.005, calls_per_step=1.0),
        SyncPlace(what="item()", file="train.py", line=5, calls=1, ns=MS, share=0.0001, calls_per_step=None),
    )


def test_a_run_that_asks_for_nothing_has_none(tmp_path: Path) -> None:
    """It was looked at: that is not null."""
    run = runs.make(tmp_path / "r", runs.manifest(syncs_of=["torch"]))

    assert (syncs.of_run(run), syncs.unknown(run)) == ((), None)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"state": "imported"}, "the run was imported"),
        ({"engine": None}, "no engine was seen whose values the program could ask for"),
        (
            {"engine": {"name": "theano", "version": "1.0"}},
            "calls that ask Theano for a value are not hooked",
        ),
        (
            {"engine": {"name": "tensorflow", "version": "1.15"}},
            "calls that ask TensorFlow 1 for a value are not hooked",
        ),
        ({"syncs_of": None}, "no probe was in the process that counts them"),
    ],
)
def test_where_calls_are_not_counted_the_reason_is_said(changes: dict[str, Any], why: str, tmp_path: Path) -> None:
    """And there is no list."""
    run = runs.make(tmp_path / "r", runs.manifest(**{"syncs_of": ["torch"], **changes}))

    assert (syncs.of_run(run), syncs.unknown(run)) == (None, why)
