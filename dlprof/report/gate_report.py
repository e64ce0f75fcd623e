"""What `dlprof gate` says: a line for a log, or JSON (`dlprof.gate/1`); `gate_formats` has what CI systems read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from msgspec import Struct

from dlprof import run_names
from dlprof.analysis.compare import Comparison, Side
from dlprof.analysis.gate import WALL, Component
from dlprof.analysis.parity import LOAD
from dlprof.errors import DlprofError
from dlprof.report import doubt_words, finding_words
from dlprof.units import duration, safe

SCHEMA = "dlprof.gate/1"
_NAMED = 3
"""Parts that the first line names."""
SIDES = "NEW", "BASE"
"""What A and B of the comparison are called."""


class Status(StrEnum):
    """The answer in a word."""

    OK = "ok"
    FAILED = "failed"
    INCONCLUSIVE = "inconclusive"
    """What the machine did may explain what grew, or hide it."""
    NOT_JUDGED = "not-judged"


class Doubtful(StrEnum):
    """What becomes of the answer where a part is doubtful, and none regressed beyond doubt."""

    AGAIN = "again"
    FAIL = "fail"
    PASS = "pass"  # noqa: S105  (no password)


@dataclass(frozen=True)
class Notes:
    """What is told beside the judgement, whatever it is.

    Attributes:
        why_not: Why the runs are not comparable: they were judged all the same (`--anyway`).
        doubts: States of the machine that may explain a good part of the gap, a clause each.
        differences: What else differs between the sides, NEW first.
    """

    why_not: Sequence[str] = ()
    doubts: Sequence[str] = ()
    differences: Sequence[str] = ()

    def told(self) -> Iterator[tuple[str, str]]:
        """What each is called, and its text."""
        if self.why_not:
            yield "not comparable", f"{'; '.join(self.why_not)} (A is NEW, B is BASE); judged anyway"
        for text in self.doubts:
            yield "doubtful", text
        for text in self.differences:
            yield "differs (NEW and BASE)", text


def notes(comparison: Comparison) -> Notes:
    """What is to be told of the new version (A) against the one before (B)."""
    doubts = doubt_words.clauses(comparison.doubts, SIDES)
    differences = [
        text for text in comparison.parity.differences if not (doubts and text.startswith(LOAD))
    ]  # the doubt has both figures
    return Notes(comparison.parity.why_not, doubts, differences)


@dataclass(frozen=True)
class Cause:
    """Why the new version is slower, as the diagnosis of both has it.

    Attributes:
        title: What it is called for people.
        claim: One sentence with figures.
        next_step: What to do.
        at_stake_ns: The time that it takes (ns).
        file, line: Its place, as a path from the root of the repository; None: none is known there.
        confidence: How likely it is the cause: 0 to 1.
        is_question: Whether it is not sure enough to be claimed: then it is asked.
    """

    title: str
    claim: str
    next_step: str
    at_stake_ns: int
    file: str | None
    line: int | None
    confidence: float = 1.0
    is_question: bool = False

    @property
    def heading(self) -> str:
        """What it is called; one that is not sure enough is asked."""
        return finding_words.heading(self.title, is_question=self.is_question)

    @property
    def text(self) -> str:
        """The claim and what to do, with how sure it is."""
        if self.is_question:
            return f"{self.claim} Only perhaps ({100 * self.confidence:.0f} %). {self.next_step}"
        sure = finding_words.sureness(self.confidence, None)
        return f"{self.claim} {self.next_step}{f' ({sure})' if sure else ''}"


@dataclass(frozen=True)
class Outcome:
    """What the gate found.

    Attributes:
        parts: The parts, judged; those that regressed first.
        limit: Growth that may pass, as a share.
        base, new: Paths of the runs before, and of those now.
        causes: Why, the most costly first; none where nothing regressed, or the runs cannot be diagnosed.
        notes: What is told whatever the answer is.
        doubtful: What becomes of the answer where it is doubtful.
    """

    parts: Sequence[Component]
    limit: float
    base: Sequence[str]
    new: Sequence[str]
    causes: Sequence[Cause] = ()
    notes: Notes = Notes()
    doubtful: Doubtful = Doubtful.AGAIN

    @property
    def regressed(self) -> Sequence[Component]:
        """Parts that became slower, beyond doubt."""
        return [part for part in self.parts if part.regressed]

    @property
    def uncertain(self) -> Sequence[Component]:
        """Parts of which the machine's state may explain, or hide, that they became slower."""
        return [part for part in self.parts if part.doubtful]

    @property
    def status(self) -> Status:
        """The answer in a word."""
        return status(self.parts, self.doubtful)

    @property
    def sizes(self) -> str:
        """How many runs each side has."""
        base, new = len(self.base), len(self.new)
        if base == new:
            return f"{base} run{'s' if base > 1 else ''} a side"
        return f"{new} run{'s' if new > 1 else ''} against {base}"


