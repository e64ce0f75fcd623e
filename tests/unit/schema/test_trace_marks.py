"""What the names of ranges say of steps, epochs and data."""

from __future__ import annotations

import pytest

from dlprof.schema.trace_marks import MarkSort, of_name, of_ops


@pytest.mark.parametrize(
    ("name", "stem", "number", "loop"),
    [
        ("ProfilerStep#7", "profilerstep#", 7, None),
        ("iteration 12", "iteration ", 12, None),
        ("## train_step 5 ##", "train_step ", 5, "train"),
        ("Step[4]", "step[", 4, None),
        ("eval_step=9", "eval_step=", 9, "test"),
        ("batch 3", "batch ", 3, None),
        ("train 31", "train ", 31, "train"),
        ("predict_batch_0", "predict_batch_", 0, "predict"),
        ("Profiled batch 7", "profiled batch ", 7, None),
        ("step 3 (My round)", "my round", 3, None),
        ("step 3 (train round)", "train round", 3, "train"),
    ],
)
def test_a_range_may_number_a_step(name: str, stem: str, number: int, loop: str | None) -> None:
    """And its name may say what the step is for."""
    mark = of_name(name)

    assert mark is not None
    assert (mark.sort, mark.stem, mark.number, mark.loop) == (MarkSort.NUMBERED_STEP, stem, number, loop)


@pytest.mark.parametrize(
    ("name", "sort"),
    [
        ("_Minibatch Iteration", MarkSort.STEP),
        ("train_step", MarkSort.STEP),
        ("Epoch 3", MarkSort.EPOCH),
        ("Optimizer.step#SGD.step", MarkSort.OPTIMISER),
        ("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", MarkSort.INPUT),
        ("## data_load ##", MarkSort.INPUT),
        ("data", MarkSort.INPUT),
        ("dataloader wait", MarkSort.INPUT),
        ("data_wait", MarkSort.INPUT),
        ("DataLoader.__next__", MarkSort.INPUT),
        ("read_input", MarkSort.INPUT),
        ("[pl][profile][_TrainingEpochLoop].train_dataloader_next", MarkSort.INPUT),
        ("dataset.__next__", MarkSort.INPUT),
        ("load_data", MarkSort.INPUT),
        ("gloo:all_reduce", MarkSort.COLLECTIVE),
    ],
)
def test_other_ranges_mark_what_they_are_named_after(name: str, sort: MarkSort) -> None:
    """Frameworks and people name them so."""
    mark = of_name(name)

    assert mark is not None
    assert mark.sort is sort


@pytest.mark.parametrize(
    "name",
    [
        "aten::addmm",
        "optimizer_step",
        "scheduler step",
        "batch_norm",
        "data_transfer",
        "read_data_file",
        "wait",
        "dataset",
        "Conv2D_3",
        "step[DECODE bs=32]",
        "stepwise 3",
        "## backward ##",
        "nccl:all_reduce",
        "layer 4",
        "",
    ],
)
def test_a_name_that_says_nothing_of_steps_marks_nothing(name: str) -> None:
    """Steps are not guessed from what only sounds alike."""
    assert of_name(name) is None


def test_only_ranges_mark_steps() -> None:
    """A kernel or an operator of that name is work."""
    ops = [
        {"op_id": 0, "kind": "annotation", "name": "ProfilerStep#1"},
        {"op_id": 1, "kind": "operator", "name": "ProfilerStep#2"},
        {"op_id": 2, "kind": "kernel", "name": "step 3"},
        {"op_id": 3, "kind": "input", "name": "IteratorGetNext"},
    ]

    assert {number: mark.sort for number, mark in of_ops(ops).items()} == {
        0: MarkSort.NUMBERED_STEP,
        3: MarkSort.INPUT,
    }
