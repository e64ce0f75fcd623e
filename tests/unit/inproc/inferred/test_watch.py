"""What engines tell of updates becomes loops in the stream, with the loops of the code around the calls."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from dlprof_probes import wire
from dlprof_probes.inproc.clock import now
from dlprof_probes.inproc.probe import Probe

from tests.unit.inproc.conftest import Recorded


class Engine:
    """Describes nothing."""

    name = "none"

    def alone(self) -> None:
        """Take no windows."""

    def trained_layers(self, _optimizer: object, _frames: list[Any]) -> None:
        """They are not known."""

    def memory_of(self, _optimizer: object, _frames: list[Any]) -> None:
        """Neither is that."""

    def trained_weights(self, _optimizer: object) -> None:
        """Nor are these."""

    def after_training(self) -> dict[str, Any]:
        """Nothing to say."""
        return {}


class State:
    """A state of weights, given by earlier calls."""

    earlier: Any = ()


class Optimizer:
    """Tells one from others."""


@pytest.fixture
def own(probe: Probe, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The watch of a probe to which this file is the user's."""
    monkeypatch.setattr(probe.own_loops.sites, "_is_user_file", lambda path: path == __file__)
    return probe.own_loops


def steps(out: Recorded) -> int:
    """Steps in the stream."""
    return out.stream().steps.steps


def test_updates_in_a_loop_are_steps(own: Any, out: Recorded) -> None:
    """As many as were told."""
    engine, optimizer = Engine(), Optimizer()
    for _ in range(3):
        own.update(engine, optimizer)
    own.finish()

    assert (steps(out), out.notes()) == (3, [])


@pytest.mark.parametrize(("is_looped", "expected"), [(False, 4), (True, 0)])
def test_turns_of_an_optimiser_are_steps_where_the_program_has_no_loop_around_them(
    is_looped: bool, expected: int, own: Any, out: Recorded
) -> None:
    """Else each call is one, which is told behind it."""
    engine, optimizer = Engine(), Optimizer()

    def goes_round() -> None:
        for _ in range(4):
            own.turned(engine, optimizer)

    if is_looped:
        for _ in range(1):
            goes_round()
    else:
        goes_round()
    own.finish()

    assert steps(out) == expected


def compiled_in(out: Recorded) -> list[bool]:
    """Whether each step in the stream compiled something."""
    return [
        bool(flags & wire.STEP_COMPILED) for rows in out.stream().steps.pieces() for flags in rows["flags"].tolist()
    ]


def test_a_step_that_compiles_is_told_also_where_it_begins_an_epoch(own: Any, out: Recorded, probe: Probe) -> None:
    """The first of all, and the first of the second epoch, which is known to be one only when it is over."""
    engine, optimizer = Engine(), Optimizer()
    own.made()
    for _epoch in range(2):
        for batch in range(3):
            if batch == 0:
                probe.loops.compiles[0] += 1
                probe.loops.compiled_at = now()
            own.update(engine, optimizer)
    own.finish()

    assert compiled_in(out) == [True, False, False, True, False, False]


def test_what_was_compiled_between_two_steps_is_of_neither(own: Any, out: Recorded, probe: Probe) -> None:
    """An evaluation in between: the step behind it begins with its batch."""
    engine, optimizer, epochs = Engine(), Optimizer(), [iter("ab"), iter("cd")]
    asked = own.asking(lambda: False)

    class Loader:
        """Can be told from others, as iterators of strings cannot."""

    for epoch in epochs:
        loader = Loader()
        probe.loops.compiles[0] += 1
        probe.loops.compiled_at = now()
        own.opened(loader, now())
        for _batch in epoch:
            asked(loader)
            own.given(loader)
            own.update(engine, optimizer)
    own.finish()

    assert compiled_in(out) == [False] * 4


def test_the_call_before_the_first_that_repeats_is_a_step_too(own: Any, out: Recorded) -> None:
    """It is known to be one by the second; its frames are gone by then."""
    engine, state = Engine(), State()
    for number in range(3):
        if number == 0:
            state.earlier = [own.earlier(1)]
        else:
            own.repeated(engine, state)
    own.finish()

    assert (steps(out), out.notes()) == (3, [])


def ask_only(own: Any) -> None:
    """Ask a model for something without gradients, after it was said not to be trained."""
    holder = object()
    own.evaluating()
    own.gradients_off(holder)
    own.gradients_on(holder, lambda _frame: True)


def test_what_is_asked_behind_a_training_is_its_evaluation_where_a_new_optimiser_is_made(
    own: Any, out: Recorded
) -> None:
    """Also the last one, by its line: a new model is trained from the start, and nobody has to say so."""
    engine = Engine()
    for _model in range(2):
        own.made()
        optimizer = Optimizer()
        for _batch in range(3):
            own.update(engine, optimizer)
        ask_only(own)
    own.finish()

    assert [span.kind for span in out.stream().spans.values()].count(wire.SpanKind.EVALUATE) == 2


def test_what_is_asked_before_an_update_by_a_known_optimiser_is_no_evaluation(own: Any, out: Recorded) -> None:
    """It may be a teacher."""
    engine, optimizer = Engine(), Optimizer()
    own.made()
    for _batch in range(3):
        ask_only(own)
        own.update(engine, optimizer)
    own.finish()

    assert wire.SpanKind.EVALUATE not in [span.kind for span in out.stream().spans.values()]


def in_thread(work: Callable[[], object], daemon: bool = False) -> None:
    """Run that on a thread of its own, to its end."""
    thread = threading.Thread(target=work, daemon=daemon)
    thread.start()
    thread.join()


def test_threads_in_turn_have_loops_of_their_own(own: Any, out: Recorded) -> None:
    """Python gives each the number of the one before; a loop ends with the last step of its thread."""
    engine, idents = Engine(), set()

    def train() -> None:
        optimizer = Optimizer()
        own.made()
        for _ in range(3):
            own.update(engine, optimizer)
        idents.add(threading.get_ident())

    for _ in range(3):
        in_thread(train)
        time.sleep(0.01)
    own.finish()

    fits = [span for span in out.stream().spans.values() if span.kind == wire.SpanKind.FIT]
    assert len(fits) == 3
    assert steps(out) == 9
    assert all(before.end is not None and before.end <= after.start for before, after in itertools.pairwise(fits))


@pytest.mark.parametrize("daemon", [True, False])
def test_a_daemon_has_no_loop_once_the_script_is_over(own: Any, out: Recorded, daemon: bool) -> None:
    """Python waits for other threads: these go on in the loop that they are in."""
    engine, optimizer = Engine(), Optimizer()
    begun, over = threading.Event(), threading.Event()

    def train() -> None:
        for turn in range(6):
            own.update(engine, optimizer)
            if turn == 2:
                begun.set()
                over.wait()

    thread = threading.Thread(target=train, daemon=daemon)
    thread.start()
    begun.wait()
    own.end_script()
    over.set()
    thread.join()
    own.finish()

    fits = [span for span in out.stream().spans.values() if span.kind == wire.SpanKind.FIT]
    assert (len(fits), steps(out)) == (1, 3 if daemon else 6)
    assert fits[0].end is not None


def test_nothing_is_a_loop_once_the_process_is_over(own: Any, out: Recorded) -> None:
    """What still runs is stopped by Python, and its loop would have no end."""
    own.finish()
    for _ in range(3):
        own.update(Engine(), Optimizer())

    assert steps(out) == 0
