"""What a traced process is told of signals, and how often it is looked at."""

from __future__ import annotations

import os
import signal

import pytest

from dlprof.launch import process
from dlprof.launch.process import Pace
from dlprof.launch.signals import Arrived


@pytest.mark.parametrize(
    ("number", "by_process", "leader", "to_all"),
    [
        (signal.SIGINT, False, False, True),
        (signal.SIGINT, False, True, True),
        (signal.SIGINT, True, False, False),
        (signal.SIGHUP, False, False, True),
        (signal.SIGHUP, False, True, False),
        (signal.SIGALRM, False, False, False),
    ],
)
def test_the_terminal_sends_to_its_group_but_tells_its_end_to_the_leader_of_the_session(
    number: int, by_process: bool, leader: bool, to_all: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What came to dlprof alone is passed on."""
    monkeypatch.setattr(os, "getsid", lambda _pid: os.getpid() if leader else 1)

    assert process._went_to_all(Arrived(int(number), by_process, 0)) is to_all


def test_a_death_by_a_signal_is_a_code_to_a_shell() -> None:
    """128 and the signal's number."""
    ends = [
        process.Outcome(3, None, 0, 1, 0, 0, 0, {}, killed=False),
        process.Outcome(None, 15, 0, 1, 0, 0, 0, {}, True),
    ]

    assert [end.shell_code for end in ends] == [3, 143]


@pytest.mark.parametrize(
    ("costs_ms", "waits_s"),
    [((0.2, 0.2), (0.1, 0.1)), ((1.0, 1.0), (0.1, 0.4)), ((90, 0.2), (0.1, 0.1)), ((90, 90), (0.1, 0.5))],
    ids=["cheap", "dear", "once", "never slower than this"],
)
def test_ticks_are_fewer_where_each_takes_long(costs_ms: tuple[float, ...], waits_s: tuple[float, ...]) -> None:
    """So that together they take no more than a quarter of a hundredth of a core."""
    pace = Pace(0.1)

    assert tuple(pace.after(cost / 1e3) for cost in costs_ms) == pytest.approx(waits_s)
