"""Sampled stacks: the phase they stood in, and whose code ran."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis import samples
from dlprof.analysis.phase_lookup import PhaseLookup
from dlprof.analysis.samples import Sample
from dlprof.analysis.stacks import Frame
from dlprof.schema.tree_paths import Tree
from dlprof.store.run import Run
from tests.unit.analysis.rows import in_memory
from tests.unit.runs import span, table, trained

KERAS, USER = "keras/src/trainers/trainer.py", "train.py"


def sampled(
    *outer_first: tuple[str, str], thread: str = "MainThread", before: str = "import", later: str = "fit.steps"
) -> Run:
    """A run of 100 ns of a phase and 100 ns of a later one; the stack (function, file) stands from 50 to 150."""
    frames = [
        {"stack_id": 0, "depth": depth, "function": function, "file": file, "line": 1}
        for depth, (function, file) in enumerate(outer_first)
    ]
    return in_memory(
        stacks=table("stacks", [{"thread_id": 1, "thread": thread, "start_ns": 50, "dur_ns": 100, "stack_id": 0}]),
        frames=table("frames", frames),
        phase_intervals=table(
            "phase_intervals",
            [
                {"phase": before, "start_ns": 0, "dur_ns": 100},
                {"phase": later, "start_ns": 100, "dur_ns": 100},
            ],
        ),
    )


def of(run: Run) -> list[Sample]:
    """Its samples."""
    return samples.of_run(run, PhaseLookup(run.table("phase_intervals")))


def sample(*outer_first: str, main: bool = True, functions: tuple[str, ...] = ()) -> Sample:
    """A sample in the steps, of calls in these files."""
    names = functions or tuple("f" for _ in outer_first)
    frames = tuple(Frame(name, file, 1) for name, file in zip(names, outer_first, strict=True))
    return Sample(Tree.FIT_STEPS, main, 10, frames[::-1])


def test_a_stack_is_cut_where_the_phase_changes() -> None:
    """Half of it stood in the script."""
    found = of(sampled(("main", USER), before="script"))

    assert [(one.phase, one.dur_ns, one.main) for one in found] == [("script", 50, True), ("fit/steps", 50, True)]


def test_a_stack_of_an_import_does_not_stand_in_the_steps_after_it() -> None:
    """A quarter of the samples of short steps: an optimiser's module, on the stack until the next sample was taken."""
    found = of(sampled(("main", USER)))

    assert [(one.phase, one.dur_ns) for one in found] == [("import", 100)]


@pytest.mark.parametrize("later", ["evaluate", "fit.validation", "predict", "save", "teardown"])
def test_a_stack_does_not_stand_in_a_call_that_begins_after_it_was_seen(later: str) -> None:
    """False before: a backward pass that was sampled once a second was the hottest stack of an evaluation."""
    found = of(sampled(("main", USER), later=later))

    assert [(one.phase, one.dur_ns) for one in found] == [("import", 100)]


def test_another_thread_goes_on_beside_a_call() -> None:
    """A worker of a loader, while the main thread evaluates."""
    found = of(sampled(("main", USER), thread="worker", later="evaluate"))

    assert [(one.phase, one.dur_ns) for one in found] == [("import", 50), ("evaluate", 50)]


@pytest.mark.parametrize(
    ("file", "phase"),
    [
        ("keras/src/callbacks/callback_list.py", "fit/callbacks"),
        ("keras/callbacks.py", "fit/callbacks"),
        ("keras/src/trainers/epoch_iterator.py", "fit/input"),
        ("torch/utils/data/dataloader.py", "fit/input"),
        ("tensorflow/python/data/ops/iterator_ops.py", "fit/input"),
        ("keras/src/layers/core/dense.py", "fit/steps"),
    ],
)
def test_callbacks_and_input_between_steps_are_told_by_the_stack(file: str, phase: str) -> None:
    """As intervals of time they are not kept step by step."""
    assert of(sampled(("fit", KERAS), ("f", file), before="script"))[-1].phase == phase


@pytest.mark.parametrize(
    ("phase", "file", "told"),
    [
        ("fit.input", "keras/src/callbacks/callback_list.py", "fit/callbacks"),
        ("fit.callbacks", "keras/src/trainers/data_adapters/data_adapter_utils.py", "fit/input"),
        ("fit.wait", "keras/src/trainers/data_adapters/data_adapter_utils.py", "fit/input"),
        ("fit.wait", "keras/src/callbacks/callback_list.py", "fit/wait"),
        ("fit.input", "train.py", "fit/input"),
        ("construct", "keras/src/callbacks/callback_list.py", "construct"),
    ],
)
def test_a_sample_that_reaches_over_the_end_of_a_short_phase_has_that_of_its_stack(
    phase: str, file: str, told: str
) -> None:
    """The line that saves the model would make the next batch else."""
    assert of(sampled(("fit", KERAS), ("f", file), later=phase))[-1].phase == told


