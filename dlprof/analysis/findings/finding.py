"""What a diagnosis is made of: claims of the rules, and the findings that are left when none counts a time twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Protocol

from dlprof.analysis.findings.rest import LoopLine, Rest
from dlprof.analysis.findings.title import Title, of_slug
from dlprof.schema.tree_paths import TreePath
from dlprof.schema.vocabulary import Basis, FindingState, Ground, Whole
from dlprof.units import ALL, duration


class Rank(IntEnum):
    """In what order findings are told."""

    ENDED_THE_RUN = 0
    """First of all."""
    BY_TIME = 1
    """By the time that they may be expected to save (`Finding.expected_ns`); below a little they are not told."""
    WITHOUT_TIME = 2
    """Behind those, whether or not they cost time."""


FLOOR = 0.5
"""A finding that is less sure is told as a question."""
LEAST_TRIED = 0.05
"""Findings of a lesser share are not tried: it would take long to see them in the noise."""
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "TF_NUM_INTRAOP_THREADS")
"""Environment variables that set an engine's number of threads."""
SourceLine = tuple[str, int]
"""File and line of the user's code."""


def thread_variables(count: int) -> dict[str, str | None]:
    """Variables for so many computing threads: libraries read them before the engine can be told."""
    return dict.fromkeys(_THREAD_VARIABLES, str(count))


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
class AtStake:
    """What a rule may claim, once the rules before it had theirs.

    Attributes:
        ns: The time (ns).
        whole_ns: What shares are of (ns).
        whole: What that is.
    """

    ns: int
    whole_ns: int
    whole: Whole

    @property
    def share(self) -> float:
        """Its share of the whole."""
        return self.ns / self.whole_ns

    @property
    def time_text(self) -> str:
        """`1.20 s`."""
        return duration(self.ns)

    @property
    def share_text(self) -> str:
        """`12 % of the wall time`; of a gap that other parts make smaller, which may be more than all of it."""
        if self.share > ALL:
            return f"{self.share:.1f} x {self.whole} (other parts are shorter, and make it smaller)"
        return f"{100 * self.share:.0f} % of {self.whole}"


@dataclass(frozen=True)
class Sentence:
    """What a claim says around the time at stake, which is known only when all rules before have theirs.

    It holds names of the user's files and functions, so nothing in it is ever taken for a template.

    Attributes:
        before: Up to the time at stake, without a space at its end.
        after: What follows the share.
        more: Whether the time is what one run of a pair spends more.
    """

    before: str
    after: str = "."
    more: bool = False

    def tell(self, at_stake: AtStake) -> str:
        """All of it, such as: The model was saved 3 times: 1.20 s, 12 % of the wall time."""
        return f"{self.before} {at_stake.time_text}{' more' * self.more}, {at_stake.share_text}{self.after}"


@dataclass(frozen=True)
class Statement(Sentence):
    """What a claim says that costs no time, such as of memory: all of it is `before`."""

    def tell(self, at_stake: AtStake) -> str:  # noqa: ARG002  (no time is at stake)
        """All of it."""
        return f"{self.before}{self.after}"


@dataclass(frozen=True)
class Query:
    """Evidence of a claim, before it is asked for: what it shows, and the SQL that gives the rows."""

    shows: str
    sql: str


@dataclass(frozen=True)
class Support:
    """What of the record speaks for a claim.

    Attributes:
        ground: What tells that it is the cause, besides that time was spent there.
        seen: How often that was seen: calls, compilations, samples of stacks; None: that is no matter of number.
        agree: Share of what was looked at that agrees with it, such as the samples that stand in its line: 0 to 1.
        covered: Share of the time in question that was looked at: by samples, in windows, by counted lines: 0 to 1.
        spread: How far observations that should be equal lie apart, by their median, such as the slowest twentieth of
            the steps above it; None: they need not be equal.
        part: Where only a place speaks for it: how much of the work that place takes, 0 to 1; None: what the claim
            takes of the whole.
        usual: The same of a run that has no such cause: as much more as there is, as much more speaks for one.
    """

    ground: Ground
    seen: float | None = None
    agree: float = 1.0
    covered: float = 1.0
    spread: float | None = None
    part: float | None = None
    usual: float = 0.05


