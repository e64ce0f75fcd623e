"""Phases of a run that goes on, cut record by record."""

from __future__ import annotations

from dlprof.live.model import LiveRun
from dlprof.live.records import Span
from tests.unit.live.live_runs import MAIN, MS, started, step


def totals(live: LiveRun, now: int) -> dict[str, float]:
    """Milliseconds in each phase at `now` (ms)."""
    return {name: ns / MS for name, ns in live.phases.totals(now * MS).items()}


def test_time_outside_of_spans_is_startup_dlprof_script_and_teardown() -> None:
    """The last one goes on."""
    live = started()
    live.end(1, 20 * MS)

    assert totals(live, 23) == {"startup": 2, "dlprof": 2, "script": 15, "teardown": 3}
    assert live.doing() == "teardown"


def test_the_time_since_the_last_record_counts_for_the_current_phase() -> None:
    """A long import is seen while it lasts."""
    live = started()
    live.begin(Span(2, "import", "tensorflow", MAIN), 10 * MS)

    assert totals(live, 500)["import"] == 490
    assert live.doing() == "import tensorflow"
    assert live.phases.since_ns == 10 * MS


def test_parts_of_a_step_belong_to_phases_of_their_own() -> None:
    """Of 100 ms: 10 waiting for input, 20 in callbacks, 30 of a first call, which compiles."""
    live = started()
    live.begin(Span(2, "fit", "fit", MAIN), 10 * MS)
    live.begin(Span(3, "epoch", "0", MAIN), 20 * MS)
    live.step(step(30, 80, input=10, callbacks=5, call_offset=10, call=30, first=True))
    live.step(step(85, 110, number=1, input=5, callbacks=15))

    found = totals(live, 120)

    assert found["fit.build"] == 10
    assert found["fit.graph_compile"] == 30
    assert found["fit.input"] == 15
    assert found["fit.callbacks"] == 20
    assert found["fit.steps"] == 35


def test_a_compilation_inside_the_first_call_is_not_counted_twice() -> None:
    """The span of 20 ms lies in the call of 30 ms."""
    live = started()
    live.begin(Span(2, "fit", "fit", MAIN), 10 * MS)
    live.begin(Span(3, "epoch", "0", MAIN), 10 * MS)
    live.begin(Span(4, "graph_compile", "train_step", MAIN), 15 * MS)
    assert live.doing() == "graph compile train_step"
    live.end(4, 35 * MS)
    live.step(step(10, 40, call=30, first=True))

    assert totals(live, 40) == {"startup": 2, "dlprof": 2, "script": 5, "fit.graph_compile": 30}


def test_evaluation_inside_fit_is_validation_and_its_steps_stay_there() -> None:
    """Steps of evaluate are no steps of fit."""
    live = started()
    live.begin(Span(2, "fit", "fit", MAIN), 10 * MS)
    live.begin(Span(3, "epoch", "0", MAIN), 10 * MS)
    live.begin(Span(4, "evaluate", "evaluate", MAIN), 20 * MS)
    live.step(step(20, 30, loop=4, input=5))
    live.end(4, 40 * MS)

    assert totals(live, 50)["fit.validation"] == 20
    assert totals(live, 50)["fit.steps"] == 20
    assert live.loop is not None
    assert live.loop.name == "test"


def test_steps_of_train_on_batch_are_taken_out_of_the_script() -> None:
    """The loop's span is over at once, its steps are not."""
    live = started()
    live.begin(Span(2, "on_batch", "train_on_batch", MAIN), 10 * MS)
    live.end(2, 10 * MS)
    live.step(step(20, 50))

    assert totals(live, 60)["fit.steps"] == 30
    assert totals(live, 60)["script"] == 25


def test_spans_of_other_threads_take_no_time_of_the_main_one() -> None:
    """A data loader's thread imports something."""
    live = started()
    live.begin(Span(2, "import", "PIL", MAIN + 1), 10 * MS)

    assert "import" not in totals(live, 100)


def test_a_span_that_was_left_open_ends_with_the_one_around_it() -> None:
    """An exception passed through."""
    live = started()
    live.begin(Span(2, "fit", "fit", MAIN), 10 * MS)
    live.begin(Span(3, "epoch", "0", MAIN), 20 * MS)
    live.end(2, 30 * MS)

    assert live.phases.current == "script"
