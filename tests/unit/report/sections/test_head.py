"""How a report begins and ends."""

from __future__ import annotations

from typing import Any

import pytest

from dlprof.report.model import Exit, PhaseTime, Source
from dlprof.report.sections import head
from dlprof.schema.manifest import Machine
from tests.unit.report.reports import printed, process_use, report, rows
from tests.unit.runs import S

PHASES = (PhaseTime("fit", None, S, 1),)


def test_the_head_says_what_was_run_on_what() -> None:
    """Script, backend, versions, machine, end."""
    assert printed(head.traced, report(arguments=("--epochs", "3")))[:3] == [
        "train.py --epochs 3  on torch",
        "Keras 3.15.0, torch 2.13, Python 3.11.7; 2 cores, x",
        "run r; exit code 0; wall time 10.0 s",
    ]


@pytest.mark.parametrize(
    ("changes", "keras"),
    [
        ({}, "Keras 3.15.0"),
        ({"keras_version": None, "versions": {"keras": "2.2.4"}}, "Keras 2.2.4 installed"),
        ({"keras_version": None, "versions": {"keras": "3.15.1"}, "phases": PHASES}, "no Keras"),
        ({"keras_version": None}, "no Keras"),
        ({"keras_version": None, "versions": {"keras": "3.0"}, "backend": "native-torch"}, "no Keras"),
        ({"keras_version": None, "versions": {"keras": "3.0"}, "backend": None}, "no Keras"),
        ({"keras_version": None, "source": "program"}, "run from the outside"),
    ],
)
def test_the_version_of_keras_is_its_own_word_or_its_packages(changes: dict[str, Any], keras: str) -> None:
    """A backend without Keras may have a Keras beside it: that did not train."""
    assert printed(head.traced, report(**changes))[1].partition(", ")[0] == keras


def test_a_script_without_keras_is_on_its_engine() -> None:
    """There is no backend where there is no Keras."""
    alone = {"backend": None, "keras_version": None}

    assert printed(head.traced, report(**alone))[0] == "train.py  on torch"
    assert printed(head.traced, report(**alone, engine=None))[0] == "train.py  on no engine that dlprof knows"


def test_a_program_is_on_no_backend() -> None:
    """Nothing is known of what is inside."""
    assert printed(head.traced, report(source="program", script="julia"))[0] == "julia"


@pytest.mark.parametrize(
    ("state", "end", "text"),
    [
        ("finished", Exit(3, None), "exit code 3"),
        ("finished", Exit(None, 9), "killed (SIGKILL)"),
        ("interrupted", Exit(130, None), "exit code 130, interrupted"),
        ("running", Exit(None, None), "how it ended is not known: dlprof was killed"),
        ("finished", Exit(None, None), "how it ended is not known"),
    ],
)
def test_how_it_ended_is_said(state: str, end: Exit, text: str) -> None:
    """By code or by signal."""
    assert head.ended(report(state=state, exit=end)) == text


def test_one_that_outlived_the_program_has_not_ended() -> None:
    """It was followed; nobody knows how it ends."""
    told = report(exit=Exit(None, None), process=process_use(went_on=True))

    assert head.ended(told) == "it still ran when the program was over"


def test_a_run_of_foreign_traces_begins_with_its_files() -> None:
    """Four by name; each with its format, its events and where it begins."""
    sources = tuple(Source(f"{name}.json", "kineto", 1234, 0, None) for name in "abcdef")

    lines = printed(head.imported, report(state="imported", sources=sources, window_starts={"a.json": S}))

    assert lines[0] == "a.json, b.json, c.json, d.json and 2 more"
    assert lines[1] == "imported as r; 10.0 s from the first to the last event"
    assert rows(lines[3:6]) == [
        ["file", "format", "events", "begins at"],
        ["a.json", "kineto", "1,234", "1.00 s"],
        ["b.json", "kineto", "1,234", "-"],
    ]


def test_a_file_without_events_has_a_dash() -> None:
    """Not 0: they were not counted."""
    lines = printed(head.imported, report(state="imported", sources=(Source("a.csv", "nvidia-smi", None, 0, None),)))

    assert rows(lines[-1:]) == [["a.csv", "nvidia-smi", "-", "-"]]


def test_the_end_names_commands_that_tell_more() -> None:
    """With the name of the run."""
    (line,) = printed(head.next_steps, report())

    assert line == 'more: dlprof lines r   dlprof sql r "SELECT * FROM steps"   dlprof report r --json'


@pytest.mark.parametrize(
    ("machine", "text"),
    [
        (Machine(cores=2, usable_cores=2), "2 cores"),
        (Machine(cores=1), "1 core"),
        (Machine(cores=64, usable_cores=2), "64 cores, of which it may use 2"),
        (Machine(cores=64, usable_cores=64, quota_cores=1.5), "64 cores, of which it may use 1.5"),
        (Machine(cores=2, usable_cores=2, quota_cores=4.0), "2 cores"),
        (Machine(), "an unknown number of cores"),
    ],
)
def test_cores_that_a_process_may_not_use_are_told(machine: Machine, text: str) -> None:
    """By its affinity, or by the quota of a container."""
    assert head.cores(machine) == text
