"""Steps of training loops: their times, flags and counts, in bounded memory."""

from __future__ import annotations

import threading
from threading import get_ident
from typing import Any

import pytest
from dlprof_probes import wire as fmt
from dlprof_probes.inproc import loops
from dlprof_probes.inproc.kernels.windows import NoWindows

from tests.unit.inproc.conftest import Clock, Recorded

FIRST = fmt.STEP_FIRST | fmt.STEP_COMPILED
ROW = ("epoch", "step", "count", "begin", "end", "input", "callbacks", "offset", "call", "wait", "flags")


class Watched(NoWindows):
    """Notes which loops it is told of."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    def opened(self, loop: Any, kind: str, nested: bool) -> None:
        self.calls.append(("opened", kind, nested))

    def closed(self, loop: Any) -> None:
        self.calls.append(("closed",))


@pytest.fixture
def running(out: Recorded, now: Clock) -> loops.Loops:
    """The loops of a process."""
    return loops.Loops(out, NoWindows())


@pytest.fixture
def loop(running: loops.Loops, out: Recorded) -> Any:
    """A loop of fit, in its first epoch."""
    made = running.open(out.begin("fit", "fit"), "fit")
    made.start_epoch(0)
    return made


def steps(out: Recorded) -> list[dict[str, int]]:
    """The steps that were recorded, by name of the field."""
    return [dict(zip(ROW, row[2:])) for row in out.stream().steps]


def step(loop: Any, now: Clock, index: int, last: int | None = None, first: bool = False) -> None:
    """A step of 100 ns after a wait of 20: 10 in callbacks, then 60 in the call."""
    now.ns += 20
    loop.begin, loop.step_index = now.ns, index
    loop.callbacks = 10
    now.ns += 30
    loop.called(now.ns, now.ns + 60, first)
    now.ns += 70
    loop.finish((None, index if last is None else last), now.ns)


def test_a_step_has_its_times(loop: Any, now: Clock, out: Recorded) -> None:
    """Begin, end, the wait before it, its callbacks and its call."""
    step(loop, now, 0)

    assert steps(out) == [
        {
            "epoch": 0, "step": 0, "count": 1, "begin": 1020, "end": 1120, "input": 20, "callbacks": 10, "offset": 30,
            "call": 60, "wait": 0, "flags": fmt.STEP_HAS_INPUT | fmt.STEP_HAS_CALL,
        }
    ]  # fmt: skip


def test_the_wait_is_counted_from_the_end_of_the_step_before(loop: Any, now: Clock, out: Recorded) -> None:
    """Whatever happens in between."""
    step(loop, now, 0)
    now.ns += 1000
    step(loop, now, 1)

    assert [row["input"] for row in steps(out)] == [20, 1020]


def test_the_first_call_of_a_step_function_is_a_compilation(loop: Any, now: Clock, out: Recorded) -> None:
    """And the next step is none."""
    step(loop, now, 0, first=True)
    step(loop, now, 1)

    assert [row["flags"] & FIRST for row in steps(out)] == [FIRST, 0]


def test_a_step_in_which_a_graph_was_compiled_is_marked(loop: Any, now: Clock, out: Recorded) -> None:
    """It is no steady one."""
    step(loop, now, 0)
    loop.compiles[0] += 1
    step(loop, now, 1)
    step(loop, now, 2)

    assert [row["flags"] & FIRST for row in steps(out)] == [0, fmt.STEP_COMPILED, 0]


def test_several_steps_in_one_execution_are_counted(loop: Any, now: Clock, out: Recorded) -> None:
    """Keras names the last batch of the execution."""
    step(loop, now, 0, last=3)
    step(loop, now, 4, last=5)

    assert [(row["step"], row["count"]) for row in steps(out)] == [(0, 4), (4, 2)]


@pytest.mark.parametrize("args", [(None,), (None, None), (None, -5)])
def test_a_batch_number_that_makes_no_sense_is_one_step(loop: Any, out: Recorded, args: tuple[Any, ...]) -> None:
    """A subclass of the user's may call with anything."""
    loop.begin = 1010
    loop.finish(args, 1020)

    assert [(row["step"], row["count"]) for row in steps(out)] == [(0, 1)]


