"""The state of a run that goes on: phases, steps, metrics and samples, record by record."""

from __future__ import annotations

from typing import Any

import pytest

from dlprof.live.model import RECENT_STEPS, Metric, Span, State, Step

MS = 1_000_000
MAIN = 7


def state() -> State:
    """A process started at 1 ms, whose probe began at 3 ms and whose script began at 5 ms."""
    made = State("mlp", "tensorflow", 1 * MS)
    made.meta({"main_thread": MAIN, "boot_ns": 3 * MS})
    made.begin(Span(1, "script", "script", MAIN), 5 * MS)
    return made


def step(begin: int, end: int, *, loop: int = 2, number: int = 0, first: bool = False, **parts: int) -> Step:
    """A step from `begin` to `end` (ms); `parts` in ms too."""
    taken: dict[str, Any] = {f"{name}_ns": ns * MS for name, ns in parts.items()}
    return Step(MAIN, loop, 0, number, 1, begin * MS, end * MS, 0, 0, 0, 0, first)._replace(**taken)


def totals(of: State, now: int) -> dict[str, float]:
    """Milliseconds in each phase at `now` (ms)."""
    return {name: ns / MS for name, ns in of.phases.totals(now * MS).items()}


def test_time_outside_of_spans_is_startup_dlprof_script_and_teardown() -> None:
    """The last one goes on."""
    made = state()
    made.end(1, 20 * MS)

    assert totals(made, 23) == {"startup": 2, "dlprof": 2, "script": 15, "teardown": 3}
    assert made.doing() == "teardown"


def test_nothing_is_known_of_phases_before_the_probe_speaks() -> None:
    """A program without Python never does."""
    assert not State("a", "b", 0).streaming


def test_the_time_since_the_last_record_counts_for_the_current_phase() -> None:
    """A long import is seen while it lasts."""
    made = state()
    made.begin(Span(2, "import", "tensorflow", MAIN), 10 * MS)

    assert totals(made, 500)["import"] == 490
    assert made.doing() == "import tensorflow"
    assert made.phases.since_ns == 10 * MS


def test_parts_of_a_step_belong_to_phases_of_their_own() -> None:
    """Of 100 ms: 10 waiting for input, 20 in callbacks, 30 of a first call, which compiles."""
    made = state()
    made.begin(Span(2, "fit", "fit", MAIN), 10 * MS)
    made.begin(Span(3, "epoch", "0", MAIN), 20 * MS)
    made.step(step(30, 80, input=10, callbacks=5, call_offset=10, call=30, first=True))
    made.step(step(85, 110, number=1, input=5, callbacks=15))

    found = totals(made, 120)

    assert found["fit.build"] == 10
    assert found["fit.graph_compile"] == 30
    assert found["fit.input"] == 15
    assert found["fit.callbacks"] == 20
    assert found["fit.steps"] == 35


def test_a_compilation_inside_the_first_call_is_not_counted_twice() -> None:
    """The span of 20 ms lies in the call of 30 ms."""
    made = state()
    made.begin(Span(2, "fit", "fit", MAIN), 10 * MS)
    made.begin(Span(3, "epoch", "0", MAIN), 10 * MS)
    made.begin(Span(4, "graph_compile", "train_step", MAIN), 15 * MS)
    assert made.doing() == "graph compile train_step"
    made.end(4, 35 * MS)
    made.step(step(10, 40, call=30, first=True))

    assert totals(made, 40) == {"startup": 2, "dlprof": 2, "script": 5, "fit.graph_compile": 30}


def test_evaluation_inside_fit_is_validation_and_its_steps_stay_there() -> None:
    """Steps of evaluate are no steps of fit."""
    made = state()
    made.begin(Span(2, "fit", "fit", MAIN), 10 * MS)
    made.begin(Span(3, "epoch", "0", MAIN), 10 * MS)
    made.begin(Span(4, "evaluate", "evaluate", MAIN), 20 * MS)
    made.step(step(20, 30, loop=4, input=5))
    made.end(4, 40 * MS)

    assert totals(made, 50)["fit.validation"] == 20
    assert totals(made, 50)["fit.steps"] == 20
    assert made.loop is not None
    assert made.loop.name == "test"


def test_steps_of_train_on_batch_are_taken_out_of_the_script() -> None:
    """The loop's span is over at once, its steps are not."""
    made = state()
    made.begin(Span(2, "on_batch", "train_on_batch", MAIN), 10 * MS)
    made.end(2, 10 * MS)
    made.step(step(20, 50))

    assert totals(made, 60)["fit.steps"] == 30
    assert totals(made, 60)["script"] == 25


def test_spans_of_other_threads_take_no_time_of_the_main_one() -> None:
    """A data loader's thread imports something."""
    made = state()
    made.begin(Span(2, "import", "PIL", MAIN + 1), 10 * MS)

    assert "import" not in totals(made, 100)


