"""Sampled stacks by thread."""

from __future__ import annotations

from dlprof.analysis.timeline.threads import threads
from tests.unit.analysis.rows import in_memory
from tests.unit.runs import table


def test_stacks_stand_by_thread_in_order_of_time() -> None:
    """Frames come innermost first; threads of one name have their number, too."""
    frames = [
        {"stack_id": 0, "depth": d, "function": f, "file": "a.py", "line": 1} for d, f in enumerate(("main", "f"))
    ]
    stood = [
        {"thread_id": number, "thread": name, "start_ns": start, "dur_ns": 5, "stack_id": stack}
        for number, name, start, stack in ((2, "w", 30, 0), (3, "w", 10, 9), (2, "w", 20, 0), (1, "main", 40, 0))
    ]

    found = threads(in_memory(stacks=table("stacks", stood), frames=table("frames", frames)))

    assert [(thread.title, thread.name, [row[0] for row in thread.rows]) for thread in found] == [
        ("w (3)", "w", [10]),
        ("w (2)", "w", [20, 30]),
        ("main", "main", [40]),
    ]
    assert [frame.function for frame in found[2].rows[0][2]] == ["f", "main"]
    assert found[0].rows[0][2] == ()
