"""Runs in which nothing happened that could be explained."""

from __future__ import annotations

from typing import Any

import pytest

from dlprof.report import no_training
from dlprof.report.model import Exit, PhaseTime, Report
from tests.unit.report.reports import report
from tests.unit.runs import MS, S

PHASES = (PhaseTime("startup", None, 2 * S, 1), PhaseTime("dlprof", None, 2 * S, 1), PhaseTime("script", None, MS, 1))
FAILED = Exit(1, None, "ModuleNotFoundError", "train.py", 3)


def short(**changes: Any) -> Report:
    """A run whose script did nothing for long."""
    return report(**{"phases": PHASES, "unattributed_ns": 0, "exit": Exit(0, None), **changes})


def test_a_script_of_milliseconds_is_too_short() -> None:
    """However long it takes to start it."""
    assert no_training.too_short(short())
    assert no_training.shortness(short()) == "Too short to profile: 1.00 ms of its own, of 10.0 s."


@pytest.mark.parametrize(
    "changes",
    [
        {"exit": Exit(1, None)},
        {"exit": Exit(None, 9)},
        {"unattributed_ns": S},
        {"phases": ()},
        {"phases": (*PHASES, PhaseTime("fit", None, MS, 1))},
        {"source": "program"},
    ],
)
def test_others_are_not(changes: dict[str, Any]) -> None:
    """What failed, trained, worked for long, or was not seen from inside."""
    assert not no_training.too_short(short(**changes))


def test_a_script_that_failed_at_once_says_how() -> None:
    """Its exit code, and the line where that is known."""
    assert no_training.failed_at_once(short(exit=FAILED))
    assert no_training.failure(short(exit=Exit(3, None))) == (
        "The script ended with exit code 3 before anything was trained: there is nothing to explain."
    )


def test_a_script_that_failed_after_a_while_may_be_explained() -> None:
    """That took time."""
    assert not no_training.failed_at_once(short(exit=FAILED, unattributed_ns=2 * S))


def test_a_missing_module_leads_to_other_interpreters() -> None:
    """Other errors do not."""
    told = "It ran on dlprof's own Python; --python PATH or --backend NAME chooses another."

    assert no_training.missing_module(short(exit=FAILED), "dlprof's own Python") == told
    assert no_training.missing_module(short(exit=Exit(1, None, "SyntaxError")), "dlprof's own Python") == ""
