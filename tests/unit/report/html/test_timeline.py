"""The timeline of a page."""

from __future__ import annotations

from pathlib import Path

from dlprof.report.html import run_page
from tests.unit.report.html.pages import column, page_of, unpacked
from tests.unit.runs import MS, S, trained, window


def test_the_timeline_has_every_event(tmp_path: Path) -> None:
    """Ten steps of one kernel of 15 ms, at their times."""
    kernels = window([{"op": "matmul", "category": "matmul", "layer": "dense", "direction": "forward", "ms": 15}])
    content, columns = unpacked(page_of(trained(tmp_path / "r", **kernels)))
    line = content["timelines"][0]
    (track,) = [one for one in line["tracks"] if one["group"] == "host"]

    assert line["tick_ns"] == 1
    assert column(content, columns, track["start"]) == [3 * S + n * 20 * MS for n in range(10)]
    assert column(content, columns, track["dur"]) == [15 * MS] * 10
    assert track["label"] == "host operators: t"
    assert {line["names"]["text"][int(n)] for n in column(content, columns, track["name"])} == {"matmul"}


def test_a_run_of_nothing_but_stacks_has_a_timeline(tmp_path: Path) -> None:
    """Such as one of py-spy's own files; it has a flame graph for each thread, too."""
    frames = [{"stack_id": 1, "depth": 0, "function": "f", "file": "a.py", "line": 1}]
    stacks = [{"thread_id": 1, "thread": "worker", "start_ns": 0, "dur_ns": S, "stack_id": 1}]
    run = trained(
        tmp_path / "r", frames=frames, stacks=stacks, phases=[], phase_intervals=[], steps=[], spans=[], metrics=[]
    )
    content, _ = unpacked(run_page.make(run, None, "there are no phases."))
    assert [track["label"] for track in content["timelines"][0]["tracks"]] == ["worker (sampled)"]
    assert [flame["phase"] for flame in content["flames"]] == ["worker"]