def test_a_call_without_batch_hooks_is_a_step(loop: Any, out: Recorded) -> None:
    """Evaluation before Keras 2.3 has no others."""
    loop.called(1100, 1150, first=True)
    loop.called(1200, 1260, first=False)

    assert [(r["step"], r["begin"], r["end"], r["call"]) for r in steps(out)] == [
        (0, 1100, 1150, 50),
        (1, 1200, 1260, 60),
    ]


def test_several_calls_in_a_step_add_up(loop: Any, out: Recorded) -> None:
    """From the first on."""
    loop.begin = 1000
    loop.called(1010, 1030, first=False)
    loop.called(1050, 1060, first=False)
    loop.finish((None, 0), 1100)

    assert [(row["offset"], row["call"]) for row in steps(out)] == [(10, 30)]


def test_a_wait_inside_the_call_is_told_before_the_step(loop: Any, out: Recorded) -> None:
    """On JAX the step function fetches the batch: the step begins that much later, the call is that much shorter."""
    loop.previous_end = 990
    loop.begin, loop.waited = 1000, 40
    loop.called(1010, 1110, first=False)
    loop.finish((None, 0), 1120)

    row = steps(out)[0]
    assert (row["begin"], row["end"], row["input"], row["offset"], row["call"]) == (1040, 1120, 50, 10, 60)


def test_the_first_batch_of_an_epoch_is_waited_for_from_its_beginning(loop: Any, now: Clock, out: Recorded) -> None:
    """What the callbacks of the epoch take is not its wait."""
    step(loop, now, 0)
    now.ns += 5000
    loop.start_epoch(1)
    step(loop, now, 0)

    assert [(row["epoch"], row["step"], row["input"]) for row in steps(out)] == [(0, 0, 20), (1, 0, 20)]


def test_very_long_runs_put_several_steps_into_one_record(
    loop: Any, running: loops.Loops, out: Recorded, now: Clock
) -> None:
    """Sums are kept, the last record comes when the loop ends."""
    out.merge = 4
    for batch in range(10):
        step(loop, now, batch)
    running.close(loop)

    assert [(r["step"], r["count"], r["input"], r["callbacks"], r["call"]) for r in steps(out)] == [
        (0, 4, 80, 40, 240),
        (4, 4, 80, 40, 240),
        (8, 2, 40, 20, 120),
    ]
    assert [(r["begin"], r["end"]) for r in steps(out)] == [(1020, 1480), (1500, 1960), (1980, 2200)]


def test_merged_steps_do_not_reach_into_the_next_epoch(loop: Any, out: Recorded, now: Clock) -> None:
    """A record belongs to one."""
    out.merge = 4
    for epoch in (0, 1):
        loop.start_epoch(epoch)
        for batch in range(3):
            step(loop, now, batch)
    loop.start_epoch(2)

    assert [(r["epoch"], r["step"], r["count"]) for r in steps(out)] == [(0, 0, 3), (1, 0, 3)]


def test_flags_of_merged_steps_are_those_of_any(loop: Any, out: Recorded, now: Clock) -> None:
    """One that compiled makes the record one of a compilation."""
    out.merge = 2
    step(loop, now, 0, first=True)
    step(loop, now, 1)

    assert [row["flags"] & FIRST for row in steps(out)] == [FIRST]


def test_a_loop_in_a_loop_is_the_current_one_until_it_ends(running: loops.Loops, out: Recorded) -> None:
    """Validation in fit."""
    ident = threading.get_ident()
    fit = running.open(out.begin("fit", "fit"), "fit")
    evaluate = running.open(out.begin("evaluate", "evaluate"), "evaluate")
    assert running.current[ident] is evaluate

    running.close(evaluate)
    assert running.current[ident] is fit

    running.close(fit)
    assert running.current[ident] is None


