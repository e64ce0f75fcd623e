"""Figures of the steps of a loop."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis import steps
from dlprof.store.run import Run
from tests.unit.runs import MS, make, manifest, span


def step(number: int, dur_ms: float, **changes: Any) -> dict[str, Any]:
    """A training step of 100 samples that waited 1 ms for its input."""
    return {
        "thread_id": 1, "loop": "train", "loop_id": 1, "epoch": 0, "step": number, "count": 1,
        "start_ns": 1000 * MS + number * 20 * MS, "dur_ns": int(dur_ms * MS), "input_ns": MS, "callbacks_ns": 0,
        "call_offset_ns": 0, "call_ns": int(dur_ms * MS), "compiled": False, "first": False, "samples": 100, **changes,
    }  # fmt: skip


def run_of(path: Path, rows: list[dict[str, Any]], told: dict[str, Any] | None = None, **tables: Any) -> Run:
    """A run with these steps."""
    return make(path / "r", told or manifest(), steps=rows, **tables)


def on_jax(**changes: Any) -> dict[str, Any]:
    """The manifest of a run whose steps return before they are done."""
    backend = {"name": "jax", "source": "managed", "asynchronous_dispatch": True, "input_inside_step": False}
    return manifest(**{"backend": backend, **changes})


def test_steady_figures_leave_out_steps_that_compiled(tmp_path: Path) -> None:
    """A step lasts from the end of the batch before it: 9 + 1 ms."""
    rows = [step(0, 99, compiled=True), step(1, 9), step(2, 9), step(3, 11)]
    found = steps.of_run(run_of(tmp_path, rows))[0]

    assert (found.count, found.first_ns, found.median_ns, found.compiled) == (4, 100 * MS, 10 * MS, 1)
    assert found.samples_per_s == pytest.approx(300 / 0.032)
    assert found.how == "measured"


def test_a_first_step_that_nobody_saw_begin_has_no_time(tmp_path: Path) -> None:
    """Of a loop of JAX the first call may only be known by its end."""
    first = {**step(0, 9), "dur_ns": 0, "input_ns": 0, "callbacks_ns": 0}
    found = steps.of_run(run_of(tmp_path, [first, step(1, 9), step(2, 9)]))[0]

    assert (found.count, found.first_ns) == (3, None)


def test_unknown_numbers_of_samples_give_no_throughput(tmp_path: Path) -> None:
    """Not 0."""
    assert steps.of_run(run_of(tmp_path, [step(1, 9, samples=None)]))[0].samples_per_s is None


def test_dispatches_are_no_steps(tmp_path: Path) -> None:
    """Each of 10 steps was dispatched in 1 ms; the values of the last were known after 200 ms."""
    rows = [step(n, 1, input_ns=0, start_ns=1000 * MS + n * MS) for n in range(10)]
    valued = [{"loop_id": 1, "epoch": 0, "step": 9, "name": "loss", "value": 1.0, "time_ns": 1200 * MS}]
    (found,) = steps.of_run(run_of(tmp_path, rows, on_jax(), metrics=valued))

    assert (found.median_ns, found.how, found.p95_ns) == (20 * MS, "epochs", None)
    assert found.samples_per_s == pytest.approx(5000)


def test_steps_in_which_values_were_read_are_measured(tmp_path: Path) -> None:
    """The host waited in each for 8 ms: then its steps are those of the device."""
    found = steps.of_run(run_of(tmp_path, [step(n, 9, wait_ns=8 * MS) for n in range(10)], on_jax()))[0]

    assert (found.median_ns, found.how, found.p95_ns) == (10 * MS, "measured", 10 * MS)


def test_train_on_batch_gives_numbers(tmp_path: Path) -> None:
    """So each of its steps is done when it ends."""
    calls = [span("on_batch", 1, 1, span_id=1, name="train_on_batch")]
    found = steps.of_run(run_of(tmp_path, [step(n, 9) for n in range(3)], on_jax(), spans=calls))[0]

    assert (found.median_ns, found.how) == (10 * MS, "measured")


def test_a_window_tells_what_its_steps_took(tmp_path: Path) -> None:
    """10 steps in 200 ms, where nothing else was waited for."""
    windows = [{"window": 0, "loop": "train", "start_ns": 1000 * MS, "dur_ns": 200 * MS, "steps": 10}]
    rows = [step(n, 1, start_ns=1000 * MS + n * MS) for n in range(12)]
    (found,) = steps.of_run(run_of(tmp_path, rows, on_jax(keras=None), kernel_windows=windows))

    assert (found.median_ns, found.how, found.unknown) == (20 * MS, "window", None)


def test_steps_whose_value_a_line_reads_are_measured(tmp_path: Path) -> None:
    """`float(loss)` in each step of a loop of the script's own: the window, in which most compiled, told 16 times it."""
    windows = [{"window": 0, "loop": "train", "start_ns": 1000 * MS, "dur_ns": 200 * MS, "steps": 10}]
    syncs = [{"what": "float()", "file": "train.py", "line": 4, "calls": 12}]
    rows = [step(n, 9) for n in range(12)]
    (found,) = steps.of_run(run_of(tmp_path, rows, on_jax(keras=None), kernel_windows=windows, syncs=syncs))

    assert (found.median_ns, found.how) == (10 * MS, "measured")


def test_values_that_are_read_now_and_then_measure_no_step(tmp_path: Path) -> None:
    """Each tenth loss is printed."""
    windows = [{"window": 0, "loop": "train", "start_ns": 1000 * MS, "dur_ns": 200 * MS, "steps": 10}]
    syncs = [{"what": "float()", "file": "train.py", "line": 4, "calls": 1}]
    rows = [step(n, 1, start_ns=1000 * MS + n * MS) for n in range(12)]
    (found,) = steps.of_run(run_of(tmp_path, rows, on_jax(keras=None), kernel_windows=windows, syncs=syncs))

    assert (found.median_ns, found.how) == (20 * MS, "window")


def test_marks_of_a_script_that_reads_nothing_tell_no_time_of_a_step(tmp_path: Path) -> None:
    """Its epochs may be those of dispatch."""
    epochs = [{"loop_id": 1, "epoch": 0, "start_ns": 900 * MS, "dur_ns": 300 * MS, "steps": 10}]
    (found,) = steps.of_run(run_of(tmp_path, [step(n, 1) for n in range(10)], on_jax(keras=None), epochs=epochs))

    assert (found.median_ns, found.how) == (None, None)
