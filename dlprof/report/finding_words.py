"""What a finding is called for people, wherever it is shown."""

from __future__ import annotations

from dlprof.analysis.findings.finding import Finding
from dlprof.units import duration


def heading(title: str, *, is_question: bool) -> str:
    """What a finding is called: one that is not sure enough is asked."""
    return f"Perhaps: {title}" if is_question else title


def sureness(finding: Finding) -> str:
    """How sure a finding is, as a clause, and what causes like it cost where one run tells it; empty: it is a fact."""
    if finding.confidence >= 1:
        return ""
    return f"confidence {100 * finding.confidence:.0f} %{_of_its_like(finding)}"


def _of_its_like(finding: Finding) -> str:
    """Between what the cost is, where one run says it; empty where runs do, it is only asked, or nothing is known."""
    if finding.interval_ns is None or finding.interval_of_runs or finding.is_question:
        return ""
    low, high = (duration(ns) for ns in finding.interval_ns)
    return f"; nine in ten like it cost {low} to {high}"
