"""For how long training stands still until the device has given a value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from dlprof_probes.inproc.probe import Probe
from dlprof_probes.inproc.waits import LEAST_NS

from tests.unit.inproc.conftest import Clock, Recorded

US = 1000


@pytest.fixture
def training(probe: Probe) -> Any:
    """A loop of fit whose engine works on when a step has returned."""
    probe.waits.watch()
    return probe.loops.open(probe.recorder.begin("fit", "fit"), "fit")


def waits(out: Recorded) -> list[tuple[int, int | None]]:
    """Begin and end of each wait that is a span of its own."""
    return [(begin, end) for kind, _, begin, end in out.spans() if kind == "wait"]


def test_a_wait_in_a_step_is_part_of_its_record(probe: Probe, training: Any, out: Recorded) -> None:
    """There may be one in each of very many."""
    training.begin = 1000
    probe.waits.over(2000, 2000 + 300 * US)
    probe.waits.over(9000, 9000 + 200 * US)

    assert training.device_wait == 500 * US
    assert waits(out) == []


def test_a_wait_between_steps_is_a_span(probe: Probe, training: Any, out: Recorded) -> None:
    """Such as that for the logs of an epoch."""
    probe.waits.over(2000, 2000 + 300 * US)

    assert waits(out) == [(2000, 2000 + 300 * US)]


def test_a_value_that_is_there_is_no_wait(probe: Probe, training: Any, out: Recorded) -> None:
    """Reading it takes some microseconds."""
    probe.waits.over(2000, 2000 + LEAST_NS - 1)

    assert waits(out) == []


def test_waits_of_the_scripts_own_are_not_those_of_fit(probe: Probe, out: Recorded) -> None:
    """No loop runs."""
    probe.waits.over(2000, 2000 + 300 * US)

    assert waits(out) == []


def test_waiting_for_callbacks_is_a_wait_for_the_values_they_need(probe: Probe, training: Any, out: Recorded) -> None:
    """What they do with the last of them is work of callbacks."""
    training.valued = 2000 + 300 * US
    probe.waits.flushed(2000, 2000 + 400 * US)

    assert waits(out) == [(2000, 2000 + 300 * US)]


def test_callbacks_that_need_no_values_are_not_waited_for_with_the_device(
    probe: Probe, training: Any, out: Recorded
) -> None:
    """All values were known before."""
    training.valued = 1500
    probe.waits.flushed(2000, 2000 + 400 * US)

    assert waits(out) == []


def test_a_validation_first_waits_for_the_training(probe: Probe, training: Any, out: Recorded, now: Clock) -> None:
    """The device was busy with that for 300 us."""
    now.ns = 5000
    inner = probe.loops.open(probe.recorder.begin("evaluate", "evaluate"), "evaluate")
    training.valued = inner.opened + 300 * US
    probe.waits.evaluated(inner, inner.opened + 900 * US)

    assert waits(out) == [(inner.opened, inner.opened + 300 * US)]


def test_only_the_outermost_call_counts(probe: Probe, training: Any, out: Recorded, now: Clock) -> None:
    """A function that reads a value by another one that does."""

    def inner() -> str:
        now.ns += 300 * US
        return "value"

    read = wrapped(probe, inner, now)
    outer = wrapped(probe, read, now)
    begin = now.ns

    assert outer() == "value"
    assert waits(out) == [(begin, begin + 300 * US)]


def test_on_other_engines_nothing_is_looked_at(probe: Probe, out: Recorded, now: Clock) -> None:
    """Their steps are done when they return."""
    probe.loops.open(probe.recorder.begin("fit", "fit"), "fit")

    def slow() -> None:
        now.ns += 300 * US

    wrapped(probe, slow, now)()

    assert waits(out) == []


def test_what_fails_is_a_wait_too_and_fails(probe: Probe, training: Any, out: Recorded, now: Clock) -> None:
    """The next one counts again."""

    def failing() -> None:
        now.ns += 300 * US
        raise ValueError("deleted")

    read = wrapped(probe, failing, now)
    for _ in range(2):
        with pytest.raises(ValueError, match="deleted"):
            read()

    assert len(waits(out)) == 2


def wrapped(probe: Probe, function: Callable[[], Any], now: Clock) -> Callable[[], Any]:
    """A function that may wait for the device."""
    made: Callable[[], Any] = probe.wrappers.waiting(function, probe.waits, probe.waits.over, now)
    return made
