"""Steps that were waited for."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from dlprof.analysis import pace
from dlprof.analysis.pace import Pace
from dlprof.schema.tables import TABLES
from dlprof.schema.vocabulary import Loop
from tests.unit.runs import MS, span, table


def tables(**rows: list[dict[str, Any]]) -> dict[str, pa.Table]:
    """The tables that are looked at; those not given are empty."""
    return {name: table(name, rows[name]) if name in rows else TABLES[name].empty_table() for name in pace.TABLES}


def dispatched(count: int, *, at_ms: float, **changes: Any) -> list[dict[str, Any]]:
    """Training steps whose dispatch takes 1 ms each."""
    return [
        {
            "loop": "train", "loop_id": 1, "epoch": 0, "step": n, "count": 1, "start_ns": int((at_ms + n) * MS),
            "dur_ns": MS, "input_ns": 0, "compiled": False, "samples": 10, **changes,
        }
        for n in range(count)
    ]  # fmt: skip


def known(step: int, at_ms: float, *, epoch: int = 0, loop_id: int = 1) -> dict[str, Any]:
    """Values of a step, and when they were known."""
    return {"loop_id": loop_id, "epoch": epoch, "step": step, "name": "loss", "value": 1.0, "time_ns": int(at_ms * MS)}


def test_an_epoch_lasts_until_its_last_values_are_known() -> None:
    """Ten steps, dispatched in 10 ms, were done after 100 ms; whatever comes then is not theirs."""
    found = pace.of_training(tables(steps=dispatched(10, at_ms=50), metrics=[known(9, 150)]))

    assert found == Pace(100 * MS, 10, 100)


def test_the_wait_for_the_first_batch_counts() -> None:
    """It is part of the first step, as of all others."""
    rows = dispatched(10, at_ms=50)
    rows[0]["input_ns"] = 5 * MS

    assert pace.of_training(tables(steps=rows, metrics=[known(9, 150)])) == Pace(105 * MS, 10, 100)


def test_behind_what_compiled_steps_begin_when_its_values_are_known() -> None:
    """The first step compiled and was done at 120 ms, nine others at 210 ms."""
    rows = dispatched(10, at_ms=50)
    rows[0]["compiled"] = True

    found = pace.of_training(tables(steps=rows, metrics=[known(0, 120), known(9, 210)]))

    assert found == Pace(90 * MS, 9, 90)


def test_whole_epochs_are_preferred() -> None:
    """The epoch that compiled is left out where there is another."""
    rows = [*dispatched(10, at_ms=50), *dispatched(10, at_ms=300, epoch=1)]
    rows[0]["compiled"] = True

    found = pace.of_training(tables(steps=rows, metrics=[known(0, 120), known(9, 290), known(9, 400, epoch=1)]))

    assert found == Pace(100 * MS, 10, 100)


def test_behind_a_window_steps_begin_when_the_tracer_is_off() -> None:
    """Steps 2 and 3 were traced and done at 70 ms; the tracer was off at 200 ms, the others done at 260 ms."""
    rows = [*dispatched(4, at_ms=50), *dispatched(6, at_ms=196)[4:]]
    windows = [{"window": 0, "loop": "train", "start_ns": 52 * MS, "dur_ns": 20 * MS, "steps": 2}]
    values = [known(1, 58), known(3, 70), known(5, 260)]

    found = pace.of_training(tables(steps=rows, metrics=values, kernel_windows=windows))

    assert found == Pace((8 + 60) * MS, 4, 40)


def test_steps_after_the_last_known_values_do_not_count() -> None:
    """Values of step 4 were known at 100 ms; of those behind it nothing is."""
    found = pace.of_training(tables(steps=dispatched(10, at_ms=50), metrics=[known(4, 100)]))

    assert found == Pace(50 * MS, 5, 50)


def test_without_values_of_steps_the_epochs_count() -> None:
    """Their time in phases of steps: 300 ms of 400."""
    epochs = [{"loop_id": 1, "epoch": 0, "start_ns": 40 * MS, "dur_ns": 400 * MS, "steps": 10}]
    parts = [("fit.steps", 40, 100), ("fit.wait", 140, 200), ("fit.validation", 340, 100)]
    intervals = [{"phase": name, "start_ns": at * MS, "dur_ns": ms * MS} for name, at, ms in parts]

    found = pace.of_training(tables(steps=dispatched(10, at_ms=50), epochs=epochs, phase_intervals=intervals))

    assert found == Pace(300 * MS, 10, 100)


def test_a_loop_that_nobody_waited_for_has_no_pace() -> None:
    """Not that of its dispatch."""
    assert pace.of_training(tables(steps=dispatched(10, at_ms=50))) is None


def test_an_unknown_number_of_samples_gives_no_rate() -> None:
    """Not 0."""
    found = pace.of_training(tables(steps=dispatched(10, at_ms=50, samples=None), metrics=[known(9, 150)]))

    assert (found and found.samples, found and found.samples_per_s) == (None, None)


def calls(*bounds: tuple[int, float, float]) -> pa.Table:
    """Table `spans` with calls: (span, begin, end) in ms."""
    return table("spans", [span("evaluate", a / 1000, b / 1000, span_id=number) for number, a, b in bounds])


def test_a_call_of_evaluate_ends_when_its_steps_are_done() -> None:
    """Five steps, dispatched from 50 ms on, done at 100 ms."""
    rows = dispatched(5, at_ms=50, loop="test", loop_id=2, epoch=None)

    assert pace.of_calls(tables(steps=rows), Loop.TEST, calls((2, 40, 100))) == Pace(50 * MS, 5, 50)


def test_validation_begins_when_training_is_done() -> None:
    """The device was still training until 80 ms."""
    rows = dispatched(5, at_ms=50, loop="test", loop_id=2, epoch=None)

    found = pace.of_calls(tables(steps=rows, metrics=[known(9, 80)]), Loop.TEST, calls((2, 40, 100)))

    assert found == Pace(20 * MS, 5, 50)


def test_a_call_that_compiled_counts_from_then_on() -> None:
    """The first step compiled until 51 ms, and ran behind that with the other four."""
    rows = dispatched(5, at_ms=50, loop="test", loop_id=2, epoch=None)
    rows[0]["compiled"] = True

    assert pace.of_calls(tables(steps=rows), Loop.TEST, calls((2, 40, 101))) == Pace(50 * MS, 5, 50)


def test_steps_of_a_window_took_its_time() -> None:
    """20 ms of two steps; the device was idle before and after."""
    windows = [{"window": 0, "loop": "train", "start_ns": 52 * MS, "dur_ns": 20 * MS, "steps": 2}]
    rows = dispatched(4, at_ms=50)

    assert pace.of_window(tables(steps=rows, kernel_windows=windows), Loop.TRAIN) == Pace(20 * MS, 2, 20)


def test_steps_that_compiled_are_no_pace_of_a_window() -> None:
    """Of ten steps in 200 ms two compiled for 60 ms each, which their calls waited for."""
    rows = dispatched(10, at_ms=100)
    for row in rows[:2]:
        row |= {"dur_ns": 60 * MS, "compiled": True}
    windows = [{"window": 0, "loop": "train", "start_ns": 100 * MS, "dur_ns": 200 * MS, "steps": 10}]

    assert pace.of_window(tables(steps=rows, kernel_windows=windows), Loop.TRAIN) == Pace(80 * MS, 8, 80)


def test_a_window_in_which_all_steps_compiled_tells_no_pace() -> None:
    """Nothing is left."""
    rows = dispatched(2, at_ms=100, compiled=True)
    windows = [{"window": 0, "loop": "train", "start_ns": 100 * MS, "dur_ns": 200 * MS, "steps": 2}]

    assert pace.of_window(tables(steps=rows, kernel_windows=windows), Loop.TRAIN) is None
