"""The processes of runs of foreign traces."""

from __future__ import annotations

from pathlib import Path

from dlprof.analysis import trace_processes
from tests.unit.foreign import Event, foreign
from tests.unit.runs import MS


def test_files_of_several_ranks_are_processes_with_the_names_of_their_ranks(tmp_path: Path) -> None:
    """With the numbers of the processes, where traces tell these."""
    run = foreign(
        tmp_path / "r",
        Event("operator", "aten::mm", 0, 5),
        Event("operator", "aten::mm", 0, 7, rank=1, window=1),
    )

    told = [(one.name, one.operators_ns, one.span_ns) for one in trace_processes.of_run(run)]

    assert told == [("rank 1, process 42", 7 * MS, 7 * MS), ("rank 0, process 42", 5 * MS, 5 * MS)]


def test_several_files_of_one_rank_are_one_process(tmp_path: Path) -> None:
    """A profiler writes one for each of its cycles."""
    run = foreign(
        tmp_path / "r",
        Event("operator", "aten::mm", 0, 5),
        Event("operator", "aten::mm", 50, 7, window=1),
    )

    assert trace_processes.of_run(run) == []
