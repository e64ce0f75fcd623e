"""What the diagnosis made of a problem, and whether that is right."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from dlprof.analysis.findings import diagnose
from dlprof.analysis.findings.finding import FLOOR, Finding, together_ns
from dlprof.schema.vocabulary import Ground
from dlprof.trials.exam.costs import ENDS_SLUG
from dlprof.trials.outside.problems import Problem, Truth

FALSE_SHARE = 0.05
"""A finding above this share of the wall time on the fixed script is a false one."""
SILENT_SHARE = 0.03
"""Where no finding has this share of the wall time, nothing was said."""
CLOSE = 0.2
"""A time at stake is right when it misses the cost by no more than this share of it."""


class Said(Struct, frozen=True):
    """A finding, as far as the exam judges it.

    Attributes:
        slug: Its name.
        share: Of the wall time, or of the gap where two runs were compared.
        at_stake_ns: Time that its remedy would save (ns).
        file, line: The line that it blames, or None.
        next_step: What it says to do.
        confidence: How likely it is right, as it says itself: 0 to 1.
        fix: The change that it names; None: none.
        ground: What tells that it is the cause.
        interval_ns: Between what its cost is said to be, nine times in ten (ns); None: not said.
        shared_ns: How much of the time at stake another finding would save, too (ns).
        shared_with: The slug of that; None: no other would.
    """

    slug: str
    share: float
    at_stake_ns: int
    file: str | None
    line: int | None
    next_step: str
    confidence: float = 1.0
    fix: str | None = None
    ground: Ground = Ground.PLACE
    interval_ns: tuple[int, int] | None = None
    shared_ns: int = 0
    shared_with: str | None = None

    @staticmethod
    def of(finding: Finding) -> Said:
        """What a finding says."""
        return Said(
            finding.slug, finding.share, finding.at_stake_ns, finding.file, finding.line, finding.next_step,
            finding.confidence, finding.fix, finding.ground, finding.interval_ns,
            finding.shared_ns, finding.shared_with,
        )  # fmt: skip

    @property
    def is_question(self) -> bool:
        """Whether it is told as one: too unsure to be a claim."""
        return self.confidence < FLOOR

    @property
    def advice(self) -> str:
        """All that it says to do, in small letters."""
        return f"{self.next_step} {self.fix or ''}".lower()


class Answer(Struct, frozen=True):
    """What the diagnosis made of a problem; one run of each script.

    Attributes:
        problem: The problem.
        said: Findings on the script with the cause, ranked.
        in_pair: Findings on why it is slower than the other one, ranked.
        on_fixed: Findings on the script without the cause, ranked.
        buggy_ns, fixed_ns: Wall times without dlprof's own share (ns).
        ends_ns: How much longer the first took to start, to import and to end (ns): of files that were in no cache.
        failed: Why a run failed, or could not be diagnosed; None: all was done.
    """

    problem: Problem
    said: tuple[Said, ...] = ()
    in_pair: tuple[Said, ...] = ()
    on_fixed: tuple[Said, ...] = ()
    buggy_ns: int | None = None
    fixed_ns: int | None = None
    ends_ns: int = 0
    failed: str | None = None

    @property
    def truth(self) -> Truth:
        """What is true of the problem."""
        return self.problem.truth

    @property
    def of_script(self) -> tuple[Said, ...]:
        """Findings on the script with the cause, without those on the machine."""
        return _of_script(self.said, self.truth)

    @property
    def machine_told(self) -> bool:
        """Whether something was said of the machine: of either script."""
        return len(self.of_script) < len(self.said) or len(_of_script(self.on_fixed, self.truth)) < len(self.on_fixed)

    @property
    def rank(self) -> int | None:
        """Place of the first accepted finding among those on the script, from 1 on; None: there is none."""
        return _rank(self.of_script, self.truth)

    @property
    def pair_rank(self) -> int | None:
        """The same, where both runs were compared."""
        return _rank(_of_script(self.in_pair, self.truth), self.truth)

    @property
    def right(self) -> Said | None:
        """The first accepted finding."""
        return self.of_script[self.rank - 1] if self.rank else None

    @property
    def line_right(self) -> bool | None:
        """Whether that blames a right line; None: nothing was found, or there is no such line."""
        if self.right is None or not self.truth.lines:
            return None
        return (
            self.right.file is not None and self.right.file.endswith("buggy.py") and self.right.line in self.truth.lines
        )

    @property
    def fix_named(self) -> bool | None:
        """Whether that names what mends it; None: nothing was found, or the truth has no words to judge by."""
        if self.right is None or not self.truth.fix_words:
            return None
        return any(words.lower() in self.right.advice for words in self.truth.fix_words)

    @property
    def cost_ns(self) -> int | None:
        """What the cause cost in these two runs (ns): of one run each, so that it is known roughly only.

        How the processes start, import and end is part of it only where imports are the cause.
        """
        if self.buggy_ns is None or self.fixed_ns is None:
            return None
        by_chance = 0 if ENDS_SLUG in self.truth.accept else self.ends_ns
        return self.buggy_ns - self.fixed_ns - by_chance

    @property
    def stake_close(self) -> bool | None:
        """Whether the time at stake of all accepted findings is near the cost; None: found nothing, or no cost."""
        ratio = self.cost_over_stake
        return None if ratio is None else abs(1 / ratio - 1) <= CLOSE

    @property
    def cost_over_stake(self) -> float | None:
        """The cost over the time at stake of all accepted findings; None: nothing was found, or no cost."""
        stake = together_ns(self._accepted)
        if self.right is None or not stake or self.cost_ns is None or self.cost_ns <= 0:
            return None
        return self.cost_ns / stake

    @property
    def interval_holds(self) -> bool | None:
        """Whether the intervals of these, added, hold the cost; None: as above, or one of them has none.

        That of a finding whose time another one has, too, is in the other's.
        """
        others = {one.shared_with for one in self._accepted}
        adding = [one for one in self._accepted if one.slug not in others]
        intervals = [one.interval_ns for one in adding if one.interval_ns is not None]
        if self.cost_ns is None or self.cost_over_stake is None or len(intervals) < len(adding):
            return None
        return sum(low for low, _ in intervals) <= self.cost_ns <= sum(high for _, high in intervals)

    @property
    def silent(self) -> bool:
        """Whether nothing of SILENT_SHARE or more was said."""
        return not any(one.share >= SILENT_SHARE for one in self.of_script)

    @property
    def false_on_fixed(self) -> tuple[Said, ...]:
        """Claims above FALSE_SHARE on the fixed script that its truth does not allow."""
        return tuple(one for one in self._wrong_on_fixed if not one.is_question)

    @property
    def asked_on_fixed(self) -> tuple[Said, ...]:
        """The same of findings that are told as questions."""
        return tuple(one for one in self._wrong_on_fixed if one.is_question)

    @property
    def judged(self) -> tuple[tuple[Said, bool], ...]:
        """Findings that the truth tells to be right or wrong: the first on the script, and large ones on the fixed one.

        What comes behind the first may be true as well: no truth file says.
        """
        first = [(one, one.slug in self.truth.accept) for one in self.of_script[:1]]
        told = _of_script(self.on_fixed, self.truth)
        fixed = [(one, one.slug in self.truth.true_of_fixed) for one in told if one.share > FALSE_SHARE]
        return (*first, *fixed)

    @property
    def judged_in_pair(self) -> tuple[tuple[Said, bool], ...]:
        """The first finding on why the script with the cause is slower, and whether that is right."""
        return tuple((one, one.slug in self.truth.accept) for one in _of_script(self.in_pair, self.truth)[:1])

    @property
    def _accepted(self) -> tuple[Said, ...]:
        return tuple(one for one in self.said if one.slug in self.truth.accept)

    @property
    def _wrong_on_fixed(self) -> tuple[Said, ...]:
        told = _of_script(self.on_fixed, self.truth)
        return tuple(one for one in told if one.share > FALSE_SHARE and one.slug not in self.truth.true_of_fixed)


def _of_script(said: Sequence[Said], truth: Truth) -> tuple[Said, ...]:
    """Those that are a story of the script: what a truth cannot know, true or not, takes no rank."""
    return tuple(one for one in said if one.slug in truth.accept or one.slug not in diagnose.NOT_OF_SCRIPT)


def _rank(said: Sequence[Said], truth: Truth) -> int | None:
    return next((place for place, one in enumerate(said, 1) if one.slug in truth.accept), None)
