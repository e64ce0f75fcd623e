"""Stretches of a foreign trace in which no operator ran."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings.diagnose import diagnose
from dlprof.analysis.findings.finding import Diagnosis
from tests.unit.foreign import Event, foreign, kernel, marked
from tests.unit.runs import MS, table

LOADS = {"file": "t.py", "line": 6, "function": "load", "ns": 45 * MS, "inner": "sleep", "inner_ns": 44 * MS}


def trace(
    folder: Path, idle: float, *more: Event, source: str = "kineto", facts: dict[str, Any] | None = None
) -> Diagnosis:
    """A trace of 100 ms with ten steps, in front of each of which nothing runs for such a share of its 10 ms."""
    events = list(more)
    for at in range(0, 100, 10):
        gap = 10 * idle
        events += [marked("train_step", at + gap, 10 - gap), Event("operator", "mm", at + gap, 10 - gap)]
    run = foreign(folder / "r", *events, marked("begin", 0, 0.001), source=source)
    rows = run.rows("sources")
    run._tables["sources"] = table("sources", [{**row, "facts": json.dumps(facts or {})} for row in rows])
    return diagnose(run)


def told(diagnosis: Diagnosis) -> list[tuple[str, int, bool]]:
    """Heading, time at stake and whether it is asked, of what is said of such stretches."""
    return [
        (one.heading, one.at_stake_ns, one.is_question) for one in diagnosis.findings if one.slug == "python-overhead"
    ]


def test_where_nothing_tells_what_the_program_did_that_is_asked(tmp_path: Path) -> None:
    """Half of the trace."""
    assert told(trace(tmp_path, 0.5)) == [("No operator ran for a large part of the trace", 50 * MS, True)]


def test_a_function_of_the_scripts_that_the_trace_names_is_told(tmp_path: Path) -> None:
    """By its name and its line, with the call that takes most of it."""
    diagnosis = trace(tmp_path, 0.5, facts={"python_functions": [LOADS]})
    (finding,) = [one for one in diagnosis.findings if one.slug == "python-overhead"]

    assert finding.claim.startswith("No operator ran while the script was in load (t.py:6), 44.0 ms of it in sleep: 45")
    assert (finding.at_stake_ns, finding.file, finding.line, finding.is_question) == (45 * MS, "t.py", 6, True)


def test_functions_of_a_trace_of_xla_are_told_with_all_that_they_call(tmp_path: Path) -> None:
    """It names no line by itself; no more is taken than nothing ran for."""
    facts = {"own_with_callees": [{"function": "load (t.py:6)", "total_ns": 90 * MS}]}

    assert told(trace(tmp_path, 0.5, source="xspace", facts=facts)) == [
        ("The script was long in a function of its own", 50 * MS, True)
    ]
    assert told(trace(tmp_path / "other", 0.1, facts=facts)) == []


@pytest.mark.parametrize(("idle", "more"), [(0.2, ()), (0.5, (kernel("sgemm", 0, 40),))], ids=["short", "a device"])
def test_short_stretches_and_gaps_of_a_device_are_none(idle: float, more: tuple[Event, ...], tmp_path: Path) -> None:
    """Why a device was idle is a rule's of its own."""
    assert told(trace(tmp_path, idle, *more)) == []


def test_functions_that_hardly_count_are_not_blamed_for_the_rest(tmp_path: Path) -> None:
    """One is known, for 5 ms of 50."""
    assert told(trace(tmp_path, 0.5, facts={"python_functions": [{**LOADS, "ns": 5 * MS}]})) == []


def test_waits_that_a_trace_does_not_tell_are_not_judged(tmp_path: Path) -> None:
    """There may have been some."""
    because = {one.slug: one.because for one in trace(tmp_path, 0.5).abstained}

    assert because["input-bound"].startswith("the trace tells of no wait for a batch")


def test_a_process_without_operators_does_not_wait_for_those_of_another(tmp_path: Path) -> None:
    """False before: an export of dlprof's own, whose steps and operators are two processes."""
    run = foreign(tmp_path / "r", marked("train_step", 0, 40), marked("train_step", 50, 50))

    assert told(diagnose(run)) == []
