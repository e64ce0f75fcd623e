"""Hooks that are taken off while all that runs is known without them: when they are off, and that they come back."""

from __future__ import annotations

from typing import Any

import pytest
from dlprof_probes.inproc import lifted_hooks
from dlprof_probes.inproc.lifted_hooks import LiftedHooks

ME, OTHER = 1, 2


class Owner:
    """A class with a method that is hooked."""

    def called(self) -> str:
        return "bare"


def hook(_self: Any) -> str:
    """The hooked method."""
    return "hooked"


def programs_own(_self: Any) -> str:
    """What the program puts in its place."""
    return "the program's"


@pytest.fixture
def current() -> dict[int, object]:
    """Loops by thread."""
    return {}


@pytest.fixture
def lifted(current: dict[int, object], monkeypatch: pytest.MonkeyPatch) -> LiftedHooks:
    """One hook, which is on."""
    made = LiftedHooks(current)
    original = vars(Owner)["called"]
    monkeypatch.setattr(Owner, "called", hook)
    made.add(Owner, "called", original)
    return made


def test_a_hook_is_off_until_it_is_put_back(lifted: LiftedHooks) -> None:
    """The owner has its own method meanwhile."""
    lifted.take_off({ME})
    between = Owner().called()
    lifted.put_back()

    assert (between, Owner().called(), lifted.are_off) == ("bare", "hooked", False)


def test_a_loop_on_another_thread_keeps_them_on(lifted: LiftedHooks, current: dict[int, object]) -> None:
    """It is told by them."""
    current[OTHER] = object()

    lifted.take_off({ME})

    assert (Owner().called(), lifted.are_off) == ("hooked", False)


def test_a_loop_that_is_known_without_them_does_not(lifted: LiftedHooks, current: dict[int, object]) -> None:
    """Nor does a thread whose loop is over."""
    current[ME], current[OTHER] = object(), None

    lifted.take_off({ME})

    assert Owner().called() == "bare"


def test_what_the_program_puts_in_the_place_of_a_hook_stays(lifted: LiftedHooks) -> None:
    """It may call on to the hook, or not: that is its own affair."""
    Owner.called = programs_own  # type: ignore[method-assign,assignment]  # the fixture puts it back

    lifted.take_off({ME})

    assert Owner().called() == "the program's"


def test_what_the_program_puts_in_the_place_of_the_original_stays(lifted: LiftedHooks) -> None:
    """The hook does not come back then: it would hide that."""
    lifted.take_off({ME})
    Owner.called = programs_own  # type: ignore[method-assign,assignment]

    lifted.put_back()

    assert Owner().called() == "the program's"


def test_they_are_not_taken_off_for_ever(lifted: LiftedHooks) -> None:
    """Each time gives a class of Python new versions, of which there are only so many."""
    lifted._left = 1
    lifted.take_off({ME})
    lifted.put_back()

    lifted.take_off({ME})

    assert (Owner().called(), lifted_hooks.MOST) == ("hooked", 400)


def test_a_handler_that_begins_a_loop_in_the_middle_has_all_of_them(lifted: LiftedHooks) -> None:
    """What was still to be taken off stays on."""

    class Interrupting(type):
        def __setattr__(cls, name: str, value: object) -> None:
            super().__setattr__(name, value)
            if lifted.are_off:
                lifted.put_back()

    class Second(metaclass=Interrupting):
        called = hook

    class Third:
        called = hook

    lifted.add(Second, "called", programs_own)
    lifted.add(Third, "called", programs_own)

    lifted.take_off({ME})

    assert (Owner().called(), Second().called(), Third().called()) == ("hooked", "hooked", "hooked")
