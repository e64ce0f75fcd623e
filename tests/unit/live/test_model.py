"""What is known of a run that goes on: what each record changes, and what is kept."""

from __future__ import annotations

from dlprof.live.loop import RECENT_STEPS
from dlprof.live.model import LiveRun, ProbeStatus
from dlprof.live.records import LoopLength, Metric, ProcessFacts, Span
from tests.unit.live.live_runs import MAIN, MS, started, step


def test_nothing_is_known_of_phases_before_the_probe_speaks() -> None:
    """A program without Python never does."""
    assert not LiveRun("a", "b", 0).streaming


def test_memory_of_steps_metrics_and_stretches_is_bounded() -> None:
    """However long the run, and however many names it invents."""
    live = started()
    live.begin(Span(2, "fit", "fit", MAIN), 10 * MS)
    live.begin(Span(3, "epoch", "0", MAIN), 10 * MS)
    for number in range(3000):
        live.step(step(100 + number, 101 + number, number=number))
        live.metric(f"metric {number}", Metric(1.0, 0, number))

    assert live.loop is not None
    assert len(live.loop.recent_ns) == RECENT_STEPS == 512
    assert len(live.metrics) == 64


def test_the_last_value_of_a_metric_counts() -> None:
    """With the place that Keras gave it for."""
    live = started()
    live.metric("loss", Metric(0.5, 0, 3))
    live.metric("loss", Metric(0.25, 1, None))

    assert live.metrics == {"loss": Metric(0.25, 1, None)}


def test_probes_inside_the_process_are_on_when_it_speaks_unless_they_are_off() -> None:
    """Kernels wait for a window."""
    live = LiveRun("a", "b", 0)
    live.probe_said("lines", ProbeStatus("off", "not asked for"))
    live.process_said(ProcessFacts(main_thread=MAIN, boot_ns=1))

    names = ("phases", "lines", "kernels", "gpu")
    assert [live.probe(name).state for name in names] == ["on", "off", "waiting", "starting"]
    assert live.probe("lines").reason == "not asked for"
    live.begin(Span(9, "dlprof", "start kernel tracing", MAIN), 5)
    assert live.probe("kernels") == ProbeStatus("on")


def test_a_probe_that_is_known_does_not_start_again() -> None:
    """The launcher goes on to say that it starts."""
    live = LiveRun("a", "b", 0)
    live.probe_said("gpu", ProbeStatus("unavailable", "no driver"))
    live.probe_said("gpu", ProbeStatus("starting"))

    assert live.probe("gpu") == ProbeStatus("unavailable", "no driver")


def test_the_backend_is_that_of_the_command_else_the_one_that_keras_says() -> None:
    """A script's own Keras may run on anything."""
    asked, found = LiveRun("mlp", "mxnet", 0), LiveRun("mlp", "", 0)
    for live in (asked, found):
        live.process_said(ProcessFacts(keras_backend="torch"))

    assert [asked.title, found.title] == ["mlp on mxnet", "mlp on torch"]


def test_facts_and_steps_of_spans_that_are_not_known_change_nothing() -> None:
    """The stream may begin in the middle of things."""
    live = started()
    live.expect(99, LoopLength(epochs=3))
    live.step(step(20, 30, loop=99))
    live.end(99, 40 * MS)

    assert live.loop is None
    assert live.doing() == "script"


def test_a_thread_that_trains_has_the_phases_while_the_main_one_does_nothing() -> None:
    """Its steps are in them; what the main thread does meanwhile is in none."""
    live = started()
    live.begin(Span(2, "fit", "fit", MAIN + 1), 10 * MS)
    live.begin(Span(3, "epoch", "0", MAIN + 1), 10 * MS)
    live.begin(Span(4, "import", "json", MAIN), 12 * MS)
    assert live.doing() == "fit.steps"

    live.end(4, 13 * MS)
    live.end(2, 20 * MS)
    assert live.doing() == "script"


def test_a_thread_that_trains_beside_the_main_one_has_none() -> None:
    """That one trains, too."""
    live = started()
    live.begin(Span(2, "evaluate", "evaluate", MAIN), 10 * MS)
    live.begin(Span(3, "fit", "fit", MAIN + 1), 11 * MS)

    assert live.doing() == "evaluate"
