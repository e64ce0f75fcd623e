"""The hooks that join wrappers to the recorder: none may hurt the program, each records what it says."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from dlprof_probes import wire
from dlprof_probes.inproc import facts, process_memory
from dlprof_probes.inproc.probe import Probe

from tests.unit.inproc.conftest import Clock, Recorded


def make(now: Clock | None = None) -> Any:
    """A class with methods that take 10 ns each."""

    class Owner:
        name = "owner"

        def work(self, value: int = 0) -> int:
            if now is not None:
                now.ns += 10
            return value + 1

        def fail(self) -> None:
            raise OSError("of the program")

        def outer(self) -> int:
            return self.work(1)

    return Owner


class Lines:
    """Counts lines until it is paused."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def pause(self) -> bool:
        self.calls.append("pause")
        return True

    def restore(self, was_on: bool) -> None:
        self.calls.append(("restore", was_on))

    def save(self, at_most_every_s: int = 0) -> None:
        self.calls.append(("save", at_most_every_s))


def test_a_hook_that_fails_is_switched_off_and_noted_once(probe: Probe, out: Recorded) -> None:
    """It is not even called again; the default takes its place."""
    calls = []

    def hook(value: int) -> None:
        calls.append(value)
        raise KeyError("gone")

    guarded = probe.guard(hook, default="nothing")

    assert [guarded(1), guarded(2)] == ["nothing", "nothing"]
    assert calls == [1]
    assert [slug for slug, _ in out.notes()] == ["hook-failed"]
    assert out.notes()[0][1].endswith("hook was switched off: KeyError: 'gone'")


