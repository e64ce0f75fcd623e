"""The gap between two sides in words: how large it is, and which parts differ beyond noise whatever the whole does."""

from __future__ import annotations

from collections.abc import Sequence

from dlprof.analysis.compare import Comparison, Item, Side
from dlprof.analysis.doubts import STARTS, start_difference
from dlprof.report import doubt_words
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import RunState
from dlprof.units import duration

_NAMED = 3
"""Parts that are named on each side."""
_LONG = 20
"""Labels of more characters, such as the names of runs that dlprof chose, make a sentence hard to read."""
_LEAST_SHARE = 0.01
"""Parts below this share of the larger wall time are not named."""

_START_NS = 200_000_000
"""Of less, counters that are sampled once a second tell little."""


def verdict(comparison: Comparison) -> str:
    """What makes the times doubtful, if anything does; then how large the gap is, and the parts that differ."""
    doubt = doubtful(comparison)
    return f"{doubt} {gap(comparison)}" if doubt else gap(comparison)


def are_traces(comparison: Comparison) -> bool:
    """Whether all runs of both sides are of foreign traces."""
    sides = (comparison.a, comparison.b)
    return all(run.manifest.state == RunState.IMPORTED for side in sides for run in side.runs)


def rest(comparison: Comparison) -> str:
    """What the time is called that no part has: a trace with a schedule is off between its cycles."""
    return "not traced" if are_traces(comparison) else "unattributed"


def doubtful(comparison: Comparison) -> str:
    """What makes the times doubtful, in sentences; empty: nothing that was seen."""
    return doubt_words.doubtful(doubts(comparison))


def doubts(comparison: Comparison) -> tuple[str, ...]:
    """The same one by one, as clauses."""
    return doubt_words.clauses(comparison.doubts, names(comparison.a.label, comparison.b.label))


def gap(comparison: Comparison) -> str:
    """One sentence: how large the gap is, and the parts that differ beyond noise, in both directions."""
    return f"{_walls(comparison)}: {_no_gap(comparison) if comparison.noise else _gap(comparison)}"


def more_steps(comparison: Comparison) -> str:
    """What of the gap steps are that one side did more; empty: both did as many."""
    ns = sum(item.more_steps_ns for item in comparison.items)
    if not comparison.steps or not ns:
        return ""
    told = ", ".join(f"{a:,} and {b:,} of {loop}" for loop, (a, b) in comparison.steps.items())
    return f"of the gap {signed(ns)} are steps that only one side did, at B's time for each: {told}"


def starts(comparison: Comparison) -> str:
    """What the main thread did while one side took longer to start and end; empty: neither did by much."""
    longer = {item.path for item in (*comparison.longer_in_a, *comparison.longer_in_b)}
    more = start_difference(comparison.a.runs[0], comparison.b.runs[0]) if longer & set(STARTS) else None
    if more is None:
        return ""
    whole = more.run_ns + more.wait_ns + more.stood_ns
    if abs(whole) < max(_START_NS, _LEAST_SHARE * max(comparison.a_wall_ns, comparison.b_wall_ns)):
        return ""
    return (
        f"starting and ending: of {signed(whole)} the main thread computed {signed(more.run_ns)}, waited for a core "
        f"{signed(more.wait_ns)}, stood still (a disk, another process, a lock) {signed(more.stood_ns)}"
    )


def heading(letter: str, side: Side) -> str:
    """What A or B is: its label, with the names of its runs where these tell more."""
    runs = ", ".join(run.name for run in side.runs)
    return f"{letter}: {side.label}" if runs == side.label else f"{letter}: {side.label}  ({runs})"


def names(a: str, b: str) -> tuple[str, str]:
    """What two labels are called in sentences below a heading: A and B, where one is long."""
    return (a, b) if max(len(a), len(b)) <= _LONG else ("A", "B")


def introduced(a: str, b: str) -> tuple[str, str]:
    """The same in a heading, which says what A and B are."""
    return (a, b) if names(a, b) == (a, b) else (f"A ({a})", f"B ({b})")


def name(comparison: Comparison, item: Item) -> str:
    """What a part is called: between foreign traces, which know of no `fit`, steps are steps."""
    if Tree.FIT_STEPS.holds(item.path) and are_traces(comparison):
        return item.path.removeprefix(f"{Tree.FIT}/")
    return item.path


def signed(ns: int) -> str:
    """A difference with its sign."""
    return f"{'+' if ns > 0 else ''}{duration(ns)}" if ns else "0"


def _walls(comparison: Comparison) -> str:
    a, b = names(comparison.a.label, comparison.b.label)
    return f"{a} took {duration(comparison.a_wall_ns)}, {b} {duration(comparison.b_wall_ns)}"


def _no_gap(comparison: Comparison) -> str:
    """Where the whole does not differ: the parts may."""
    told = [_longer(comparison, label, items) for label, items in _sides(comparison) if items]
    if told:
        return f"no difference beyond noise as a whole, but parts differ beyond it: {'; '.join(told)}."
    if comparison.longer_in_a or comparison.longer_in_b:
        return "no difference beyond noise, but in parts that take less than 1 % of the time."
    return "no difference beyond noise, neither as a whole nor in a part."


def _gap(comparison: Comparison) -> str:
    (slow, slower), (fast, faster) = _sides(comparison) if comparison.gap_ns > 0 else reversed(_sides(comparison))
    shorter, longer = sorted((comparison.a_wall_ns, comparison.b_wall_ns))
    by = duration(abs(comparison.gap_ns))
    if comparison.parity.comparable and not comparison.doubts:
        told = f"{slow} is {longer / max(1, shorter):.2f} x slower than {fast}, by {by}"
    else:  # no word of speed, and no ratio, where the work or the machine may not be the same
        told = f"{slow} took {by} more than {fast}"
    most = 2 * sum(abs(item.delta_ns) for item in slower[:_NAMED]) >= abs(comparison.gap_ns)
    causes = f", {'most of it in' if most else 'with'} {_named(comparison, slower)}" if slower else ""
    against = f"; {_longer(comparison, fast, faster)}" if faster else ""
    return f"{told}{causes}{against}."


def _sides(comparison: Comparison) -> tuple[tuple[str, list[Item]], tuple[str, list[Item]]]:
    """Labels with the parts worth a word that take longer there."""
    least = _LEAST_SHARE * max(comparison.a_wall_ns, comparison.b_wall_ns)
    a, b = (
        [item for item in items if abs(item.delta_ns) >= least]
        for items in (comparison.longer_in_a, comparison.longer_in_b)
    )
    called = names(comparison.a.label, comparison.b.label)
    return (called[0], a), (called[1], b)


def _longer(comparison: Comparison, label: str, items: Sequence[Item]) -> str:
    return f"{label} takes longer in {_named(comparison, items)}"


def _named(comparison: Comparison, items: Sequence[Item]) -> str:
    more = len(items) - _NAMED
    told = [f"{name(comparison, item)} ({duration(abs(item.delta_ns))})" for item in items[:_NAMED]]
    return ", ".join([*told, *([f"{more} more"] if more > 0 else [])])
