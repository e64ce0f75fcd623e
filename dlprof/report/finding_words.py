"""What a finding is called for people, wherever it is shown."""

from __future__ import annotations

from dlprof.analysis.findings.finding import FLOOR
from dlprof.schema.vocabulary import FindingState
from dlprof.units import duration

OWN = "profiler-overhead"
"""What dlprof itself costs is no answer to where the time of a script goes; it is among the findings."""


def heading(title: str, *, is_question: bool) -> str:
    """What a finding is called: one that is not sure enough is asked."""
    return f"Perhaps: {title}" if is_question else title


def sureness(confidence: float, cost_ns: tuple[int, int] | None) -> str:
    """How sure a finding is, as a clause; empty: it is a fact.

    Args:
        confidence: 0 to 1.
        cost_ns: Between what nine in ten causes like it cost, where one run tells it. Of a question nothing is said.
    """
    if confidence >= 1:
        return ""
    text = f"confidence {100 * confidence:.0f} %"
    if cost_ns is None or confidence < FLOOR:
        return text
    return f"{text}; nine in ten like it cost {duration(cost_ns[0])} to {duration(cost_ns[1])}"


def state(told: str) -> str:
    """What came of a trial, for people."""
    return "partly confirmed" if told == FindingState.PARTLY else told
