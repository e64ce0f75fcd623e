"""What a diagnosis is made of: claims of the rules, and the findings that are left when none counts a time twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Remedy:
    """A change that needs no change to the user's files, so that dlprof can try it.

    Attributes:
        title: What is changed, for people.
        environment: Environment variables to set; None: to take away.
        overrides: Settings that the in-process probe gives to Keras or to the engine instead of the script's own;
            see `dlprof_probes.inproc.overrides`.
    """

    title: str
    environment: Mapping[str, str | None] = field(default_factory=dict)
    overrides: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Claim:
    """What a rule says of a run, before it is known how much of its time is another rule's.

    Attributes:
        text: One sentence; `{time}` and `{share}` stand for the time at stake and its share.
        takes: Leaf of the tree (`dlprof.analysis.breakdown`) to time that would be saved there (ns).
        evidence: (what it shows, SQL that gives the rows).
        next_step: What the user should do.
        place: File and line of the user's code; None: there is no such line.
        remedy: What dlprof can try; None: nothing that leaves the user's files alone.
        basis: How the time at stake was got: `measured`, or `estimated` where a model stands between.
    """

    text: str
    takes: Mapping[str, int]
    evidence: Sequence[tuple[str, str]]
    next_step: str
    place: tuple[str, int] | None = None
    remedy: Remedy | None = None
    basis: str = "measured"


class Abstain(Exception):  # noqa: N818  (no error: an answer)
    """A rule cannot tell, because a signal is missing; the text says which."""


@dataclass(frozen=True)
class Evidence:
    """Rows that show what a finding claims; `sql` gives them again (`dlprof sql RUN`)."""

    what: str
    sql: str
    rows: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True)
class Finding:
    """A cause, with the time that it costs.

    Attributes:
        slug: Its name, stable.
        claim: One sentence with figures.
        at_stake_ns: Time that would be saved (ns).
        share: Of the wall time, or of the gap where two runs are compared.
        interval_ns: 95 % interval of the time at stake; None where it is not known.
        basis: `measured` or `estimated`.
        file, line: The user's line, or None.
        evidence: What shows it.
        next_step: What the user should do.
        state: `untested`, `confirmed` or `refuted`.
        remedy: What dlprof can try, or None.
        saving_ns: `predicted` and `achieved` saving, once it was tried.
        not_tried: Why the remedy could not be tried, where it was to be.
    """

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
    state: str = "untested"
    remedy: Remedy | None = None
    saving_ns: Mapping[str, int | None] | None = None
    not_tried: str | None = None


@dataclass(frozen=True)
class Abstention:
    """A rule that could not tell, and why."""

    slug: str
    because: str


@dataclass(frozen=True)
class Diagnosis:
    """All findings of a run, or of why one run is slower than another; those with most time at stake first.

    Attributes:
        whole_ns: What shares are of: the wall time, or the gap.
        explained_ns: Sum of all times at stake; no time is counted twice.
    """

    findings: tuple[Finding, ...]
    abstained: tuple[Abstention, ...]
    whole_ns: int

    @property
    def explained_ns(self) -> int:
        """Sum of all times at stake (ns)."""
        return sum(finding.at_stake_ns for finding in self.findings)
