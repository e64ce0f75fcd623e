"""Which steps of foreign traces train."""

from __future__ import annotations

from pathlib import Path

from dlprof.analysis import trace_steps
from tests.unit.foreign import Event, foreign, kernel, marked


def loops(path: Path, *events: Event) -> list[str]:
    """What each step is for."""
    found = trace_steps.find(foreign(path, *events))
    assert found is not None
    return [step.loop for step in found.steps]


def operator(at: float, direction: str, lane: str = "main") -> Event:
    """An operator of the host."""
    return Event("operator", "aten::mm", at, 1, direction=direction, lane=lane)


STEPS = (marked("ProfilerStep#1", 0, 10), marked("ProfilerStep#2", 10, 10), marked("ProfilerStep#3", 20, 10))


def test_steps_whose_thread_works_without_a_backward_pass_do_not_train(tmp_path: Path) -> None:
    """Those of an evaluation, among the steps of one profiler; the last shows no work."""
    events = (operator(1, "forward"), operator(3, "backward"), operator(11, "forward"))

    assert loops(tmp_path / "r", *STEPS, *events) == ["train", "unknown", "train"]


def test_a_backward_pass_on_another_thread_trains_too(tmp_path: Path) -> None:
    """Autograd has threads of its own for devices; the optimiser shows that the thread of the steps waits for them."""
    events = (operator(1, "forward"), operator(3, "backward", "autograd"), operator(5, "update"))
    accumulating = (operator(11, "forward"), operator(13, "backward", "autograd"))

    assert loops(tmp_path / "r", *STEPS, *events, *accumulating, operator(21, "forward")) == [
        "train", "train", "unknown",
    ]  # fmt: skip


def test_where_only_other_threads_or_a_device_train_steps_are_not_told_apart(tmp_path: Path) -> None:
    """They may do it after the step that asked for it."""
    pool = (operator(1, "forward"), operator(11, "backward", "pool"), operator(21, "forward"))
    device = (operator(1, "forward"), kernel("gemm", 11, 2, direction="backward"), operator(21, "forward"))

    assert loops(tmp_path / "pool", *STEPS, *pool) == ["train", "train", "train"]
    assert loops(tmp_path / "device", *STEPS, *device) == ["train", "train", "train"]
