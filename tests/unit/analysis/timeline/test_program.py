"""What the program did, as slices."""

from __future__ import annotations

from typing import Any

from dlprof.analysis.timeline import program
from dlprof.analysis.timeline.slices import MISSING, Slices
from tests.unit.analysis.rows import in_memory, step, window
from tests.unit.runs import table


def told(slices: Slices) -> list[tuple[str, int, int]]:
    """Name, start and duration of each."""
    times = zip(slices.what.tolist(), slices.start_ns.tolist(), slices.dur_ns.tolist(), strict=True)
    return [(slices.whats[what].name, start, dur) for what, start, dur in times]


def test_parts_of_fit_lie_within_one_slice_of_fit() -> None:
    """As far as they follow each other."""
    names = ("import", "fit.build", "fit.steps", "script", "fit.steps")
    rows = [{"phase": name, "start_ns": 10 * at, "dur_ns": 10} for at, name in enumerate(names)]

    found = told(program.phases(in_memory(phase_intervals=table("phase_intervals", rows))))

    assert found[:2] == [("fit", 10, 20), ("fit", 40, 10)]
    assert found[2:] == [(name, 10 * at, 10) for at, name in enumerate(names)]


def test_epochs_count_from_one() -> None:
    """For people."""
    rows = [{"loop_id": 1, "epoch": 0, "start_ns": 5, "dur_ns": 9, "steps": 3}]

    assert told(program.epochs(in_memory(epochs=table("epochs", rows)))) == [("epoch 1", 5, 9)]


def test_a_step_has_its_call_inside_and_its_input_before() -> None:
    """It waits 5; its call begins after 10 of 100 and takes 80."""
    run = in_memory(steps=table("steps", [step(0, 100, 100)]))

    assert sorted(told(program.steps(run)), key=lambda row: row[1:]) == [
        ("input", 95, 5),
        ("before the call", 100, 10),
        ("train step", 100, 100),
        ("call", 110, 80),
        ("after the call", 190, 10),
    ]


def test_a_step_tells_epoch_and_place_as_people_count() -> None:
    """From one; the tables count from zero."""
    slices = program.steps(in_memory(steps=table("steps", [step(0, 100, 100), step(1, 300, 100, epoch=None)])))

    assert [slices.own[name].tolist()[:2] for name in ("epoch", "step_of_epoch")] == [[1, MISSING], [1, 2]]


def test_parts_of_several_steps_have_no_place() -> None:
    """A row of merged steps has sums only; the next step's number counts all of them."""
    run = in_memory(steps=table("steps", [step(0, 100, 100, count=4), step(4, 300, 100, call_ns=None)]))

    slices = program.steps(run)

    assert [name for name, _, _ in told(slices)] == ["train step", "train step", "input"]
    assert slices.own["step"].tolist()[:2] == [0, 4]


def test_windows_and_collections_are_named() -> None:
    """By their numbers."""
    run = in_memory(
        kernel_windows=table("kernel_windows", [window(10, 30, 2)]),
        gc=table("gc", [{"start_ns": 3, "dur_ns": 4, "generation": 2, "collected": 7}]),
    )

    assert told(program.windows(run)) == [("window 0", 10, 20)]
    assert told(program.collections(run)) == [("generation 2", 3, 4)]


def call(number: int, thread: str, thread_id: int, kind: str, name: str) -> dict[str, Any]:
    """A row of spans of 5 ns."""
    return {"span_id": number, "thread": thread, "thread_id": thread_id, "kind": kind, "name": name, "start_ns": number,
            "dur_ns": 5, "ended": number > 0}  # fmt: skip


def test_calls_stand_by_thread() -> None:
    """Threads of one name are told apart by their number; a call that never ended says so."""
    rows = [call(0, "main", 1, "fit", "fit"), call(1, "w", 2, "import", "numpy"), call(2, "w", 3, "data", "load")]

    found = dict(program.calls(in_memory(spans=table("spans", rows))))

    assert {thread: told(slices) for thread, slices in found.items()} == {
        "main": [("fit", 0, 5)],
        "w (2)": [("import numpy", 1, 5)],
        "w (3)": [("data load", 2, 5)],
    }
    assert found["main"].whats[0].facts["ended"] == "no: it is drawn up to the end of the run"


def test_a_frame_is_one_slice_for_as_long_as_it_stands() -> None:
    """`main` stands in two samples that follow each other, and anew after a pause."""
    frames = [
        {"stack_id": stack, "depth": depth, "function": function, "file": "a.py", "line": depth + 1}
        for stack, functions in ((0, ("main", "f")), (1, ("main", "g")))
        for depth, function in enumerate(functions)
    ]
    stood = [
        {"thread_id": 1, "thread": "t", "start_ns": start, "dur_ns": 10, "stack_id": stack}
        for start, stack in ((0, 0), (10, 1), (50, 1))
    ]
    run = in_memory(stacks=table("stacks", stood), frames=table("frames", frames))

    ((thread, slices),) = program.samples(run)

    assert thread == "t"
    assert sorted(told(slices)) == [("f", 0, 10), ("g", 10, 10), ("g", 50, 10), ("main", 0, 20), ("main", 50, 10)]