def status(parts: Sequence[Component], doubtful: Doubtful) -> Status:
    """The answer in a word.

    Args:
        parts: The parts, judged; none: nothing was judged.
        doubtful: What a doubtful answer counts as.
    """
    if not parts:
        return Status.NOT_JUDGED
    if any(part.regressed for part in parts):
        return Status.FAILED
    if not any(part.doubtful for part in parts):
        return Status.OK
    return {Doubtful.AGAIN: Status.INCONCLUSIVE, Doubtful.FAIL: Status.FAILED, Doubtful.PASS: Status.OK}[doubtful]


@dataclass(frozen=True)
class Refusal:
    """Runs that are not judged: they did different work, or could not be opened, or what was asked for is unclear.

    Attributes:
        kind: `not-comparable`, or what failed, as exit codes have it: `no-input`, `bad-data`, `usage` ...
        why: Sentences for people: what is wrong, and what helps.
        base, new: Paths of the runs before, and of those now; as they were typed where nothing was opened.
    """

    kind: str
    why: str
    base: Sequence[str]
    new: Sequence[str]


class ComponentReport(Struct, frozen=True):
    """A part of the run, before and after (ns)."""

    name: str
    base_ns: int
    new_ns: int
    change: float | None
    """Growth as a share of what it was; None: there was nothing."""
    ci_ns: tuple[int, int] | None
    within_noise: bool
    regressed: bool
    too_small: bool = False
    """Whether it grew beyond noise and the limit, but by too little of the wall time to count."""
    doubtful: bool = False
    """Whether it may have regressed, or may not: the machine's state may explain its growth, or hide it."""
    lost_ns: int = 0
    """What the machine may have taken of the new side more than of base (ns); negative: of base more."""


class GateReport(Struct, frozen=True, kw_only=True):
    """The answer, and what it stands on."""

    schema: str = SCHEMA
    passed: bool
    max_regression: float | None
    """None: there is an error."""
    base: tuple[str, ...]
    new: tuple[str, ...]
    comparable: bool
    why_not: tuple[str, ...]
    components: tuple[ComponentReport, ...]
    error: str | None = None
    """Why there is no answer at all, such as a run that is not there; None: there is one, or `why_not` says it."""
    status: Status = Status.NOT_JUDGED
    """`inconclusive`: the machine's state may explain what grew, or hide it; measure again."""
    doubts: tuple[str, ...] = ()
    """States of the machine that may explain a good part of the gap."""
    differences: tuple[str, ...] = ()
    """What else differs between both sides, NEW first."""


def as_json(
    comparison: Comparison, parts: Sequence[Component], limit: float, doubtful: Doubtful = Doubtful.AGAIN
) -> GateReport:
    """The answer for machines. See `dlprof help json`.

    Args:
        comparison: The new version (A) against the one before (B).
        parts: Its parts, judged; without any nothing has passed: the runs were not judged.
        limit: Growth that may pass, as a share.
        doubtful: What a doubtful answer counts as.
    """
    answer = status(parts, doubtful)
    told = notes(comparison)
    return GateReport(
        passed=answer is Status.OK,
        max_regression=limit,
        base=paths(comparison.b),
        new=paths(comparison.a),
        comparable=comparison.parity.comparable,
        why_not=comparison.parity.why_not,
        components=tuple(
            ComponentReport(
                part.name,
                part.base_ns,
                part.new_ns,
                part.change,
                part.ci_ns,
                part.noise,
                part.regressed,
                part.too_small,
                part.doubtful,
                part.lost_ns,
            )
            for part in parts
        ),
        status=answer,
        doubts=tuple(told.doubts),
        differences=tuple(told.differences),
    )


