"""A comparison as one JSON object (`dlprof.compare/1`). Times are ns; A − B where they are differences."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import UNSET, Struct, UnsetType, convert

from dlprof.analysis import memory_pairs, work_pairs
from dlprof.analysis.compare import Comparison, Item, Side
from dlprof.analysis.layer_pairs import LayerItem
from dlprof.analysis.line_pairs import LinePair
from dlprof.analysis.memory_pairs import MemoryPair
from dlprof.analysis.work_pairs import WorkPair
from dlprof.report import gap_words, summary
from dlprof.report.model import CoreLoad

SCHEMA = "dlprof.compare/1"


class SideReport(Struct, frozen=True):
    """A side: its runs, its mean wall time, its steady step, the cores of its first run."""

    label: str
    runs: tuple[str, ...]
    wall_ns: int
    step_ns: int | None
    cores: tuple[CoreLoad, ...]


class ItemReport(Struct, frozen=True):
    """A part of the wall time on both sides."""

    path: str
    a_ns: int
    b_ns: int
    delta_ns: int
    ci_ns: tuple[int, int] | None
    """95 % interval of the difference; None: there are too few runs."""
    within_noise: bool
    name: str
    """What it is called for people."""


class LineReport(Struct, frozen=True):
    """A line on both sides; None: it is not in that side's script, or was not counted."""

    file: str
    function: str
    line: int
    source: str
    a_hits: int | None
    a_ns: int | None
    b_hits: int | None
    b_ns: int | None
    delta_ns: int
    a_scaled: bool = False
    """Whether `a_hits` is an estimate: a run counted it in windows."""
    b_scaled: bool = False
    ci_ns: tuple[int, int] | None = None
    """99 % interval of the difference, where times are from samples; None: all were counted."""
    within_noise: bool = False
    """Whether that interval holds 0."""
    b_file: str | None = None
    """Where B has it, which is another place where a function was renamed or moved; null: B has it not."""
    b_function: str | None = None
    b_line: int | None = None


class ComparisonReport(Struct, frozen=True, kw_only=True):
    """All that the text of a comparison says."""

    schema: str = SCHEMA
    a: SideReport
    b: SideReport
    comparable: bool
    why_not: tuple[str, ...]
    what_helps: tuple[str, ...]
    """What would make both sides comparable, where that is known."""
    differences: tuple[str, ...]
    not_checked: tuple[str, ...]
    gap_ns: int
    gap_ci_ns: tuple[int, int] | None
    within_noise: bool
    items: tuple[ItemReport, ...]
    common_slowdown: float
    unattributed_ns: int
    steps_not_split_because: str | None
    layers: tuple[LayerItem, ...]
    lines: tuple[LineReport, ...]
    verdict: str
    longer_in_a: tuple[str, ...]
    """Paths of the items that take longer in A beyond noise, whatever the whole does; the largest difference first."""
    longer_in_b: tuple[str, ...]
    memory: MemoryPair
    """Bytes of both sides: peaks, phases, and what holds them."""
    work: WorkPair
    """What a training step asks of each layer, and at which rates: more work, or the same work done worse."""
    doubts: tuple[str, ...] = ()
    """States of the machine that may explain a good part of the gap: the first words of the verdict."""
    more: tuple[ComparisonReport, ...] | UnsetType = UNSET
    """A against each further side; only where a command asks for several."""


def as_json(comparison: Comparison, lines: Sequence[LinePair]) -> ComparisonReport:
    """A comparison, for machines. See `dlprof help json`.

    Args:
        comparison: The comparison.
        lines: Lines of both sides, joined.
    """
    return ComparisonReport(
        a=_side(comparison.a, comparison.a_wall_ns, comparison.a_step_ns),
        b=_side(comparison.b, comparison.b_wall_ns, comparison.b_step_ns),
        comparable=comparison.parity.comparable,
        why_not=comparison.parity.why_not,
        what_helps=comparison.parity.advice,
        differences=comparison.parity.differences,
        not_checked=comparison.parity.unknown,
        gap_ns=comparison.gap_ns,
        gap_ci_ns=comparison.gap_ci_ns,
        within_noise=comparison.noise,
        items=tuple(_item(comparison, item) for item in comparison.items),
        common_slowdown=comparison.common,
        unattributed_ns=comparison.unattributed_ns,
        steps_not_split_because=comparison.unsplit,
        layers=comparison.layers,
        lines=tuple(convert(pair, LineReport, from_attributes=True) for pair in lines),
        verdict=gap_words.verdict(comparison),
        doubts=gap_words.doubts(comparison),
        longer_in_a=tuple(item.path for item in comparison.longer_in_a),
        longer_in_b=tuple(item.path for item in comparison.longer_in_b),
        memory=memory_pairs.join(comparison.a, comparison.b),
        work=work_pairs.join(comparison.a, comparison.b),
    )


def _side(side: Side, wall_ns: int, step_ns: int | None) -> SideReport:
    return SideReport(side.label, tuple(run.name for run in side.runs), wall_ns, step_ns, summary.cores(side.runs[0]))


def _item(comparison: Comparison, item: Item) -> ItemReport:
    name = gap_words.name(comparison, item)
    return ItemReport(item.path, item.a_ns, item.b_ns, item.delta_ns, item.ci_ns, item.noise, name)
