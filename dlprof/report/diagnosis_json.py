"""A diagnosis as one JSON object (`dlprof.diagnose/1`)."""

from __future__ import annotations

from typing import Any

from dlprof.analysis.findings.finding import Diagnosis, Finding
from dlprof.analysis.parity import Parity

SCHEMA = "dlprof.diagnose/1"


def as_json(found: Diagnosis, runs: list[str], parity: Parity | None) -> dict[str, Any]:
    """All that the text of a diagnosis says. See docs/json.md.

    Args:
        found: The diagnosis.
        runs: Names of the run, or of the slow and the fast one.
        parity: Whether the two did the same work; None for one run.
    """
    return {
        "schema": SCHEMA,
        "runs": runs,
        "comparable": parity.comparable if parity else None,
        "why_not": list(parity.why_not) if parity else [],
        "whole_ns": found.whole_ns,
        "explained_ns": found.explained_ns,
        "findings": [finding_json(finding) for finding in found.findings],
        "abstained": [{"slug": one.slug, "because": one.because} for one in found.abstained],
    }


def finding_json(finding: Finding) -> dict[str, Any]:
    """One finding."""
    remedy = finding.remedy
    return {
        "slug": finding.slug,
        "claim": finding.claim,
        "at_stake_ns": finding.at_stake_ns,
        "share": finding.share,
        "interval_ns": list(finding.interval_ns) if finding.interval_ns else None,
        "basis": finding.basis,
        "file": finding.file,
        "line": finding.line,
        "evidence": [
            {"what": one.what, "sql": one.sql, "rows": [dict(row) for row in one.rows]} for one in finding.evidence
        ],
        "next_step": finding.next_step,
        "state": finding.state,
        "remedy": remedy.title if remedy else None,
        "not_tried_because": finding.not_tried,
        "saving_ns": dict(finding.saving_ns) if finding.saving_ns else None,
    }
