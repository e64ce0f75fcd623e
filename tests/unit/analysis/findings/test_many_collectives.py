"""Many small collectives that a script calls one by one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis import ranks
from dlprof.analysis.findings import of_ranks
from dlprof.analysis.findings.finding import Finding
from tests.unit import ranked_runs
from tests.unit.runs import S

LINES = [
    {
        "file": "train.py",
        "function": "f",
        "first_line": 1,
        "line": line,
        "hits": 9,
        "time_ns": S // line,
        "source": text,
    }
    for line, text in ((30, "dist.all_reduce(count)"), (7, "    dist.all_reduce(p.grad)"), (3, "loss.backward()"))
]


def _found(folder: Path, each: int, size: int, kind: str = "all_reduce") -> Finding:
    told = {"told": {"process": {"pid": 42, "exit_code": 0, "signal": None, "wall_ns": S}}, "lines": LINES}
    given: dict[str, Any] = {
        f"rank_{rank}": {**told, "collectives": ranked_runs.reductions(rank, each, size, kind)} for rank in (0, 1)
    }
    run = ranked_runs.make(folder, {0: 5, 1: 5}, **given)
    (finding,) = [one for one in of_ranks.look(run, ranks.of_run(run)).findings if one.slug == "collective-bound"]
    return finding


def test_what_is_reduced_for_each_parameter_is_to_be_joined(tmp_path: Path) -> None:
    """Twenty of 400 bytes in each step; of the lines that call it the one that took longest."""
    finding = _found(tmp_path / "r", 20, 400)

    assert finding.claim.startswith("A step calls all_reduce 20 times of 400 B on average. When all ranks")
    assert (finding.file, finding.line) == ("train.py", 7)
    assert finding.next_step.startswith("Join what is given away one by one")


@pytest.mark.parametrize(
    ("each", "size", "kind"), [(2, 400, "all_reduce"), (20, 2 << 20, "all_reduce"), (20, 400, "backward")]
)
def test_few_and_large_ones_and_those_of_the_engine_are_none(tmp_path: Path, each: int, size: int, kind: str) -> None:
    """Then it is not their number that takes the time, or not the script that calls them."""
    finding = _found(tmp_path / "r", each, size, kind)

    assert finding.claim.startswith("When all ranks have come")
    assert finding.line is None
