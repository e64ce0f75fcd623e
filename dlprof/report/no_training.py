"""Runs that ended before there was anything to explain: a script that failed at once, or took a few milliseconds."""

from __future__ import annotations

from dlprof.report.model import Report
from dlprof.schema.vocabulary import Phase
from dlprof.units import duration

_AT_ONCE_NS = 1_000_000_000
"""A script that failed with less work of its own than this has nothing to explain."""
_SHORT_NS = 100_000_000
"""Of less work than this a profile says nothing: starting and ending a process take as long."""
_NOT_ITS_OWN = (Phase.STARTUP, Phase.TEARDOWN, Phase.DLPROF)
_TRAINED = (Phase.FIT, Phase.EVALUATE, Phase.PREDICT)
_NO_MODULE = "ModuleNotFoundError"


def failed_at_once(report: Report) -> bool:
    """Whether the script ended with an error, at once, before anything was trained."""
    own = _own_ns(report)
    return bool(report.exit.code) and own is not None and own < _AT_ONCE_NS


def too_short(report: Report) -> bool:
    """Whether the script got to its end, and did next to nothing."""
    own = _own_ns(report)
    return report.exit.code == 0 and own is not None and own < _SHORT_NS


def failure(report: Report) -> str:
    """How the script ended; Python has printed the rest."""
    end = report.exit
    place = f" at {end.file}:{end.line}" if end.file and end.line else ""
    error = f" ({end.exception}{place})" if end.exception else ""
    return (
        f"The script ended with exit code {end.code}{error} before anything was trained: there is nothing to explain."
    )


def shortness(report: Report) -> str:
    """How little the script did."""
    return f"Too short to profile: {duration(_own_ns(report))} of its own, of {duration(report.wall_ns)}."


def missing_module(report: Report, ran_on: str) -> str:
    """What to do where a module is missing; empty: none is.

    Args:
        report: The run.
        ran_on: The interpreter, for people.
    """
    if report.exit.exception != _NO_MODULE or _own_ns(report) is None:
        return ""
    return f"It ran on {ran_on}; --python PATH or --backend NAME chooses another."


def _own_ns(report: Report) -> int | None:
    """What the script did itself; None: it trained, or that is not known."""
    unknown = report.outside or report.attached or report.imported or report.unrecorded or report.lost_tables
    if unknown or not report.phases or report.steps or any(phase.name in _TRAINED for phase in report.phases):
        return None
    whole = (phase for phase in report.phases if phase.parent is None and phase.name not in _NOT_ITS_OWN)
    return sum(phase.dur_ns for phase in whole) + max(0, report.unattributed_ns or 0)
