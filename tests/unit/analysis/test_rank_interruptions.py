"""When dlprof held a rank up, on the clock that all ranks have in common."""

from __future__ import annotations

from pathlib import Path

from dlprof.analysis import clocks, rank_interruptions
from tests.unit import ranked_runs
from tests.unit.runs import MS, S


def test_windows_of_kernels_and_our_own_work_are_told_apart(tmp_path: Path) -> None:
    """Rank 1 has both, on a timeline that begins a second later; less than a millisecond is none, nor is the script's."""
    window = {"window": 0, "start_ns": S, "dur_ns": 200 * MS, "pid": 42}
    phases = [
        {"phase": "dlprof", "start_ns": 2 * S, "dur_ns": 30 * MS, "pid": 42},
        {"phase": "dlprof", "start_ns": 3 * S, "dur_ns": MS // 2, "pid": 42},
        {"phase": "script", "start_ns": 4 * S, "dur_ns": 30 * MS, "pid": 42},
    ]
    members = ranked_runs.make(
        tmp_path, {0: 5, 1: 5}, rank_1={"kernel_windows": [window], "phase_intervals": phases}
    ).members
    clock = clocks.of_ranks(members)

    found = rank_interruptions.of_ranks(members, clock)

    assert found.traced.times == ((2 * S, 2 * S + 200 * MS),)
    assert found.ours.times == ((3 * S, 3 * S + 30 * MS),)
