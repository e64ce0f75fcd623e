"""Whether a rank is given larger batches: by what was compiled, by rows, by what a step keeps."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis import rank_batches
from dlprof.analysis.rank_batches import Larger, LargerArgument
from dlprof.store.ranked import Member
from tests.unit import ranked_runs
from tests.unit.runs import S


def compiled(function: str, **arguments: str) -> dict[str, Any]:
    """A compilation that was called in line 9."""
    told = {"compiled": {"function": function, "again": False, "cause": [], "arguments": arguments}}
    return {"thread_id": 1, "span_id": 1, "kind": "graph_compile", "name": function, "start_ns": 0, "dur_ns": S,
            "ended": True, "file": "train.py", "line": 9, "detail": json.dumps(told)}  # fmt: skip


def found(folder: Path, *of_rank: list[dict[str, Any]]) -> LargerArgument | None:
    """What is larger in rank 1."""
    given: dict[str, Any] = {f"rank_{rank}": {"spans": spans} for rank, spans in enumerate(of_rank)}
    members = ranked_runs.make(folder, dict.fromkeys(range(len(of_rank)), 5.0), **given).members
    return rank_batches.larger_argument(members, 1)


def test_the_argument_that_is_larger_is_named(tmp_path: Path) -> None:
    """What all ranks have alike is passed over, and so are numbers."""
    same = {"params['w']": "float32[784,512]", "rate": "float32[]"}
    first = [compiled("gradient", **same, rows="float32[32,784]", labels="int32[32]")]
    second = [compiled("gradient", **same, rows="float32[256,784]", labels="int32[256]")]
    assert found(tmp_path, first, second, first) == LargerArgument("gradient", "rows", 256, 32, ("train.py", 9))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([compiled("f", x="float32[64,8]")], [compiled("f", x="float32[32,8]")]),  # smaller
        ([compiled("f", x="float32[32,8]")], [compiled("f", x="float32[64,9]")]),  # in two dimensions
        ([compiled("f", x="float32[32,8]")], [compiled("f", x="float32[64]")]),  # another kind of array
        ([compiled("f", x="float32[32,8]")], [compiled("g", x="float32[64,8]")]),  # another function
        ([compiled("f", x="float32[32,8]")], [compiled("f", x="float32[32,8]"), compiled("f", x="float32[64,8]")]),
        ([], [compiled("f", x="float32[64,8]")]),
    ],
)
def test_what_does_not_tell_is_passed_over(
    tmp_path: Path, first: list[dict[str, Any]], second: list[dict[str, Any]]
) -> None:
    """Also what a function was compiled for again later: the last batch may have another size."""
    assert found(tmp_path, first, second) is None


def trained(folder: Path, *of_rank: dict[str, Any]) -> Sequence[Member]:
    """Ranks whose own loops told that."""
    given: dict[str, Any] = {
        f"rank_{rank}": {
            "spans": [
                {"thread_id": 1, "span_id": 1, "kind": "fit", "name": "fit", "start_ns": 0, "dur_ns": S, "ended": True,
                 "file": "train.py", "line": 9, "detail": json.dumps(told)}
            ]
        }
        for rank, told in enumerate(of_rank)
    }  # fmt: skip
    return ranked_runs.make(folder, dict.fromkeys(range(len(of_rank)), 5.0), **given).members


def padded(length: float) -> dict[str, Any]:
    """Eight batches of rows so long."""
    return {"padding": {"batches": 8, "length": length, "in_all": 0.0, "of_rows": 0.1}}


def test_longer_rows_are_held_against_the_median_of_the_others(tmp_path: Path) -> None:
    """One of the others has very short ones."""
    members = trained(tmp_path, padded(50.0), padded(250.0), padded(10.0), padded(60.0))
    assert rank_batches.longer_rows(members, 1) == Larger(250.0, 50.0)


@pytest.mark.parametrize("other", [padded(60.0), padded(50.0), {}])
def test_rows_that_are_no_longer_or_of_unknown_length_tell_nothing(tmp_path: Path, other: dict[str, Any]) -> None:
    """Also rows of equal length."""
    assert rank_batches.longer_rows(trained(tmp_path, other, padded(50.0)), 1) is None


def test_what_a_step_keeps_is_summed_over_types(tmp_path: Path) -> None:
    """As with autocast, whose steps keep floats of two."""
    mixed = {"saved_floats": {"float32": 3_000_000, "bfloat16": 1_000_000}}
    assert rank_batches.more_kept(trained(tmp_path, {"saved_floats": {"float32": 2_000_000}}, mixed), 1) == Larger(
        4_000_000.0, 2_000_000.0
    )