def test_other_threads_keep_the_phase_of_the_main_thread() -> None:
    """Whatever their own stack says."""
    found = of(sampled(("fetch", "torch/utils/data/dataloader.py"), thread="worker"))

    assert [(one.phase, one.main) for one in found] == [("import", False), ("fit/steps", False)]


def test_a_stack_without_frames_is_left_out() -> None:
    """Nothing is known of it."""
    assert of(sampled()) == []


def test_user_code_that_a_library_called_is_called_back() -> None:
    """Not the script that called the library, nor what stands outside of it."""
    users = {USER}

    assert samples.is_called_back(sample("runpy.py", USER, KERAS, USER), users)
    assert not samples.is_called_back(sample("runpy.py", USER, KERAS), users)
    assert not samples.is_called_back(sample("runpy.py", USER), users)
    assert samples.is_called_back(sample("threading.py", USER, main=False), users)
    assert not samples.is_called_back(sample("threading.py", main=False), users)


def test_operators_that_call_python_are_known_by_their_file() -> None:
    """As `tf.py_function`."""
    assert samples.is_operator(sample("tensorflow/python/ops/script_ops.py", USER))
    assert not samples.is_operator(sample(KERAS, USER))


def test_calls_for_a_batch_are_known_by_their_file() -> None:
    """Of Keras, or of the engine."""
    assert samples.is_of_input(sample("keras/src/trainers/data_adapters/py_dataset_adapter.py", USER))
    assert not samples.is_of_input(sample(KERAS, USER))


def test_the_share_of_waiting_is_that_of_stacks_that_wait() -> None:
    """One of two; what other threads do does not count."""
    waits = sample(USER, KERAS, functions=("main", "convert_to_numpy"))
    found = [waits, sample(USER, KERAS), sample(USER, "jax/array.py", main=False, functions=("main", "_value"))]

    assert samples.waiting_share(found, Tree.FIT_STEPS) == 0.5
    assert samples.waiting_share(found, Tree.FIT_CALLBACKS) is None


def test_a_wait_deep_below_other_calls_is_none() -> None:
    """What it has called since is what runs."""
    deep = sample(*(USER for _ in range(8)), functions=("asnumpy", *("f" for _ in range(7))))

    assert samples.waiting_share([deep], Tree.FIT_STEPS) == 0.0


def test_files_of_the_users_are_those_with_lines_or_calls() -> None:
    """What was never seen is not among them."""
    span: dict[str, Any] = {"span_id": 1, "kind": "fit", "name": "fit", "start_ns": 0, "dur_ns": 1, "ended": True}
    run = in_memory(
        lines=table("lines", [{"file": "net.py", "function": "f", "line": 1}]),
        spans=table("spans", [{**span, "file": USER}, {**span, "span_id": 2}]),
    )

    assert samples.user_files(run) == {"net.py", USER}


def test_known_lines_are_those_that_ran_or_were_seen(tmp_path: Path) -> None:
    """Of a run that says how; an older one, or a foreign trace, does not hold all."""
    row = {"file": "train.py", "function": "f", "first_line": 1, "time_ns": 1, "source": "x"}
    rows = [
        {**row, "line": 1, "hits": 0, "how": "counted"},
        {**row, "line": 2, "hits": 3, "how": "counted"},
        {**row, "line": 3, "hits": None, "how": "sampled", "samples": 1},
    ]
    old = [{**row, "line": 2, "hits": 3}]

    assert samples.known_lines(trained(tmp_path / "new", lines=rows)) == {("train.py", 2), ("train.py", 3)}
    assert samples.known_lines(trained(tmp_path / "old", lines=old)) is None


def test_files_that_an_engine_wrote_are_not_the_user_s(tmp_path: Path) -> None:
    """AutoGraph's call Keras, and are in no package."""
    spans = [
        span("construct", 1, 2, file="train.py"),
        span("construct", 1, 2, file="/tmp/__autograph_generated_filex.py"),
    ]

    assert samples.user_files(trained(tmp_path / "r", spans=spans)) == {"train.py"}
