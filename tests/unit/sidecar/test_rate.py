"""Rates of what runs beside the process, under a budget."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from dlprof_probes.sidecar import proc, rate
from dlprof_probes.sidecar.rate import BusyCores, Rate

S = 1_000_000_000


class Machine:
    """A clock that a test moves, and cores that are busy as it says."""

    def __init__(self) -> None:
        self.ns = 0
        self.busy: float | None = 1.0

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
    monkeypatch.setattr(BusyCores, "chance", lambda _self, _own: made.busy)
    return made


def test_a_rate_is_lowered_to_what_it_may_cost(machine: Machine) -> None:
    """1 % of a core at 20 a second: 0.25 % allows five."""
    assert machine.looks(Rate(20, 0.0025), 0, S // 10) == [20, 5]


def test_while_a_core_is_free_nothing_is_lowered(machine: Machine) -> None:
    """Nobody waits for what takes no time from the run."""
    machine.busy = 0.0

    assert machine.looks(Rate(20, 0.0025), 0, S // 10, S // 5) == [20, 20, 20]


def test_what_is_waited_for_half_of_the_time_costs_half(machine: Machine) -> None:
    """1 % of a core, 0.5 % of the run: ten a second cost 0.25 %."""
    machine.busy = 0.5

    assert machine.looks(Rate(20, 0.0025), 0, S // 10) == [20, 10]


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


def test_what_can_be_sampled_less_often_is(machine: Machine) -> None:
    """Down to the rate that its probe has for the least."""
    assert machine.looks(Rate(20, 0.000025, 0.5), 0, S, 2 * S, 3 * S, 4 * S) == [20, 5, 1.25, 0.5, 0.5]


def test_what_was_thinned_is_told_with_its_cost(machine: Machine) -> None:
    """Before it was lowered."""
    kept = Rate(20, 0.0025)
    machine.looks(kept, 0, S // 10)

    assert kept.thinned() == {
        "what": "samples per second",
        "from": 20,
        "to": 5.0,
        "why": "it took 1.0 % of a core, and 1.0 % from the run: few were free",
    }


def stat(*cores: tuple[int, int]) -> str:
    """`/proc/stat` of cores with so many busy and idle ticks."""
    return "".join(f"cpu{number} {busy} 0 0 {idle} 0 0 0 0 0 0\n" for number, (busy, idle) in enumerate(cores))


def chance_of(monkeypatch: pytest.MonkeyPatch, own: float, *cores: tuple[int, int]) -> float | None:
    """What is said of cores that were busy and idle for so many ticks."""
    read = iter([stat(*((100, 50) for _ in cores)), stat(*((100 + busy, 50 + idle) for busy, idle in cores))])
    monkeypatch.setattr(proc, "read", lambda _path: next(read).encode())
    monkeypatch.setattr("os.sched_getaffinity", lambda _pid: set(range(len(cores))))
    return BusyCores().chance(own)


def test_cores_are_all_busy_as_often_as_chance_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """80 % and 50 %: 40 %."""
    assert chance_of(monkeypatch, 0.0, (80, 20), (50, 50)) == pytest.approx(0.4)


def test_the_probe_itself_keeps_no_core_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing but the probe, which took 10 %, was on the second core."""
    assert chance_of(monkeypatch, 0.1, (100, 0), (10, 90)) == 0.0


def test_where_no_time_has_passed_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ticks are 10 ms."""
    assert chance_of(monkeypatch, 0.0, (0, 0), (0, 0)) is None


def test_a_rate_can_be_raised_once_there_is_more_to_see() -> None:
    """Not one that the user chose."""
    free, chosen = Rate(20, 0.0025), Rate(20, None)

    assert (free.raise_to(100), free.hz, free.raise_to(100)) == (True, 100, False)
    assert (chosen.raise_to(100), chosen.hz) == (False, 20)


def test_without_proc_nobody_knows_how_busy_cores_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rate stays as it is then."""
    monkeypatch.setattr(proc, "read", lambda _path: b"")

    assert BusyCores().chance(0.5) is None
