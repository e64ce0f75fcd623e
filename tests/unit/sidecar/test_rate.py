"""Rates of what runs beside the process, under a budget."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest
from dlprof_probes.sidecar import rate
from dlprof_probes.sidecar.rate import FreeTime, Rate

S = 1_000_000_000


class Machine:
    """A clock that a test moves, and cores that are free as it says."""

    def __init__(self) -> None:
        self.ns = 0
        self.free: float | None = 0.0

    def looks(self, kept: Rate, *cpu_ns: int) -> list[float]:
        """Rates after some looks, ten seconds apart, at the CPU time so far."""
        rates = []
        for used in cpu_ns:
            self.ns += 10 * S
            kept.look(used)
            rates.append(round(kept.hz, 2))
        return rates


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    """One whose cores are all busy."""
    made = Machine()
    monkeypatch.setattr(rate, "time", SimpleNamespace(perf_counter_ns=lambda: made.ns))
    monkeypatch.setattr(FreeTime, "share", lambda _self: made.free)
    return made


def test_a_rate_is_lowered_to_what_it_may_cost(machine: Machine) -> None:
    """1 % of a core at 20 a second: 0.25 % allows five."""
    assert machine.looks(Rate(20, 0.0025), 0, S // 10) == [20, 5]


def test_while_a_core_is_free_nothing_is_lowered(machine: Machine) -> None:
    """Nobody waits for what takes no time from the run."""
    machine.free = 0.3

    assert machine.looks(Rate(20, 0.0025), 0, S // 10, S // 5) == [20, 20, 20]


def test_the_cheap_stays_as_it_is(machine: Machine) -> None:
    """0.2 % of a core is within 0.25 %."""
    assert machine.looks(Rate(20, 0.0025), 0, S // 50) == [20, 20]


def test_without_a_limit_a_rate_stays(machine: Machine) -> None:
    """Whatever it costs."""
    kept = Rate(20, None)

    assert machine.looks(kept, 0, S, 2 * S) == [20, 20, 20]
    assert kept.thinned() is None


def test_there_is_always_a_sample_a_second(machine: Machine) -> None:
    """Else nothing would be known."""
    assert machine.looks(Rate(20, 0.000025), 0, S, 2 * S, 3 * S, 4 * S) == [20, 5, 1.25, 1, 1]


def test_what_was_thinned_is_told_with_its_cost(machine: Machine) -> None:
    """Before it was lowered."""
    kept = Rate(20, 0.0025)
    machine.looks(kept, 0, S // 10)

    assert kept.thinned() == {
        "what": "samples per second", "from": 20, "to": 5.0, "why": "it took 1.0 % of a core while none was free"
    }  # fmt: skip


def test_free_time_is_a_share_of_what_has_passed() -> None:
    """Of the cores that this process may use."""
    free = FreeTime()
    time.sleep(0.05)
    share = free.share()

    assert share is None or 0 <= share <= 1


def test_a_rate_can_be_raised_once_there_is_more_to_see() -> None:
    """Not one that the user chose."""
    free, chosen = Rate(20, 0.0025), Rate(20, None)

    assert (free.raise_to(100), free.hz, free.raise_to(100)) == (True, 100, False)
    assert (chosen.raise_to(100), chosen.hz) == (False, 20)
