"""The findings of a diagnosis as a report has them."""

from __future__ import annotations

from dlprof.analysis.findings.finding import Diagnosis
from dlprof.report.model import Cause


def of(diagnosis: Diagnosis) -> tuple[Cause, ...]:
    """Its findings, without the rows behind them."""
    return tuple(
        Cause(
            finding.slug,
            finding.heading,
            finding.claim,
            finding.at_stake_ns,
            finding.share,
            finding.basis,
            finding.file,
            finding.line,
            finding.next_step,
            finding.confidence,
            finding.is_question,
        )
        for finding in diagnosis.findings
    )
