"""The timeline of a page."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dlprof.analysis.timeline.slices import MISSING
from dlprof.report.html import run_page, timeline
from tests.unit.report.html.pages import column, page_of, unpacked
from tests.unit.runs import MS, S, make, manifest, trained, window


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


def test_an_event_of_a_gpu_keeps_when_it_was_launched(tmp_path: Path) -> None:
    """Nanoseconds since then, and one; 0: that is not known."""
    kernels = window([{"op": "gemm", "category": "matmul", "kind": "kernel", "device": 0, "ms": 5}], count=2)
    kernels["kernel_events"][0]["delay_ns"] = 3 * MS
    content, columns = unpacked(page_of(trained(tmp_path / "r", **kernels)))
    (track,) = [one for one in content["timelines"][0]["tracks"] if one["group"] == "gpu"]
    assert column(content, columns, track["launch"]) == [3 * MS + 1, 0]


def test_launches_agree_with_begins_where_both_are_rounded() -> None:
    """A launch at 1,199 ns is in tick 11, a kernel at 1,301 ns in tick 13: two ticks later, and one."""
    start, delay = np.array([1301, 1301]), np.array([102, MISSING])
    assert timeline._since_launch(start, delay, 100).tolist() == [3, 0]


def test_gpus_stand_first_in_a_trace_of_theirs(tmp_path: Path) -> None:
    """In a run of our own the program does."""
    kernels = window([
        {"op": "gemm", "category": "matmul", "ms": 5},
        {"op": "sgemm", "category": "matmul", "kind": "kernel", "device": 0, "ms": 5},
    ])  # fmt: skip
    own = trained(tmp_path / "own", **kernels)
    told = manifest(state="imported", process={"pid": None, "exit_code": None, "signal": None, "wall_ns": 10 * S})
    theirs = make(tmp_path / "theirs", told, **kernels)
    places = [
        list(dict.fromkeys(one["place"] for one in unpacked(text)[0]["timelines"][0]["tracks"]))
        for text in (page_of(own), run_page.make(theirs, None, "it is imported"))
    ]
    assert places == [["program", "GPU 0", "host operators"], ["GPU 0", "host operators"]]
