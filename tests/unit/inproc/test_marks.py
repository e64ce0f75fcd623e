"""The marks of a script without Keras become spans, loops and steps."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from dlprof_probes import mark
from dlprof_probes import wire as fmt
from dlprof_probes.inproc.kernels.windows import NoWindows
from dlprof_probes.inproc.marks import Marks
from dlprof_probes.inproc.probe import Probe

from tests.unit.inproc.conftest import Clock, Recorded


@pytest.fixture
def marks(probe: Probe) -> Marks:
    """Marks of this process go to the recorder."""
    made = Marks(probe)
    made.install()
    return made


def steps(out: Recorded) -> list[tuple[int, int, int, int]]:
    """Epoch, number, begin and end of each step."""
    return [(row[2], row[3], row[5], row[6]) for row in out.stream().steps]


def test_a_phase_is_a_span_at_the_user_s_line(marks: Marks, out: Recorded, now: Clock) -> None:
    """From its beginning to its end."""
    with mark.phase("data"):
        now.ns += 10

    assert out.spans() == [("data", "data", 1000, 1010)]
    assert next(iter(out.stream().spans.values())).file == __file__


def test_a_phase_ends_where_an_exception_leaves_it(marks: Marks, out: Recorded) -> None:
    """Which goes on."""
    with pytest.raises(ZeroDivisionError), mark.phase("construct"):
        1 // 0  # noqa: B018

    assert out.stack() == []
    assert out.names() == [("construct", "construct")]


def test_a_phase_that_does_not_exist_does_nothing(marks: Marks, out: Recorded) -> None:
    """With a note that names those that do."""
    with mark.phase("training"):
        pass

    assert out.names() == []
    assert out.notes()[0][0] == "mark-unknown"
    assert out.notes()[0][1].startswith("There is no phase training to mark; there are: data, construct, compile, fit")


def test_fit_is_a_loop_with_its_facts(marks: Marks, out: Recorded) -> None:
    """Numbers only."""
    with mark.phase("fit", batch_size=32, samples=100, note="text"):
        pass

    assert next(iter(out.stream().spans.values())).detail == {"batch_size": 32, "samples": 100, "how": "marks"}


def test_steps_of_epochs(marks: Marks, out: Recorded, now: Clock) -> None:
    """Each from where it begins to where it ends; the wait before it is its input."""
    with mark.phase("fit"):
        for epoch in range(2):
            with mark.epoch(epoch):
                for _ in range(2):
                    now.ns += 5
                    with mark.step():
                        now.ns += 10

    assert [row[:2] for row in out.spans()] == [("fit", "fit"), ("epoch", "0"), ("epoch", "1")]
    assert steps(out) == [(0, 0, 1005, 1015), (0, 1, 1020, 1030), (1, 0, 1035, 1045), (1, 1, 1050, 1060)]
    assert [row[7] for row in out.stream().steps] == [5, 5, 5, 5]


def test_a_step_lasts_until_the_next_batch_is_asked_for(marks: Marks, out: Recorded, now: Clock) -> None:
    """What the next one takes is a wait."""

    def batches() -> Iterator[int]:
        for number in range(2):
            now.ns += 7
            yield number

    seen = []
    with mark.phase("fit"):
        for batch in mark.steps(batches()):
            seen.append(batch)
            now.ns += 10

    assert seen == [0, 1]
    assert [(begin, end) for _, _, begin, end in steps(out)] == [(1007, 1017), (1024, 1034)]


def test_leaving_a_loop_over_batches_ends_the_step(marks: Marks, out: Recorded, now: Clock) -> None:
    """By `break`, or by an exception."""
    with mark.phase("fit"):
        for _ in mark.steps([1, 2, 3]):
            now.ns += 10
            break

    assert len(steps(out)) == 1


def test_steps_of_fit_without_epochs_are_of_one_epoch(marks: Marks, out: Recorded) -> None:
    """So that their time is that of steps; those of evaluate have none."""
    for name in ("fit", "evaluate"):
        with mark.phase(name), mark.step():
            pass

    assert out.names() == [("fit", "fit"), ("epoch", "0"), ("evaluate", "evaluate")]
    assert [row[0] for row in steps(out)] == [0, fmt.NONE]


def test_an_epoch_ends_the_one_before(marks: Marks, out: Recorded, now: Clock) -> None:
    """And the end of fit ends the last one."""
    with mark.phase("fit"):
        mark.epoch(0).__enter__()
        now.ns += 10
        mark.epoch(1).__enter__()
        now.ns += 10

    assert [(name, begin, end) for kind, name, begin, end in out.spans() if kind == "epoch"] == [
        ("0", 1000, 1010),
        ("1", 1010, 1020),
    ]


def test_marks_outside_a_loop_do_nothing(marks: Marks, out: Recorded) -> None:
    """There is nothing that they could belong to."""
    with mark.epoch(0), mark.step():
        pass
    mark.metrics(loss=1.0)

    assert (out.names(), steps(out), out.notes()) == ([], [], [])


def test_metrics_are_those_of_the_epoch(marks: Marks, out: Recorded) -> None:
    """Whatever can be made a number of."""
    with mark.phase("fit"), mark.epoch(3):
        mark.metrics(loss=0.5, steps=2)

    assert [(row[1], row[4], row[5]) for row in out.stream().metrics] == [(3, "loss", 0.5), (3, "steps", 2.0)]


def test_a_metric_that_is_no_number_is_passed_over_and_noted(marks: Marks, out: Recorded) -> None:
    """The others are taken, and so are those that come later."""
    with mark.phase("fit"):
        mark.metrics(loss="text", accuracy=0.25)
        mark.metrics(loss="text")
        mark.metrics(loss=0.5)

    assert [tuple(row[4:6]) for row in out.stream().metrics] == [("accuracy", 0.25), ("loss", 0.5)]
    assert out.notes() == [("mark-metric loss", "The metric loss was passed over: it is no number, but a str.")]


class Odd:
    """Can be neither compared nor shown."""

    def __eq__(self, _other: object) -> bool:
        raise ValueError("ambiguous")

    def __repr__(self) -> str:
        raise RuntimeError("no text")

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize("value", [None, "one", -1, 1.5, 10**30, float("nan"), Odd(), b"x", [1]])
def test_marks_with_wrong_types_never_raise(marks: Marks, out: Recorded, value: Any) -> None:
    """And marks that come later are taken as if nothing had been."""
    with mark.phase(value):
        pass
    with mark.phase("fit", batch_size=value, samples=value, epochs=value):
        with mark.epoch(value), mark.step():
            mark.metrics(loss=value)
        mark.model(value, value)
    with mark.phase("fit"), mark.epoch(0), mark.step():
        pass

    assert out.names().count(("fit", "fit")) == 2
    assert out.names()[-1] == ("epoch", "0")
    assert len(out.stream().steps) == 2


@pytest.mark.parametrize(
    ("model", "layers"),
    [
        (["a", "b"], [{"name": "a", "class": ""}, {"name": "b", "class": ""}]),
        (SimpleNamespace(named_modules=lambda: [("", 1), ("fc", "text")]), [{"name": "fc", "class": "str"}]),
        (object(), []),
    ],
)
def test_a_model_names_its_layers(marks: Marks, out: Recorded, model: Any, layers: Any) -> None:
    """From a list, or from all that has `named_modules`."""
    mark.model(model, "SGD")
    with mark.phase("fit"):
        pass

    assert next(iter(out.stream().spans.values())).detail == {
        "how": "marks",
        "model": {"layers": layers, "models": [], "optimizer": {"name": "SGD", "class": "SGD"}},
    }


class Engine:
    """An engine that is loaded, and names the layers of a model."""

    def __init__(self) -> None:
        self.used = 0

    def alone(self) -> None:
        self.used += 1

    def named_layers(self, model: Any) -> Any:
        return [{"name": "of the engine", "class": "X"}]


class Windows(NoWindows):
    """Windows that no engine has taken."""

    folder = "kernels"  # type: ignore[assignment]
    is_set = False

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def use(self, name: str, make: Any = None) -> None:
        self.calls.append(("use", name))

    def planned(self, loop: Any, steps: int) -> None:
        self.calls.append(("planned", steps))


def engines(engine: Any) -> Any:
    """All engines: this one, which is called `toy`."""
    return SimpleNamespace(
        loaded=lambda: [(engine, "module")] if engine is not None else [],
        find=lambda name: engine if name == "toy" else None,
    )


@pytest.mark.parametrize("asked", [None, "toy"])
def test_a_loop_takes_the_engine_that_is_loaded(probe: Probe, asked: str | None) -> None:
    """Or the one that was asked for."""
    engine = Engine()
    probe.windows, probe.engines = Windows(), engines(engine)
    Marks(probe, asked).install()

    with mark.phase("fit"):
        pass

    assert engine.used == 1


def test_an_engine_that_is_not_known_is_asked_for_by_name(probe: Probe) -> None:
    """So that the run says that it has no tracer."""
    windows = probe.windows = Windows()
    probe.engines = engines(None)
    Marks(probe, "other").install()

    with mark.phase("fit"):
        pass

    assert windows.calls == [("use", "other")]


def test_the_engine_of_keras_is_kept(probe: Probe) -> None:
    """A script with Keras may have marks, too."""
    engine = Engine()
    probe.windows, probe.engines = Windows(), engines(engine)
    probe.windows.is_set = True
    Marks(probe).install()

    with mark.phase("fit"):
        pass

    assert engine.used == 0


def test_an_engine_names_the_layers_of_its_own_models(probe: Probe, out: Recorded) -> None:
    """Before all others."""
    probe.engines = engines(Engine())
    Marks(probe).install()
    mark.model(object())
    with mark.phase("fit"):
        pass

    detail = next(iter(out.stream().spans.values())).detail
    assert detail["model"]["layers"] == [{"name": "of the engine", "class": "X"}]


def test_the_script_may_say_how_many_steps_there_will_be(probe: Probe) -> None:
    """100 samples in batches of 32 are 4 steps, in each of 2 epochs."""
    windows = probe.windows = Windows()
    Marks(probe).install()
    with mark.phase("fit", samples=100, batch_size=32, epochs=2), mark.phase("evaluate", samples=100, batch_size=10):
        pass

    assert [call for call in windows.calls if call[0] == "planned"] == [("planned", 8)]


def test_marks_do_nothing_when_the_probe_has_gone(probe: Probe, out: Recorded) -> None:
    """The script still has them."""
    Marks(probe).install()
    probe.end()

    with mark.phase("fit", batch_size=1), mark.epoch(0), mark.step():
        mark.metrics(loss=1.0)
        mark.model(object())
    assert list(mark.steps([1, 2])) == [1, 2]
    assert out.names() == []
