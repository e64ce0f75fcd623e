"""Which frames of a stack ran while their lines were counted."""

from __future__ import annotations

from dlprof.ingest.own.counted_frames import CodeFrame, Counting, Registered
from dlprof.ingest.parse.sampled_stacks import Frame

MAIN = CodeFrame("train.py", "<module>", 1, 50, users=True)
LOAD = CodeFrame("train.py", "load", 5, 6, users=True)
FIT = CodeFrame("keras/src/backend/jax/trainer.py", "JAXTrainer.fit", None, 300, users=False)
INNER = CodeFrame("keras/src/trainers/epoch_iterator.py", "next", None, 9, users=False)
CALL = CodeFrame("keras/src/layers/layer.py", "Layer.__call__", None, 900, users=False)
CALLBACKS = CodeFrame("keras/src/callbacks/callback_list.py", "on_epoch_end", None, 9, users=False)
NUMPY = CodeFrame("numpy/lib/function_base.py", "vectorize.__call__", None, 9, users=False)
JAX = CodeFrame("jax/_src/api.py", "eval_shape", None, 9, users=False)
RAN = {("train.py", 1, "<module>"): Registered("train.py", "<module>", 1, frozenset({50}))}
LOAD_RAN = RAN | {("train.py", 5, "load"): Registered("train.py", "load", 5, frozenset({6}))}


def counted(counting: Counting, *stack: CodeFrame, main: bool = True, building: bool = False) -> list[bool]:
    """For the user's frames of a stack, whether they were counted."""
    answers = list(counting.of_stack(stack, main=main, building=building))
    return [answer for frame, answer in zip(stack, answers, strict=True) if frame.users]


def test_what_keras_calls_in_a_loop_is_not_counted_and_the_line_that_called_keras_is() -> None:
    """Before Python 3.12."""
    assert counted(Counting(LOAD_RAN), MAIN, FIT, INNER, LOAD) == [True, False]


def test_a_callback_in_a_loop_is_counted() -> None:
    """It gets the trace function back."""
    assert counted(Counting(LOAD_RAN), MAIN, FIT, CALLBACKS, LOAD) == [True, True]


def test_what_another_library_calls_is_counted() -> None:
    """The trace function stays while NumPy calls the user's function."""
    assert counted(Counting(LOAD_RAN), MAIN, NUMPY, LOAD) == [True, True]


def test_a_layer_that_is_called_with_data_is_counted_and_one_in_a_model_being_built_is_not() -> None:
    """Both look alike on the stack: the span of building tells."""
    assert counted(Counting(LOAD_RAN), MAIN, CALL, LOAD) == [True, True]
    assert counted(Counting(LOAD_RAN), MAIN, CALL, LOAD, building=True) == [True, False]
    assert counted(Counting(LOAD_RAN), MAIN, JAX, LOAD, building=True) == [True, False]


def test_on_another_thread_nothing_is_counted_before_python_3_12_and_all_after() -> None:
    """Where events are asked for by code, threads do not matter."""
    assert counted(Counting(LOAD_RAN), LOAD, main=False) == [False]
    assert counted(Counting(LOAD_RAN, on_threads=True), LOAD, main=False) == [True]
    assert counted(Counting(LOAD_RAN, on_threads=True), MAIN, FIT, LOAD) == [True, True]


def test_what_a_function_under_profile_calls_is_counted_anywhere() -> None:
    """It takes the trace function along."""
    profiled = {("train.py", 9, "work"): Registered("train.py", "work", 9, frozenset({10}), everywhere=True)}
    work = CodeFrame("train.py", "work", 9, 10, users=True)

    assert counted(Counting(LOAD_RAN | profiled), MAIN, FIT, work, LOAD) == [True, True, True]
    assert counted(Counting(LOAD_RAN | profiled), work, LOAD, main=False) == [True, True]


def test_a_function_without_any_count_was_not_counted() -> None:
    """Wherever it was seen: it is no code that counting knows, or counting had ended."""
    assert counted(Counting(RAN), MAIN, LOAD) == [True, False]
    assert counted(Counting(), MAIN, LOAD) == [False, False]


def test_a_line_is_known_by_its_function_and_number() -> None:
    """One that did not run has no count."""
    assert Counting(LOAD_RAN).has(LOAD)
    assert not Counting(LOAD_RAN).has(CodeFrame("train.py", "load", 5, 7, users=True))


def test_the_nearest_function_of_a_name_begins_last_above_the_line() -> None:
    """Where no source tells where functions begin and end."""
    later = {("train.py", 20, "load"): Registered("train.py", "B.load", 20, frozenset())}
    counting = Counting(LOAD_RAN | later)

    assert [counting.nearest(Frame("load", "train.py", line)) for line in (4, 9, 25)] == [
        None,
        LOAD_RAN["train.py", 5, "load"],
        later["train.py", 20, "load"],
    ]


def test_a_function_in_the_first_line_of_a_file_is_not_the_file_s_own_code() -> None:
    """Both begin there."""
    first = Registered("train.py", "first", 1, frozenset({2}))
    counting = Counting({one.place: one for one in (first, *RAN.values())})

    assert counting.has(CodeFrame("train.py", "first", 1, 2, users=True))
    assert counting.has(MAIN)
    assert not counting.has(CodeFrame("train.py", "first", 1, 50, users=True))