@dataclass(frozen=True)
class Claim:
    """What a rule says of a run, before it is known how much of its time is another rule's.

    Attributes:
        sentence: What it says; its own figures are in it, the time at stake is not.
        takes: Leaf of the tree (`dlprof.analysis.breakdown`) to time that would be saved there (ns).
        evidence: Queries that show it.
        next_step: What the user should do.
        line: File and line of the user's code; None: there is no such line.
        remedy: What dlprof can try; None: nothing that leaves the user's files alone.
        basis: How the time at stake was got; estimated where a model stands between.
        title: What it is called; None: as its rule is.
        rank: Whether it is worth a word by the time that it costs, or whatever that is.
        support: What speaks for it; None: only that time was spent there.
        fix: The change, as a unified diff or a sentence with the API; None: `fixes` may know one.
        other_way: The rule before it that saves a part of the same time in another way; None: there is none.
        of_rest: What it would save is a share of what other causes leave: without these there is less to save, not
            only less left of it.
    """

    sentence: Sentence
    takes: Mapping[TreePath, int]
    evidence: Sequence[Query]
    next_step: str
    line: SourceLine | None = None
    remedy: Remedy | None = None
    basis: Basis = Basis.MEASURED
    title: Title | None = None
    rank: Rank = Rank.BY_TIME
    support: Support | None = None
    fix: str | None = None
    other_way: str | None = None
    of_rest: bool = False


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
        interval_ns: Of a pair of several runs each, the 95 % interval of the time at stake; of one run, between what
            nine in ten of such causes cost (`stakes`). None where it is not known.
        interval_of_runs: It is the first of these.
        basis: How the time at stake was got.
        file, line: The user's line, or None.
        evidence: What shows it.
        next_step: What the user should do.
        state: Whether its remedy was tried, and what came of it.
        remedy: What dlprof can try, or None.
        saving_ns: `predicted` and `achieved` saving, once it was tried.
        not_tried: Why the remedy could not be tried, where it was to be.
        title: Its title; None: its rule has none.
        rank: As that of its claim.
        confidence: How likely it is the right cause, by what was recorded: 0 to 1; see `confidence`.
        fix: The change: a unified diff of the user's file, or a sentence with the API; None: there is none to name.
        ground: What tells that it is the cause, besides that time was spent there.
        shared_ns: How much of the time at stake another finding would save, too, in another way (ns).
        shared_with: The slug of that; None: no other would.
    """

    slug: str
    claim: str
    at_stake_ns: int
    share: float
    interval_ns: tuple[int, int] | None
    basis: Basis
    file: str | None
    line: int | None
    evidence: tuple[Evidence, ...]
    next_step: str
    state: str = FindingState.UNTESTED
    remedy: Remedy | None = None
    saving_ns: Mapping[str, int | None] | None = None
    not_tried: str | None = None
    title: Title | None = None
    rank: Rank = Rank.BY_TIME
    confidence: float = 1.0
    fix: str | None = None
    ground: Ground = Ground.PLACE
    interval_of_runs: bool = False
    shared_ns: int = 0
    shared_with: str | None = None

    @property
    def of_its_kind_ns(self) -> tuple[int, int] | None:
        """Between what nine in ten of such causes cost (ns); None: it is of several runs, or not known."""
        return None if self.interval_of_runs else self.interval_ns

    @property
    def is_question(self) -> bool:
        """Whether it is not sure enough to be said as a fact."""
        return self.confidence < FLOOR

    @property
    def can_be_tried(self) -> bool:
        """Whether there is a remedy that dlprof can try, for so much time that it would stand out of the noise."""
        return self.remedy is not None and self.share >= LEAST_TRIED

    @property
    def was_tried(self) -> bool:
        """Whether `--confirm` has tried its remedy, or found that it cannot."""
        return self.saving_ns is not None or self.not_tried is not None

    @property
    def expected_ns(self) -> float:
        """What trying its remedy may be expected to save (ns): the time at stake, as often as the cause is right."""
        return self.at_stake_ns * self.confidence

    @property
    def heading(self) -> str:
        """What it is called for people; without a title by the words of its slug."""
        return (self.title or of_slug(self.slug)).text


class AtStakeWithOthers(Protocol):
    """What is told of a cause, as far as sums are made of it."""

    @property
    def slug(self) -> str:
        """Its name."""

    @property
    def at_stake_ns(self) -> int:
        """Time that would be saved (ns)."""

    @property
    def shared_ns(self) -> int:
        """How much of that another one would save, too (ns)."""

    @property
    def shared_with(self) -> str | None:
        """The slug of that."""


def together_ns(findings: Sequence[AtStakeWithOthers]) -> int:
    """What all of them would save (ns): what two would save in two ways counts once."""
    told = {one.slug for one in findings}
    return sum(one.at_stake_ns - (one.shared_ns if one.shared_with in told else 0) for one in findings)


@dataclass(frozen=True)
class Abstention:
    """A rule that could not tell, and why."""

    slug: str
    because: str


@dataclass(frozen=True)
class Diagnosis:
    """All findings of a run, or of why one run is slower than another; those that may be expected to save most first.

    Attributes:
        whole_ns: What shares are of (ns).
        whole: What that is: the wall time; the gap between two runs; or, where the runs as a whole do not differ beyond
            noise or the other one is slower, what takes longer in this one beyond noise.
        explained_ns: Sum of all times at stake; no time is counted twice.
        rest: Of one run: the places with most of the time that is left, the largest first.
        lines: Of one run: lines with much of the training that no finding names.
    """

    findings: tuple[Finding, ...]
    abstained: tuple[Abstention, ...]
    whole_ns: int
    whole: Whole = Whole.WALL
    rest: tuple[Rest, ...] = ()
    lines: tuple[LoopLine, ...] = ()

    @property
    def explained_ns(self) -> int:
        """Sum of all times at stake (ns)."""
        return together_ns(self.findings)
