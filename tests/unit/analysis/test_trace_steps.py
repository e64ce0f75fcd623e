"""Steps and epochs of foreign traces."""

from __future__ import annotations

from pathlib import Path

from dlprof.analysis import trace_steps
from dlprof.analysis.trace_steps import Structure, TraceStep
from tests.unit.foreign import Event, foreign, kernel, marked
from tests.unit.runs import MS


def found(path: Path, *events: Event, source: str = "kineto") -> Structure:
    """What is found; there is something."""
    structure = trace_steps.find(foreign(path, *events, source=source))
    assert structure is not None
    return structure


def times(steps: tuple[TraceStep, ...]) -> list[tuple[int, float, float]]:
    """Number, begin and end (ms)."""
    return [(step.number, step.begin / MS, step.end / MS) for step in steps]


def test_numbered_steps_keep_their_numbers_whatever_their_order_in_the_file(tmp_path: Path) -> None:
    """In order of time."""
    structure = found(tmp_path / "r", marked("ProfilerStep#6", 10, 8), marked("ProfilerStep#5", 0, 10))

    assert times(structure.steps) == [(5, 0, 10), (6, 10, 18)]
    assert structure.how == "ranges that number the steps"


def test_steps_whose_purpose_no_work_tells_are_of_no_known_loop(tmp_path: Path) -> None:
    """A forward pass may be of training or not."""
    structure = found(tmp_path / "r", marked("step 1", 0, 10), kernel("gemm", 1, 2, direction="forward"))

    assert [step.loop for step in structure.steps] == ["unknown"]


def test_steps_with_a_backward_pass_train(tmp_path: Path) -> None:
    """Also those of them in which none was seen."""
    structure = found(
        tmp_path / "r", marked("step 1", 0, 10), marked("step 2", 10, 10), kernel("gemm", 1, 2, direction="backward")
    )

    assert [step.loop for step in structure.steps] == ["train", "train"]


def test_a_backward_pass_outside_of_the_steps_does_not_make_them_train(tmp_path: Path) -> None:
    """It is of something else."""
    structure = found(tmp_path / "r", marked("step 1", 0, 10), kernel("gemm", 12, 2, direction="backward"))

    assert [step.loop for step in structure.steps] == ["unknown"]


def test_overlapping_steps_are_cut_and_counted(tmp_path: Path) -> None:
    """Each ends where the next begins; of those that begin together the later one is left."""
    structure = found(
        tmp_path / "r",
        marked("step 1", 0, 12),
        marked("step 2", 10, 10),
        marked("step 3", 30, 9),
        marked("step 4", 30, 5),
    )

    assert times(structure.steps) == [(1, 0, 10), (2, 10, 20), (4, 30, 35)]
    assert structure.overlapping == 2


def test_steps_without_duration_are_counted_apart(tmp_path: Path) -> None:
    """They are no steps."""
    structure = found(tmp_path / "r", marked("step 1", 0, 10), marked("step 2", 10, 0))

    assert times(structure.steps) == [(1, 0, 10)]
    assert structure.empty == 1


def test_only_steps_without_duration_are_no_steps(tmp_path: Path) -> None:
    """The trace names none then."""
    assert trace_steps.find(foreign(tmp_path / "r", marked("step 1", 0, 0), kernel("k", 0, 5))) is None


def test_a_range_without_a_number_is_a_step_only_where_it_repeats(tmp_path: Path) -> None:
    """One `iteration` may be anything."""
    assert trace_steps.find(foreign(tmp_path / "one", marked("iteration", 0, 10))) is None
    assert times(found(tmp_path / "two", marked("iteration", 0, 10), marked("iteration", 12, 9)).steps) == [
        (0, 0, 10),
        (1, 12, 21),
    ]


def test_without_ranges_steps_end_with_the_update_of_the_optimiser(tmp_path: Path) -> None:
    """When the first began is not known, so it is none."""
    updates = [marked("Optimizer.step#SGD.step", at, 2) for at in (8, 18, 28)]
    structure = found(tmp_path / "r", *updates, kernel("k", 0, 40))

    assert times(structure.steps) == [(0, 10, 20), (1, 20, 30)]
    assert structure.steps[0].loop == "train"


def test_the_outermost_of_ranges_inside_one_another_are_the_steps(tmp_path: Path) -> None:
    """Micro-batches are inside of steps."""
    structure = found(
        tmp_path / "r",
        marked("train_step 1", 0, 10),
        marked("batch 0", 0, 4),
        marked("batch 1", 5, 4),
        marked("train_step 2", 10, 10),
    )

    assert times(structure.steps) == [(1, 0, 10), (2, 10, 20)]


def test_steps_of_another_loop_beside_them_are_steps_too(tmp_path: Path) -> None:
    """Training and evaluation take turns."""
    structure = found(
        tmp_path / "r", marked("train_step 1", 0, 10), marked("train_step 2", 10, 10), marked("eval_step 1", 20, 5)
    )

    assert [(step.loop, step.number) for step in structure.steps] == [("train", 1), ("train", 2), ("test", 1)]


def test_the_process_of_lowest_rank_has_the_steps(tmp_path: Path) -> None:
    """The others have their own."""
    structure = found(
        tmp_path / "r",
        marked("step 1", 0, 30, rank=3, window=0),
        marked("step 1", 5, 10, rank=1, window=1),
    )

    assert (structure.place.rank, structure.place.window) == (1, 1)
    assert times(structure.steps) == [(1, 5, 15)]


