"""What `dlprof gate` says: a line for a log, or JSON (`dlprof.gate/1`); `gate_formats` has what CI systems read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from msgspec import Struct

from dlprof import run_names
from dlprof.analysis.compare import Comparison, Side
from dlprof.analysis.gate import Component
from dlprof.errors import DlprofError
from dlprof.units import duration, safe

SCHEMA = "dlprof.gate/1"
_NAMED = 3
"""Parts that the first line names."""


@dataclass(frozen=True)
class Cause:
    """Why the new version is slower, as the diagnosis of both has it.

    Attributes:
        title: What it is called for people.
        claim: One sentence with figures.
        next_step: What to do.
        at_stake_ns: The time that it takes (ns).
        file, line: Its place, as a path from the root of the repository; None: none is known there.
    """

    title: str
    claim: str
    next_step: str
    at_stake_ns: int
    file: str | None
    line: int | None


@dataclass(frozen=True)
class Outcome:
    """What the gate found.

    Attributes:
        parts: The parts, judged; those that regressed first.
        limit: Growth that may pass, as a share.
        base, new: Paths of the runs before, and of those now.
        causes: Why, the most costly first; none where nothing regressed, or the runs cannot be diagnosed.
    """

    parts: Sequence[Component]
    limit: float
    base: Sequence[str]
    new: Sequence[str]
    causes: Sequence[Cause] = ()

    @property
    def regressed(self) -> Sequence[Component]:
        """Parts that became slower."""
        return [part for part in self.parts if part.regressed]

    @property
    def repeats(self) -> int:
        """Runs on the side that has fewer."""
        return min(len(self.base), len(self.new))


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


def as_json(comparison: Comparison, parts: Sequence[Component], limit: float) -> GateReport:
    """The answer for machines. See `dlprof help json`.

    Args:
        comparison: The new version (A) against the one before (B).
        parts: Its parts, judged; without any nothing has passed: the runs were not judged.
        limit: Growth that may pass, as a share.
    """
    return GateReport(
        passed=bool(parts) and not any(part.regressed for part in parts),
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
            )
            for part in parts
        ),
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
    """The answer for a log: one line, and one more for each part that regressed."""
    yield headline(found)
    for part in found.regressed:
        yield safe(f"  {part.name}: {times(part)}")


def headline(found: Outcome) -> str:
    """The answer in one line."""
    whole = next((part for part in found.parts if part.name == "wall"), None)
    wall = _wall(whole) if whole is not None else ""
    runs = f"{found.repeats} run{'s' if found.repeats > 1 else ''} a side"
    limit = f"{100 * found.limit:g} %"
    if not found.regressed:
        what = "nothing that counts" if any(part.too_small for part in found.parts) else "nothing"
        return f"dlprof gate: ok, {what} grew by more than {limit} beyond noise;{wall} ({runs})"
    names = ", ".join(f"{part.name} {growth(part)}" for part in found.regressed[:_NAMED])
    return safe(f"dlprof gate: FAILED, limit {limit}: {names};{wall} ({runs})")


def _wall(whole: Component) -> str:
    """The whole before and after, and whether it is faster: a part may have regressed all the same."""
    told = f" wall {duration(whole.base_ns)} to {duration(whole.new_ns)}"
    is_faster = whole.new_ns < whole.base_ns and not whole.noise
    return f"{told}, faster as a whole by {duration(whole.base_ns - whole.new_ns)}" if is_faster else told


def times(part: Component) -> str:
    """A part before and after, with the interval of what lies between."""
    interval = f", 95 % {duration(part.ci_ns[0])} to {duration(part.ci_ns[1])}" if part.ci_ns else ""
    return f"{duration(part.base_ns)} to {duration(part.new_ns)}{interval}"


def growth(part: Component) -> str:
    """By how much a part grew, in percent of what it was."""
    return "new" if part.change is None else f"{100 * part.change:+.1f} %"