def test_closing_a_loop_closes_what_was_left_open_in_it(out: Recorded) -> None:
    """An exception passed through; the windows are told of both."""
    windows = Watched()
    running = loops.Loops(out, windows)
    fit = running.open(1, "fit")
    running.open(2, "evaluate")

    running.close(fit)

    assert running.current[threading.get_ident()] is None
    assert windows.calls == [("opened", "fit", False), ("opened", "evaluate", True), ("closed",), ("closed",)]


def test_closing_where_nothing_is_open_does_nothing(running: loops.Loops, loop: Any) -> None:
    """On another thread, say."""
    running.close(loop)
    running.close(loop)

    assert running.current[threading.get_ident()] is None


def test_single_batches_are_steps_of_a_loop_of_their_own(running: loops.Loops, out: Recorded, now: Clock) -> None:
    """One a name; what is between two calls is no wait of theirs."""
    for name in ("train_on_batch", "test_on_batch", "train_on_batch"):
        loop = running.enter_on_batch(name)
        now.ns += 10
        running.leave_on_batch(loop)
        now.ns += 1000

    assert out.names() == [("on_batch", "train_on_batch"), ("on_batch", "test_on_batch")]
    assert [(r["step"], r["begin"], r["end"], r["flags"]) for r in steps(out)] == [
        (0, 1000, 1010, 0),
        (0, 2010, 2020, 0),
        (1, 3020, 3030, 0),
    ]


def test_a_single_batch_inside_a_loop_is_none_of_its_own(running: loops.Loops, loop: Any) -> None:
    """`fit_generator` calls train_on_batch."""
    assert running.enter_on_batch("train_on_batch") is None


def test_a_single_batch_inside_another_span_is_none(running: loops.Loops, out: Recorded) -> None:
    """Loading of data may predict."""
    out.begin("data", "load")

    assert running.enter_on_batch("train_on_batch") is None


@pytest.mark.parametrize(
    ("name", "opened"), [("train_on_batch", ("opened", "fit", False)), ("tf.data", ("opened", "", True))]
)
def test_only_training_testing_and_predicting_get_windows(out: Recorded, name: str, opened: tuple[Any, ...]) -> None:
    """Fetching of batches gets none."""
    windows = Watched()

    loops.Loops(out, windows).enter_on_batch(name)

    assert windows.calls == [opened]


def test_what_loops_still_hold_is_written_at_the_end(running: loops.Loops, out: Recorded, now: Clock) -> None:
    """Of loops of single batches, which never close, and of one that runs."""
    out.merge = 4
    running.leave_on_batch(running.enter_on_batch("train_on_batch"))
    step(running.open(out.begin("fit", "fit"), "fit"), now, 0)
    assert steps(out) == []

    running.finish()

    assert [row["count"] for row in steps(out)] == [1, 1]


def test_a_watch_is_called_after_each_step(loop: Any, now: Clock) -> None:
    """With the number of steps and their flags."""
    calls: list[tuple[int, int]] = []
    loop.watch = lambda _loop, count, flags: calls.append((count, flags & FIRST))
    step(loop, now, 0, last=1, first=True)
    step(loop, now, 2)

    assert calls == [(2, FIRST), (1, 0)]


def test_the_loops_of_a_thread_end_with_it(running: loops.Loops, out: Recorded, now: Clock) -> None:
    """What they hold is written; one with the same number begins anew."""
    out.merge = 4
    single = running.enter_on_batch("train_on_batch")
    running.leave_on_batch(single)
    step(running.open(out.begin("fit", "fit"), "fit"), now, 0)

    running.thread_ended(get_ident())

    assert [row["count"] for row in steps(out)] == [1, 1]
    assert (running.depth(), running.current) == (0, {})
    out.thread_ended(get_ident())
    assert running.enter_on_batch("train_on_batch") is not single
