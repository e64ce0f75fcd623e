"""A diagnosis as one JSON object (`dlprof.diagnose/1`). Times are ns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from dlprof.analysis.findings.finding import Abstention, Diagnosis, Evidence, Finding
from dlprof.analysis.findings.rest import LoopLine, Rest
from dlprof.analysis.parity import Parity

SCHEMA = "dlprof.diagnose/1"


class FindingReport(Struct, frozen=True):
    """A cause, with the time that it costs."""

    slug: str
    claim: str
    at_stake_ns: int
    share: float
    interval_ns: tuple[int, int] | None
    basis: str
    file: str | None
    line: int | None
    evidence: tuple[Evidence, ...]
    next_step: str
    state: str
    remedy: str | None
    not_tried_because: str | None
    saving_ns: Mapping[str, int | None] | None
    title: str
    """What it is called for people."""
    confidence: float
    """How likely it is the right cause, by what was recorded: 0 to 1."""
    fix: str | None
    """The change: a unified diff, or a sentence; null: none is known."""
    ground: str
    """What tells that it is the cause: stated, repeated, model, compared, or only the place where time passed."""
    shared_ns: int
    """How much of the time at stake the finding `shared_with` would save, too, in another way (ns)."""
    shared_with: str | None


class DiagnosisReport(Struct, frozen=True, kw_only=True):
    """All that the text of a diagnosis says."""

    schema: str = SCHEMA
    runs: tuple[str, ...]
    comparable: bool | None
    """Whether the two runs did the same work; None for one run."""
    why_not: tuple[str, ...]
    whole_ns: int
    """What shares are of; `whole` says what that is."""
    explained_ns: int
    findings: tuple[FindingReport, ...]
    abstained: tuple[Abstention, ...]
    whole: str
    rest: tuple[Rest, ...] = ()
    """Of one run: what no finding explains, the largest places first."""
    lines: tuple[LoopLine, ...] = ()
    """Of one run: lines with a tenth of the wall time and more in the training, that no finding names."""
    doubts: tuple[str, ...] = ()
    """Of two runs: states of the machine that may explain a good part of the gap."""


def as_json(
    diagnosis: Diagnosis, runs: Sequence[str], parity: Parity | None, doubts: Sequence[str] = ()
) -> DiagnosisReport:
    """A diagnosis, for machines. See `dlprof help json`.

    Args:
        diagnosis: The diagnosis.
        runs: Names of the run, or of the slow and the fast one.
        parity: Whether the two did the same work; None for one run.
        doubts: What makes the gap between the two doubtful, a clause each.
    """
    return DiagnosisReport(
        runs=tuple(runs),
        comparable=parity.comparable if parity else None,
        why_not=parity.why_not if parity else (),
        doubts=tuple(doubts),
        whole_ns=diagnosis.whole_ns,
        explained_ns=diagnosis.explained_ns,
        findings=tuple(_finding(finding) for finding in diagnosis.findings),
        abstained=diagnosis.abstained,
        whole=diagnosis.whole,
        rest=diagnosis.rest,
        lines=diagnosis.lines,
    )


def _finding(finding: Finding) -> FindingReport:
    remedy = finding.remedy
    return FindingReport(
        slug=finding.slug,
        claim=finding.claim,
        at_stake_ns=finding.at_stake_ns,
        share=finding.share,
        interval_ns=finding.interval_ns,
        basis=finding.basis,
        file=finding.file,
        line=finding.line,
        evidence=finding.evidence,
        next_step=finding.next_step,
        state=finding.state,
        remedy=remedy.title if remedy else None,
        not_tried_because=finding.not_tried,
        saving_ns=finding.saving_ns or None,
        title=finding.heading,
        confidence=finding.confidence,
        fix=finding.fix,
        ground=finding.ground,
        shared_ns=finding.shared_ns,
        shared_with=finding.shared_with,
    )
