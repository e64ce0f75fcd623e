"""Where ranks stand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dlprof.analysis import rank_stands, ranks
from dlprof.analysis.rank_stands import Hung
from tests.unit import ranked_runs
from tests.unit.runs import S, trained

STAND = {0: ("train.py", 40, "main"), 1: ("torch/autograd/graph.py", 7, "_engine_run_backward")}


def stacks(inner: tuple[str, int, str], begin_s: float, dur_s: float) -> dict[str, Any]:
    """A main thread that stands in `main` of train.py and in what that calls."""
    file, line, function = inner
    frames = [{"stack_id": 1, "depth": 0, "function": "<module>", "file": "train.py", "line": 90},
              {"stack_id": 1, "depth": 1, "function": "main", "file": "train.py", "line": 40}]  # fmt: skip
    if file != "train.py":
        frames.append({"stack_id": 1, "depth": 2, "function": function, "file": file, "line": line})
    stood = {
        "thread_id": 1,
        "thread": "MainThread",
        "start_ns": int(begin_s * S),
        "dur_ns": int(dur_s * S),
        "stack_id": 1,
    }
    return {"stacks": [stood], "frames": frames}


def hung(folder: Path, *, both: bool = False) -> Hung | None:
    """Rank 1 stands in its own line for the last seconds, rank 0 in its backward; or both in backwards."""
    inner = {0: STAND[1], 1: STAND[1 if both else 0]}
    changes: dict[str, Any] = {f"rank_{rank}": stacks(one, 3 - rank, 7) for rank, one in inner.items()}
    summary = ranks.of_run(found := ranked_runs.make(folder, {0: 5, 1: 5}, **changes))
    return rank_stands.hung(found.members, summary.clock, summary.progress, summary.median_ns or 0)


def test_the_innermost_line_of_the_users_own_is_told(tmp_path: Path) -> None:
    """And whether it stood in what ranks do together."""
    run = trained(tmp_path / "r", **stacks(STAND[1], 3, 4))
    found = rank_stands.of_run(run, [(2 * S, 5 * S)])
    assert found is not None
    assert (found.function, found.file, found.line, found.ns, found.place) == ("main", "train.py", 40, 2 * S, "main()")
    assert found.is_with_others
    assert rank_stands.of_run(run, [(8 * S, 9 * S)]) is None


def test_the_rank_that_stands_elsewhere_than_all_others_hung(tmp_path: Path) -> None:
    """Since its last step."""
    found = hung(tmp_path)
    assert found is not None
    assert (found.rank, found.stand.line, found.others and found.others.line) == (1, 40, 40)
    assert found.since_ns == 10 * S - int(2.8 * S)


def test_ranks_that_all_stand_in_the_same_are_none(tmp_path: Path) -> None:
    """Nothing tells which of them the others wait for."""
    assert hung(tmp_path, both=True) is None
