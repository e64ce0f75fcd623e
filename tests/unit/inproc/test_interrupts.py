"""What the handler of a signal raises is the program's own, wherever it comes up."""

from __future__ import annotations

import functools
import signal
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from dlprof_probes.inproc import interrupts
from dlprof_probes.inproc.probe import Probe

from tests.unit.inproc.conftest import Recorded


@pytest.fixture(autouse=True)
def handler() -> Iterator[None]:
    """SIGUSR1 is handled as before afterwards."""
    before = signal.getsignal(signal.SIGUSR1)
    yield
    signal.signal(signal.SIGUSR1, before)


class Handler:
    """A handler of any kind."""

    def __call__(self, *_: Any) -> None:
        raise TimeoutError

    def method(self, *_: Any) -> None:
        """A bound one."""
        raise TimeoutError


@pytest.mark.parametrize(
    "made",
    [Handler(), Handler().method, functools.partial(Handler().method, 1), functools.partial(Handler())],
    ids=["object", "method", "partial-method", "partial-object"],
)
def test_an_exception_of_a_handler_is_known_by_its_frame(made: Callable[..., Any]) -> None:
    """Of whatever kind the handler is."""
    signal.signal(signal.SIGUSR1, made)

    with pytest.raises(TimeoutError) as raised:
        signal.raise_signal(signal.SIGUSR1)

    assert interrupts.is_from_handler(raised.value)


def test_an_exception_of_our_own_is_none_of_a_handler() -> None:
    """However many handlers there are."""
    signal.signal(signal.SIGUSR1, Handler())

    with pytest.raises(KeyError) as raised:
        dict[str, int]()["x"]

    assert not interrupts.is_from_handler(raised.value)


def test_a_hook_lets_through_what_a_handler_raises(probe: Probe, out: Recorded) -> None:
    """And works as before when it is called again."""
    signal.signal(signal.SIGUSR1, Handler())
    calls: list[int] = []

    def hook(number: int) -> None:
        calls.append(number)
        if number == 1:
            signal.raise_signal(signal.SIGUSR1)

    guarded = probe.guard(hook)
    with pytest.raises(TimeoutError):
        guarded(1)
    guarded(2)

    assert calls == [1, 2]
    assert out.notes() == []


def test_a_call_that_is_interrupted_where_it_begins_leaves_nothing_open(probe: Probe, out: Recorded) -> None:
    """The next call of the same function is recorded."""
    interrupted: list[int] = []

    class Model:
        """Has a method."""

        def save(self) -> None:
            """It is hooked."""

    def label(_args: Any) -> str:
        probe.recorder.begin("save", "inner")
        probe.loops.open(7, "fit")
        if not interrupted:
            interrupted.append(1)
            raise KeyboardInterrupt
        return "label"

    probe.span(Model, "save", "save", label)
    with pytest.raises(KeyboardInterrupt):
        Model().save()

    assert out.stack() == []
    assert probe.current_loop() is None


def test_a_call_that_is_interrupted_where_it_ends_is_ended(probe: Probe, out: Recorded) -> None:
    """Ctrl-C came while its end was recorded."""
    interrupted: list[int] = []

    class Model:
        """Has a method."""

        def save(self) -> None:
            """It is hooked."""

    def detail(_args: Any) -> None:
        if not interrupted:
            interrupted.append(1)
            raise KeyboardInterrupt

    probe.span(Model, "save", "save", detail=detail)
    with pytest.raises(KeyboardInterrupt):
        Model().save()

    assert out.stack() == []
    assert [end is not None for _, _, _, end in out.spans()] == [True]


@pytest.mark.parametrize("error", [MemoryError, RecursionError])
def test_want_of_memory_or_stack_does_not_switch_a_hook_off(
    probe: Probe, out: Recorded, error: type[Exception]
) -> None:
    """The call is missed, which is said once; the next one is recorded."""
    calls: list[int] = []

    def hook(number: int) -> int:
        calls.append(number)
        if number < 3:
            raise error
        return number

    guarded = probe.guard(hook)

    assert [guarded(1), guarded(2), guarded(3)] == [None, None, 3]
    assert len(out.notes()) == 1
