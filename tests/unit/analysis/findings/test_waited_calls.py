"""Calls of a foreign trace of Python functions that only wait."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.analysis.findings.diagnose import diagnose
from dlprof.analysis.findings.finding import Finding
from tests.unit.foreign import Event, foreign, kernel
from tests.unit.runs import MS


def function(name: str, begin: float, dur: float) -> Event:
    """A function of Python, as an operator of the host."""
    return Event("operator", name, begin, dur)


def waits(folder: Path, *events: Event) -> list[Finding]:
    """What is said of a trace that waits."""
    return [
        one for one in diagnose(foreign(folder / "r", *events, source="chrome")).findings if one.slug == "script-waits"
    ]


def test_a_pause_is_told_with_the_function_that_makes_it(tmp_path: Path) -> None:
    """80 of 100 ms in four pauses; another wait is shorter."""
    events = [function("work (a.py:2)", 0, 10)]
    for n in range(4):
        events += [function("rest (a.py:6)", 10 + 20 * n, 20), Event("wait", "time.sleep", 10 + 20 * n, 20)]
    (finding,) = waits(tmp_path, *events, function("end (a.py:9)", 90, 10), Event("wait", "Lock.acquire", 90, 1))

    assert finding.claim.startswith(
        "The program waits, longest in time.sleep (4 times), which rest (a.py:6) called: 81"
    )
    assert (finding.at_stake_ns, finding.file, finding.line, finding.is_question) == (81 * MS, "a.py", 6, True)


@pytest.mark.parametrize(
    "events",
    [
        (function("work (a.py:2)", 0, 90), Event("wait", "time.sleep", 90, 10)),
        (Event("operator", "mm", 0, 50), Event("wait", "synchronize", 50, 50)),
        (function("work (a.py:2)", 0, 50), Event("wait", "cudaDeviceSynchronize", 50, 50), kernel("sgemm", 40, 40)),
    ],
    ids=["short", "in no function", "beside a device"],
)
def test_waits_that_may_be_for_work_are_none(events: tuple[Event, ...], tmp_path: Path) -> None:
    """Of an engine, or of a device; or hardly any."""
    assert waits(tmp_path, *events) == []
