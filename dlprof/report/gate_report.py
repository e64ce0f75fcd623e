"""What `dlprof gate` says: a line for a log, or JSON (`dlprof.gate/1`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from dlprof.analysis.compare import Comparison
from dlprof.analysis.gate import Component
from dlprof.units import duration, safe

SCHEMA = "dlprof.gate/1"
_NAMED = 3
"""Parts that the first line names."""


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


class GateReport(Struct, frozen=True, kw_only=True):
    """The answer, and what it stands on."""

    schema: str = SCHEMA
    passed: bool
    max_regression: float
    base: tuple[str, ...]
    new: tuple[str, ...]
    comparable: bool
    why_not: tuple[str, ...]
    components: tuple[ComponentReport, ...]


def as_json(comparison: Comparison, parts: Sequence[Component], limit: float) -> GateReport:
    """The answer for machines. See `dlprof help json`.

    Args:
        comparison: The new version (A) against the one before (B).
        parts: Its parts, judged.
        limit: Growth that may pass, as a share.
    """
    return GateReport(
        passed=not any(part.regressed for part in parts),
        max_regression=limit,
        base=tuple(run.name for run in comparison.b.runs),
        new=tuple(run.name for run in comparison.a.runs),
        comparable=comparison.parity.comparable,
        why_not=comparison.parity.why_not,
        components=tuple(
            ComponentReport(part.name, part.base_ns, part.new_ns, part.change, part.ci_ns, part.noise, part.regressed)
            for part in parts
        ),
    )


def as_lines(parts: Sequence[Component], limit: float, repeats: int) -> Iterator[str]:
    """The answer for a log: one line, and one more for each part that regressed.

    Args:
        parts: The parts, judged; those that regressed first.
        limit: Growth that may pass, as a share.
        repeats: Runs on the side that has fewer.
    """
    regressed = [part for part in parts if part.regressed]
    whole = next((part for part in parts if part.name == "wall"), None)
    wall = f" wall {duration(whole.base_ns)} to {duration(whole.new_ns)}" if whole is not None else ""
    runs = f"{repeats} run{'s' if repeats > 1 else ''} a side"
    if not regressed:
        yield f"dlprof gate: ok, nothing grew by more than {100 * limit:g} % beyond noise;{wall} ({runs})"
        return
    names = ", ".join(_growth(part) for part in regressed[:_NAMED])
    yield safe(f"dlprof gate: FAILED, limit {100 * limit:g} %: {names};{wall} ({runs})")
    for part in regressed:
        interval = f", 95 % {duration(part.ci_ns[0])} to {duration(part.ci_ns[1])}" if part.ci_ns else ""
        yield safe(f"  {part.name}: {duration(part.base_ns)} to {duration(part.new_ns)}{interval}")


def _growth(part: Component) -> str:
    return f"{part.name} {'new' if part.change is None else f'{100 * part.change:+.1f} %'}"