def test_a_span_that_was_left_open_ends_with_the_one_around_it() -> None:
    """An exception passed through."""
    made = state()
    made.begin(Span(2, "fit", "fit", MAIN), 10 * MS)
    made.begin(Span(3, "epoch", "0", MAIN), 20 * MS)
    made.end(2, 30 * MS)

    assert made.phases.current == "script"


def test_median_rate_and_place_of_a_loop() -> None:
    """The first step, which compiles, is not one of them; waiting for the batch is part of a step."""
    made = state()
    made.begin(Span(2, "fit", "fit", MAIN), 10 * MS)
    made.detail(2, {"epochs": 3, "samples": 1000, "batch_size": 300})
    made.step(step(1000, 9000, first=True))
    for number, took in enumerate((8, 18, 8), 1):
        made.step(step(10_000 + 100 * number, 10_000 + 100 * number + took, number=number, input=2))

    loop = made.loop
    assert loop is not None
    assert loop.place() == ["epoch 1/3", "step 4/4"]
    assert loop.median_ns == 10 * MS
    assert loop.per_s == 75.0
    assert list(loop.recent_ns) == [10 * MS, 20 * MS, 10 * MS]


def test_the_batches_of_the_validation_are_no_steps_of_fit() -> None:
    """Keras makes its data set inside fit."""
    made = state()
    made.begin(Span(2, "fit", "fit", MAIN), 10 * MS)
    for facts in ({"batches": 231}, {"epochs": 12, "steps": 231}, {"batches": 26}):
        made.detail(2, facts)
    made.step(step(20, 30))

    assert made.loop is not None
    assert made.loop.place() == ["epoch 1/12", "step 1/231"]


def test_a_record_of_several_steps_counts_their_mean() -> None:
    """Very long runs put steps together."""
    made = state()
    made.begin(Span(2, "fit", "fit", MAIN), 10 * MS)
    made.step(Step(MAIN, 2, 0, 8, 4, 100 * MS, 140 * MS, 0, 0, 0, 0, False))

    assert made.loop is not None
    assert made.loop.place() == ["epoch 1", "step 12"]
    assert made.loop.median_ns == 10 * MS


def test_memory_of_steps_metrics_and_stretches_is_bounded() -> None:
    """However long the run, and however many names it invents."""
    made = state()
    made.begin(Span(2, "fit", "fit", MAIN), 10 * MS)
    made.begin(Span(3, "epoch", "0", MAIN), 10 * MS)
    for number in range(3000):
        made.step(step(100 + number, 101 + number, number=number))
        made.metric(f"metric {number}", 1.0, 0, number)

    assert made.loop is not None
    assert len(made.loop.recent_ns) == RECENT_STEPS == 512
    assert len(made.metrics) == 64


def test_the_last_value_of_a_metric_counts() -> None:
    """With the place that Keras gave it for."""
    made = state()
    made.metric("loss", 0.5, 0, 3)
    made.metric("loss", 0.25, 1, -1)

    assert made.metrics == {"loss": Metric(0.25, 1, None)}


def test_cores_and_processes_between_two_samples() -> None:
    """Ticks since the sample before; a process that is new counts from its first sample."""
    made = state()
    made.cores_header({"page_bytes": 4096, "ticks_per_s": 100})
    made.cores_sample(0, [[0, 0, 0, 0, 0], [0, 0, 0, 0, 0]], [[10, 100, 1000]])
    assert made.cores.busy_pct is None
    assert made.cores.cpu_pct is None

    made.cores_sample(100 * MS, [[5, 1, 2, 0, 2], [0, 0, 0, 0, 10]], [[10, 109, 500], [11, 50, 100]])
    made.machine_sample(8_000_000_000)

    assert made.cores.busy_pct == (60.0, 0.0)
    assert made.cores.cpu_pct == pytest.approx(90.0)
    assert made.cores.rss_bytes == 600 * 4096
    assert made.cores.peak_rss_bytes == 1000 * 4096
    assert made.cores.available_bytes == 8_000_000_000


def test_a_value_that_a_gpu_did_not_tell_keeps_its_last_one() -> None:
    """Some are read once a second; what was never told stays away."""
    made = state()
    made.gpu_sample(0, {"utilisation_pct": 87, "power_w": None, "process_memory_bytes": 5})
    made.gpu_sample(0, {"utilisation_pct": 90, "power_w": None, "process_memory_bytes": None})

    assert made.gpus == {0: {"utilisation_pct": 90, "process_memory_bytes": 5}}


def test_probes_inside_the_process_are_on_when_it_speaks_unless_they_are_off() -> None:
    """Kernels wait for a window."""
    made = State("a", "b", 0)
    made.probe("lines", "off", "not asked for")
    made.meta({"main_thread": MAIN, "boot_ns": 1})

    assert made.probes == {"lines": ("off", "not asked for"), "phases": ("on", None), "kernels": ("waiting", None)}
    made.begin(Span(9, "dlprof", "start kernel tracing", MAIN), 5)
    assert made.probes["kernels"] == ("on", None)
