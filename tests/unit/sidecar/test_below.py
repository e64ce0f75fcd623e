"""Whether there is a Python below a process."""

from __future__ import annotations

import os
import subprocess
from types import SimpleNamespace

import pytest
from dlprof_probes.sidecar import below, proc
from dlprof_probes.sidecar.below import PythonBelow, is_python


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Processes below the one of number 1, and which of all are Pythons; a test moves the clock."""
    made = SimpleNamespace(ns=0, below=[], pythons={1}, last=b"1", apart=set(), spent_ns=0)

    def spent() -> int:
        made.spent_ns += made.look_ns
        return int(made.spent_ns)

    made.look_ns = 0
    monkeypatch.setattr(below, "time", SimpleNamespace(perf_counter_ns=lambda: made.ns, thread_time_ns=spent))
    monkeypatch.setattr(
        proc,
        "walk",
        lambda pid, _parent, tree, _most, but: tree.update(dict.fromkeys({pid, *made.below} - set(but))),
    )
    monkeypatch.setattr(proc, "last_pid", lambda: made.last)
    monkeypatch.setattr(below, "is_python", lambda pid: pid in made.pythons)
    return made


def look(machine: SimpleNamespace, seen: PythonBelow) -> bool:
    """A look, half a second after the last."""
    machine.ns += 500_000_000
    return seen.has_come()


def test_a_python_has_come_when_it_is_seen_twice(machine: SimpleNamespace) -> None:
    """A fork that becomes another program was a Python for a moment."""
    seen = PythonBelow(1)
    machine.below, machine.pythons, machine.last = [2, 3], {1, 2, 3}, b"3"
    first = look(machine, seen)
    machine.pythons = {1, 2}

    assert (first, look(machine, seen)) == (False, True)


def test_another_program_is_none(machine: SimpleNamespace) -> None:
    """A compiler, say."""
    seen = PythonBelow(1)
    machine.below, machine.last = [2], b"2"

    assert (look(machine, seen), look(machine, seen)) == (False, False)


def test_nobody_looks_where_nothing_was_started(machine: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    """The number that the kernel gave last says that."""
    seen = PythonBelow(1)
    look(machine, seen)
    monkeypatch.delattr(proc, "walk")

    assert look(machine, seen) is False


def test_looks_are_half_a_second_apart(machine: SimpleNamespace) -> None:
    """However often it is asked."""
    seen = PythonBelow(1)
    machine.below, machine.pythons = [2], {1, 2}
    look(machine, seen)

    assert seen.has_come() is False


@pytest.mark.parametrize(
    ("pythons", "needed"),
    [({1}, False), ({1, 2}, True), (set(), True)],
    ids=["it alone", "one below it", "no Python itself"],
)
def test_what_a_look_at_the_process_alone_would_miss(machine: SimpleNamespace, pythons: set[int], needed: bool) -> None:
    """Another Python, or the only one."""
    machine.below, machine.pythons = [2], pythons

    assert PythonBelow(1).is_needed() is needed


def test_looks_that_take_long_are_fewer(machine: SimpleNamespace) -> None:
    """A tree of many processes: 2 ms a look, and 2 s until the next one."""
    machine.look_ns = 2_000_000
    machine.below, machine.pythons = [2], {1, 2}
    seen = PythonBelow(1)
    told = [look(machine, seen) for _ in range(5)]

    assert told == [False, False, False, False, True]


def test_one_that_is_sampled_on_its_own_is_not_looked_for(machine: SimpleNamespace) -> None:
    """A rank that is followed."""
    seen = PythonBelow(1, lambda: {2})
    machine.below, machine.pythons = [2], {1, 2}

    assert (look(machine, seen), look(machine, seen), seen.is_needed()) == (False, False, False)


def test_all_are_apart_when_the_last_of_them_is(machine: SimpleNamespace) -> None:
    """While one has not loaded its engine yet, it is looked at from here."""
    seen = PythonBelow(1, lambda: machine.apart)
    machine.below, machine.pythons = [2, 3], {1, 2, 3}
    told = []
    for machine.apart in (set(), {2}, {2, 3}):
        machine.ns += 500_000_000
        told.append(seen.are_all_apart())

    assert told == [False, False, True]


def test_a_python_is_known_by_its_program() -> None:
    """This is one; `sleep` is none, nor what is gone."""
    with subprocess.Popen(["/bin/sleep", "60"]) as other:
        told = (is_python(os.getpid()), is_python(other.pid))
        other.kill()

    assert (told, is_python(other.pid)) == ((True, False), False)