def test_a_wait_for_data_at_the_begin_of_a_step_is_its_wait(tmp_path: Path) -> None:
    """One in the middle has no such figure; a step without any waited for nothing."""
    structure = found(
        tmp_path / "r",
        marked("step 1", 0, 10),
        Event("input", "next", 0.1, 4),
        marked("step 2", 10, 10),
        Event("input", "next", 15, 4),
        marked("step 3", 20, 10),
    )

    assert [step.input_ns for step in structure.steps] == [round(4.1 * MS), None, 0]


def test_where_waits_lie_between_steps_that_of_a_step_is_not_known(tmp_path: Path) -> None:
    """It was 0. A wait ahead of all steps, as of a data set that is loaded, says nothing of them."""
    steps = marked("step 1", 10, 10), marked("step 2", 30, 10)

    between = found(tmp_path / "a", *steps, Event("input", "next", 21, 8)).steps
    ahead = found(tmp_path / "b", *steps, Event("input", "next", 1, 8)).steps

    assert [step.input_ns for step in between] == [None, None]
    assert [step.input_ns for step in ahead] == [None, None]


def test_where_no_wait_for_data_is_seen_nothing_is_said_of_it(tmp_path: Path) -> None:
    """The trace may not show it."""
    assert [step.input_ns for step in found(tmp_path / "r", marked("step 1", 0, 10)).steps] == [None]


def test_epochs_are_those_of_the_same_process(tmp_path: Path) -> None:
    """With their numbers."""
    structure = found(
        tmp_path / "r",
        marked("epoch 1", 0, 20),
        marked("step 1", 0, 10),
        marked("step 2", 10, 10),
        marked("epoch 2", 20, 15),
    )

    assert times(structure.epochs) == [(1, 0, 20), (2, 20, 35)]


def test_a_file_of_one_call_is_one_step(tmp_path: Path) -> None:
    """As those of TensorFlow 1 are."""
    structure = found(tmp_path / "r", kernel("k", 2, 5), kernel("k", 9, 1), source="tf1-timeline")

    assert times(structure.steps) == [(0, 2, 10)]
    assert structure.how == "one call of session.run"


def test_executions_of_the_program_with_most_time_are_the_steps_of_a_device(tmp_path: Path) -> None:
    """Each device shows them; those of one are taken."""
    runs = [
        marked(name, at + device, dur, device=device, lane="XLA Modules")
        for device in (0, 1)
        for name, at, dur in (("jit_init(7)", 0, 3), ("jit_f(8)", 5, 4), ("jit_f(8)", 10, 4), ("jit_init(7)", 15, 3))
    ]
    structure = found(tmp_path / "r", *runs)

    assert times(structure.steps) == [(0, 5, 9), (1, 10, 14)]
    assert structure.how == "executions of the compiled program that took most of the time"


def test_a_line_of_steps_counts_before_that_of_programs(tmp_path: Path) -> None:
    """With the numbers that stand there."""
    structure = found(
        tmp_path / "r",
        *(marked("jit_f(8)", at, 4, device=0, lane="XLA Modules") for at in (0, 10)),
        *(marked(str(number), number, 10, device=0, lane="Steps") for number in (100, 110)),
    )

    assert times(structure.steps) == [(100, 100, 110), (110, 110, 120)]


def test_a_trace_that_names_no_steps_has_none(tmp_path: Path) -> None:
    """They are not guessed from kernels that repeat."""
    assert trace_steps.find(foreign(tmp_path / "r", *(kernel("k", at, 1) for at in range(9)))) is None


def test_steps_of_a_thread_are_those_in_all_its_files(tmp_path: Path) -> None:
    """A profiler with a schedule writes a file for each cycle; the next cycle is not another process."""
    structure = found(
        tmp_path / "r",
        marked("ProfilerStep#2", 0, 4, window=0, lane="thread 41 (python)"),
        marked("ProfilerStep#6", 50, 5, window=1, lane="thread 41 (python)"),
    )

    assert times(structure.steps) == [(2, 0, 4), (6, 50, 55)]


def test_steps_of_another_thread_in_another_file_are_of_another_process(tmp_path: Path) -> None:
    """They are not told, though they lie apart in time."""
    structure = found(
        tmp_path / "r",
        marked("ProfilerStep#2", 0, 4, window=0, lane="thread 41 (python)"),
        marked("ProfilerStep#6", 50, 5, window=1, lane="thread 42 (python)"),
    )

    assert times(structure.steps) == [(2, 0, 4)]


def test_waits_of_all_files_of_a_thread_are_waits_of_its_steps(tmp_path: Path) -> None:
    """A step of a later file waited, too: that nobody looked there is no zero."""
    structure = found(
        tmp_path / "r",
        marked("ProfilerStep#2", 0, 4, window=0),
        Event("input", "enumerate(DataLoader)#_It.__next__", 0, 1, window=0),
        marked("ProfilerStep#6", 50, 5, window=1),
        Event("input", "enumerate(DataLoader)#_It.__next__", 50, 2, window=1),
    )

    assert [step.input_ns for step in structure.steps] == [MS, 2 * MS]