@pytest.mark.parametrize("signal", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_what_ends_programs_passes_a_hook(probe: Probe, signal: type[BaseException]) -> None:
    """Ctrl-C must not be swallowed."""

    def hook() -> None:
        raise signal

    with pytest.raises(signal):
        probe.guard(hook)()


def test_a_hook_that_works_gives_its_result(probe: Probe, out: Recorded) -> None:
    """And leaves no note."""
    assert probe.guard(lambda a, b: a + b)(1, 2) == 3
    assert out.notes() == []


def test_hooks_do_nothing_once_the_probe_has_ended(probe: Probe) -> None:
    """Those that could not be taken back are still called."""
    calls: list[int] = []
    guarded = probe.guard(lambda: calls.append(1), default=7)

    probe.end()

    assert guarded() == 7
    assert calls == []


def test_a_failing_hook_leaves_the_call_as_it_is(probe: Probe) -> None:
    """Before as well as after it."""
    owner = make()
    probe.around(owner, "work", lambda _args: 1 // 0, lambda _token, _args: 1 // 0)

    assert owner().work(4) == 5
    with pytest.raises(OSError, match="of the program"):
        probe.around(owner, "fail", lambda _args: 1 // 0, lambda _token, _args: None)
        owner().fail()


def test_a_span_lasts_as_long_as_the_call(probe: Probe, out: Recorded, now: Clock) -> None:
    """With the name that the arguments give it."""
    owner = make(now)
    probe.span(owner, "work", wire.SpanKind.DATA, lambda args: "work of " + args[0].name)

    assert owner().work(3) == 4
    assert out.spans() == [("data", "work of owner", 1000, 1010)]


def test_a_span_names_the_line_that_made_the_call(probe: Probe, out: Recorded) -> None:
    """Of the user's own file."""
    owner = make()
    probe.span(owner, "work", wire.SpanKind.DATA)

    owner().work()

    span = next(iter(out.stream().spans.values()))
    assert span.file == __file__
    assert span.line == test_a_span_names_the_line_that_made_the_call.__code__.co_firstlineno + 5


def test_a_span_ends_where_an_exception_leaves_it(probe: Probe, out: Recorded, now: Clock) -> None:
    """And the exception goes on."""
    owner = make()
    probe.span(owner, "fail", wire.SpanKind.DATA)

    with pytest.raises(OSError, match="of the program"):
        owner().fail()

    assert out.spans() == [("data", "fail", 1000, 1000)]
    assert out.stack() == []


def test_a_span_of_a_kind_is_not_inside_another_of_it(probe: Probe, out: Recorded) -> None:
    """A method that calls its own base is one span."""
    owner = make()
    probe.span(owner, "outer", wire.SpanKind.SAVE)
    probe.span(owner, "work", wire.SpanKind.SAVE)

    owner().outer()

    assert out.names() == [("save", "outer")]


def test_an_outermost_span_is_in_no_other(probe: Probe, out: Recorded) -> None:
    """Of whatever kind."""
    owner = make()
    probe.span(owner, "outer", wire.SpanKind.SAVE)
    probe.span(owner, "work", wire.SpanKind.DATA, outermost=True)

    owner().outer()
    owner().work()

    assert out.names() == [("save", "outer"), ("data", "work")]


def test_the_detail_of_a_span_is_asked_after_the_call(probe: Probe, out: Recorded) -> None:
    """When what was made has its name."""
    owner = make()
    probe.span(owner, "work", wire.SpanKind.CONSTRUCT, detail=lambda args: {"layer": args[0].name})

    owner().work()

    assert next(iter(out.stream().spans.values())).detail == {"layer": "owner"}


def test_lines_are_not_counted_inside_a_span(probe: Probe) -> None:
    """And afterwards as before."""
    owner, lines = make(), Lines()
    probe.lines = lines
    probe.span(owner, "work", wire.SpanKind.DATA)

    owner().work()

    assert lines.calls == ["pause", ("restore", True)]


def test_what_is_not_there_is_remembered(probe: Probe) -> None:
    """For the report; what is hooked already is not missing."""
    owner = make()

    assert probe.span(owner, "absent", wire.SpanKind.DATA) is False
    probe.span(owner, "work", wire.SpanKind.DATA)
    probe.span(owner, "work", wire.SpanKind.DATA)

    assert probe.missing == ["Owner.absent"]


def test_a_loop_is_a_span_with_its_model(probe: Probe, out: Recorded, now: Clock) -> None:
    """And is the current loop while it runs."""
    owner, seen = make(now), []
    probe.describe_model = lambda model: {"layers": [], "models": [model.name]}
    probe.loop(owner, "outer", wire.SpanKind.PREDICT)
    probe.around(owner, "work", lambda _args: seen.append(probe.current_loop()), lambda _token, _args: None)

    owner().outer()

    span = next(iter(out.stream().spans.values()))
    assert (span.kind, span.start, span.end, span.detail) == (
        "predict",
        1000,
        1010,
        {"model": {"layers": [], "models": ["owner"]}},
    )
    assert seen[0].span == span.number
    assert probe.current_loop() is None


def test_the_same_model_is_described_once(probe: Probe, out: Recorded) -> None:
    """Calls for single rows are many; each has the facts all the same."""
    owner, asked = make(), []

    def described(model: Any) -> dict[str, Any]:
        asked.append(model)
        return {"layers": [], "models": ["m"]}

    probe.describe_model = described
    probe.loop(owner, "outer", wire.SpanKind.PREDICT)
    model = owner()
    model._layers = []

    model.outer()
    model.outer()

    assert asked == [model]
    assert [span.detail for span in out.stream().spans.values()] == [{"model": {"layers": [], "models": ["m"]}}] * 2


def test_a_loop_that_calls_itself_is_one(probe: Probe, out: Recorded) -> None:
    """Fit within fit's own machinery: two of a kind, at most one span between them."""
    owner = make()
    probe.loop(owner, "outer", wire.SpanKind.FIT)
    probe.loop(owner, "work", wire.SpanKind.FIT)

    owner().outer()

    assert out.names() == [("fit", "outer")]


def test_lines_are_saved_where_an_outermost_loop_begins(probe: Probe) -> None:
    """At most every 5 s: a run that is killed keeps what it had."""
    owner, lines = make(), Lines()
    probe.lines = lines
    probe.loop(owner, "outer", wire.SpanKind.FIT)
    probe.loop(owner, "work", wire.SpanKind.EVALUATE)

    owner().outer()

    assert [call for call in lines.calls if call[0] == "save"] == [("save", 5)]


def test_facts_of_the_training_are_asked_where_fit_begins(probe: Probe, out: Recorded) -> None:
    """In our own time, and only for fit."""
    owner = make()
    probe.describe_model = lambda _model: {"layers": [{"name": "a", "class": "Dense"}], "models": []}
    probe.loop(owner, "outer", wire.SpanKind.FIT)
    probe.loop(owner, "work", wire.SpanKind.EVALUATE)

    owner().outer()

    assert out.names() == [("fit", "outer"), ("dlprof", "facts of the training"), ("evaluate", "work")]
    assert "training" in next(iter(out.stream().spans.values())).detail


def test_a_training_tells_what_the_process_held_at_its_call(
    probe: Probe, out: Recorded, now: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything else of ours, once in the call; a validation in it tells nothing."""
    owner, asked = make(now), []

    def told(begun_ns: int) -> dict[str, int]:
        asked.append((begun_ns, out.names()))
        return {"rss_bytes": 5}

    monkeypatch.setattr(process_memory, "at", told)
    probe.loop(owner, "outer", wire.SpanKind.FIT)
    probe.loop(owner, "work", wire.SpanKind.EVALUATE)

    owner().outer()

    assert asked == [(1000, [("fit", "outer")])]
    assert [span.detail for span in out.stream().spans.values()] == [{"memory": {"rss_bytes": 5}}, {}]


def test_memory_of_engines_is_counted_at_times_that_its_duration_allows(
    probe: Probe, out: Recorded, now: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where very many arrays live, each count takes long: trainings that follow at once have none."""
    owner = make()
    probe.describe_model = lambda _model: {"layers": [], "models": []}

    def counted(_engines: Any) -> dict[str, Any]:
        now.ns += 10
        return {"jax": {"live_bytes": 5}}

    monkeypatch.setattr(facts, "of_memory", counted)
    probe.loop(owner, "outer", wire.SpanKind.FIT)
    for wait in (0, 1000, 1000):
        now.ns += wait
        owner().outer()

    told = [span.detail.get("engine_memory") for span in out.stream().spans.values() if span.kind == "fit"]
    assert told == [{"jax": {"live_bytes": 5}}, None, {"jax": {"live_bytes": 5}}]


def test_calls_for_single_batches_are_steps_of_one_loop(probe: Probe, out: Recorded, now: Clock) -> None:
    """Each lasts as long as the call."""
    owner = make(now)
    probe.describe_model = lambda _model: {"layers": [1], "models": []}
    probe.on_batch(owner, "work", "train_on_batch")
    model = owner()

    model.work()
    now.ns += 500
    model.work()

    assert out.names() == [("on_batch", "train_on_batch"), ("dlprof", "facts of the training")]
    assert [(row[3], row[5], row[6]) for row in out.stream().steps] == [(0, 1000, 1010), (1, 1510, 1520)]


def test_a_call_for_a_single_batch_that_fails_is_over(probe: Probe, out: Recorded) -> None:
    """The next one is a step as any other."""
    owner = make()
    probe.on_batch(owner, "fail", "train_on_batch")

    for _ in range(2):
        with pytest.raises(OSError, match="of the program"):
            owner().fail()

    assert [row[3] for row in out.stream().steps] == [0, 1]
    assert probe.current_loop() is None


def test_an_engine_s_own_epochs_and_steps_are_those_of_the_loop(probe: Probe, out: Recorded, now: Clock) -> None:
    """Epochs are counted from 0; each step lasts as long as the call."""

    class Trainer:
        def fit(self) -> None:
            for _ in range(2):
                self.epoch()

        def epoch(self) -> None:
            for _ in range(2):
                self.step()

        def step(self) -> None:
            now.ns += 10

    probe.loop(Trainer, "fit", wire.SpanKind.FIT)
    probe.epoch(Trainer, "epoch")
    probe.step(Trainer, "step")

    Trainer().fit()

    assert out.spans() == [("fit", "fit", 1000, 1040), ("epoch", "0", 1000, 1020), ("epoch", "1", 1020, 1040)]
    assert [row[2:7] for row in out.stream().steps] == [
        (0, 0, 1, 1000, 1010),
        (0, 1, 1, 1010, 1020),
        (1, 0, 1, 1020, 1030),
        (1, 1, 1, 1030, 1040),
    ]


def test_epochs_and_steps_outside_loops_only_run(probe: Probe, out: Recorded) -> None:
    """There is no loop that they could be of."""
    owner = make()
    probe.epoch(owner, "outer")
    probe.step(owner, "work")

    assert owner().outer() == 2
    assert (out.names(), list(out.stream().steps)) == ([], [])


def test_a_compilation_is_counted_and_told_with_its_cause(probe: Probe, out: Recorded, now: Clock) -> None:
    """The second one says what differs."""
    owner = make(now)
    probe.graph_compile(
        owner, "work", lambda args: "compile %d" % args[1], signature=lambda args: ("key", "f", {"x": str(args[1])})
    )

    owner().work(1)
    owner().work(2)

    change = {"argument": "x", "what": "value", "before": "1", "now": "2"}
    assert out.spans() == [("graph_compile", "compile 1", 1000, 1010), ("graph_compile", "compile 2", 1010, 1020)]
    assert [s.detail["compiled"] for s in out.stream().spans.values()] == [
        {"function": "f", "again": False, "cause": []},
        {"function": "f", "again": True, "cause": [change]},
    ]
    assert probe.loops.compiles == [2]


def test_a_compilation_inside_another_is_counted_only(probe: Probe, out: Recorded) -> None:
    """One span covers the time of both."""
    owner = make()
    probe.graph_compile(owner, "outer")
    probe.graph_compile(owner, "work")

    owner().outer()

    assert out.names() == [("graph_compile", "outer")]
    assert probe.loops.compiles == [2]


def test_what_compiles_only_in_loops_is_let_alone_outside(probe: Probe, out: Recorded) -> None:
    """And what does not compile at all, everywhere."""
    owner = make()
    probe.graph_compile(owner, "work", in_loops=True)
    probe.graph_compile(owner, "outer", when=lambda _args: False)

    owner().outer()

    assert out.names() == []
    assert probe.loops.compiles == [0]


def test_ranges_are_made_only_while_a_window_is_open(probe: Probe) -> None:
    """Their ends come when the call is over, however it ends."""
    owner, ranges = make(), []

    def annotation(text: str) -> Any:
        ranges.append(text)
        return lambda: ranges.append("end")

    probe.windows = SimpleNamespace(active=None, annotation=annotation)
    probe.annotated(owner, "work", lambda args: "layer " + args[0].name)
    owner().work()
    assert ranges == []

    probe.windows.active = object()
    owner().work()
    assert ranges == ["layer owner", "end"]


def test_everything_is_put_back_at_the_end(probe: Probe) -> None:
    """The class is as it was."""
    owner = make()
    before = dict(vars(owner))
    probe.span(owner, "work", wire.SpanKind.DATA)
    probe.loop(owner, "outer", wire.SpanKind.FIT)

    probe.end()

    assert {name: value for name, value in vars(owner).items() if not name.startswith("__")} == {
        name: value for name, value in before.items() if not name.startswith("__")
    }