def failure(error: DlprofError, base: str, new: str) -> Refusal:
    """What to say where the runs could not be judged for an error, which names what to do.

    Args:
        error: What went wrong.
        base: What the user named as the version before.
        new: And as the one now.
    """
    kind = error.exit_code.name.lower().replace("_", "-")
    helps = f" Try: {error.hint}" if error.hint else ""
    return Refusal(kind, f"{error.message}{helps}", (base,), (new,))


def failed_as_json(failed: Refusal) -> GateReport:
    """The same for machines: nothing was compared."""
    return GateReport(
        passed=False,
        max_regression=None,
        base=tuple(failed.base),
        new=tuple(failed.new),
        comparable=False,
        why_not=(),
        components=(),
        error=failed.why,
    )


def paths(side: Side) -> tuple[str, ...]:
    """The runs of a side, as a user would type them: names of repeats are the same on both sides."""
    return tuple(run_names.short_path(run.folder) for run in side.runs)


def as_lines(found: Outcome) -> Iterator[str]:
    """The answer for a log: one line, one more for each part that regressed or is doubtful, and what else is told."""
    yield headline(found)
    for part in (*found.regressed, *found.uncertain):
        yield safe(f"  {part.name}: {times(part)}")
    for name, text in found.notes.told():
        yield safe(f"  {name}: {text}")


def headline(found: Outcome) -> str:
    """The answer in one line."""
    whole = next((part for part in found.parts if part.name == WALL), None)
    wall = _wall(whole, can_be_told=not (found.notes.why_not or found.notes.doubts)) if whole is not None else ""
    tail = f"{wall} ({found.sizes})"
    limit = f"{100 * found.limit:g} %"
    judged = "" if not found.notes.why_not else " (of runs that are not comparable)"
    if found.regressed or found.uncertain:
        clauses = [_grown(found.regressed)] if found.regressed else []
        clauses += [f"doubtful {_grown(found.uncertain)}"] if found.uncertain else []
        again = ": measure again" if found.status is Status.INCONCLUSIVE else ""
        word = found.status.upper() if found.status is not Status.OK else "ok"
        return safe(f"dlprof gate: {word}{again}{judged}, limit {limit}: {'; '.join(clauses)};{tail}")
    what = "nothing that counts" if any(part.too_small for part in found.parts) else "nothing"
    return f"dlprof gate: ok{judged}, {what} grew by more than {limit} beyond noise;{tail}"


def _grown(parts: Sequence[Component]) -> str:
    return ", ".join(f"{part.name} {growth(part)}" for part in parts[:_NAMED])


def _wall(whole: Component, *, can_be_told: bool) -> str:
    """The whole before and after, and whether it is faster: a part may have regressed all the same.

    Args:
        whole: It.
        can_be_told: Whether both sides did the same work on a machine in one state: else no word of speed.
    """
    told = f" wall {duration(whole.base_ns)} to {duration(whole.new_ns)}"
    is_faster = can_be_told and whole.new_ns < whole.base_ns and not whole.noise
    return f"{told}, faster as a whole by {duration(whole.base_ns - whole.new_ns)}" if is_faster else told


def times(part: Component) -> str:
    """A part before and after, with the interval of what lies between, and what makes it doubtful."""
    interval = f", 95 % {duration(part.ci_ns[0])} to {duration(part.ci_ns[1])}" if part.ci_ns else ""
    return f"{duration(part.base_ns)} to {duration(part.new_ns)}{interval}{_why_doubtful(part)}"


def _why_doubtful(part: Component) -> str:
    if not part.doubtful:
        return ""
    if part.lost_ns:
        side, other = SIDES if part.lost_ns > 0 else SIDES[::-1]
        lost = duration(abs(part.lost_ns))
        return f"; doubtful: {side} may have lost {lost} more to the state of the machine than {other}"
    return "; doubtful: NEW ran on another kind of machine"


def growth(part: Component) -> str:
    """By how much a part grew, in percent of what it was."""
    return "new" if part.change is None else f"{100 * part.change:+.1f} %"
