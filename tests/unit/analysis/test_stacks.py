"""Which stacks stood longest."""

from __future__ import annotations

from dlprof.analysis import stacks
from tests.unit.runs import table


def test_a_stack_is_shared_out_over_the_phases_it_stood_in() -> None:
    """60 ms in one, 40 ms in the next."""
    stood = table("stacks", [{"thread_id": 1, "thread": "MainThread", "start_ns": 0, "dur_ns": 100, "stack_id": 0}])
    frames = table("frames", [{"stack_id": 0, "depth": 0, "function": "f", "file": "a.py", "line": 1}])
    cuts = table(
        "phase_intervals",
        [{"phase": "import", "start_ns": 0, "dur_ns": 60}, {"phase": "script", "start_ns": 60, "dur_ns": 500}],
    )

    found = stacks.hottest(stood, frames, cuts, per_phase=1)

    assert [(stack.phase, stack.dur_ns) for stack in found] == [("import", 60), ("script", 40)]
