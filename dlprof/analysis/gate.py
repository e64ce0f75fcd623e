"""Whether a new version is slower than the one before, component by component."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from dlprof.analysis import lost_time, student
from dlprof.analysis.compare import Comparison, Difference
from dlprof.schema.tree_paths import OWN_PATHS

WALL = "wall"
_LEAST_SHARE = 0.01
"""A component that grew by less than this share of the wall time does not stop anyone."""
_LEAST_NEW_SHARE = 0.02
"""The same of a component that was not there before: of such a one no growth in percent tells how much it is."""
_ALONE_SHARE = 0.05
"""Without intervals growth of a part by less than this share of the wall time is noise, whatever it is of the part.

By measurement: of nine equal trainings of 4 s, two at a time, single parts differed by up to 5.3 %, but for what other
programs took.
"""
_OF_GROWTH = 1 / 3
"""What the machine may have taken makes growth doubtful from this share of it on."""


@dataclass(frozen=True)
class Component:
    """A part of the run, before and after (ns).

    Attributes:
        name: `wall`, a phase, or a part of the steps.
        base_ns, new_ns: Means over the runs.
        ci_ns: 95 % interval of new less base; None with too few runs.
        noise: Whether the change is within noise, all parts that are judged taken together.
        regressed: Whether it grew beyond noise, beyond the threshold, and by enough to matter.
        too_small: Whether it grew beyond noise and the threshold, but by too little of the wall time to matter.
        doubtful: Whether it would have regressed, or seems not to have, but for what the machine may have done to it.
        lost_ns: What the machine took of the new side more than of base, at most; negative: of base more.
    """

    name: str
    base_ns: int
    new_ns: int
    ci_ns: tuple[int, int] | None
    noise: bool
    regressed: bool
    too_small: bool = False
    doubtful: bool = False
    lost_ns: int = 0

    @property
    def change(self) -> float | None:
        """Growth as a share of base; None: there was nothing before."""
        return self.new_ns / self.base_ns - 1 if self.base_ns else None


@dataclass(frozen=True)
class _Part:
    """What is to be judged: a difference, what the machine took more of the new side, base's wall time (ns)."""

    name: str
    times: Difference
    lost_ns: int
    wall_ns: int

    @property
    def least_ns(self) -> int:
        """Growth of less stops nobody."""
        return round((_LEAST_SHARE if self.times.b_ns else _LEAST_NEW_SHARE) * self.wall_ns)

    @property
    def can_matter(self) -> bool:
        """Whether it is large enough on either side to grow by as much."""
        return max(self.times.a_ns, self.times.b_ns) >= self.least_ns

    @property
    def chance(self) -> float:
        """How likely chance alone makes it grow by as much, and not shrink."""
        chance = self.times.chance or 0.0
        return chance / 2 if self.times.delta_ns > 0 else 1 - chance / 2


def components(found: Comparison, limit: float, names: Collection[str] | None = None) -> list[Component]:
    """The wall time and every part of it; what regressed first, and among them what grew most.

    Args:
        found: New version (A) against base (B). dlprof's own time counts nowhere.
        limit: Growth that is let pass, as a share of base.
        names: Only these are judged; None: all.
    """
    parts = [part for part in _parts(found) if names is None or part.name in names]
    family = [part for part in parts if part.can_matter]
    beyond = dict(zip((part.name for part in family), student.holm([part.chance for part in family]), strict=True))
    other_machine = bool(found.parity.of_machine)
    judged = [_judged(part, limit, certain=beyond.get(part.name, True), other=other_machine) for part in parts]
    return sorted(
        judged, key=lambda part: (not part.regressed, not part.doubtful, part.name != WALL, part.base_ns - part.new_ns)
    )


def _parts(found: Comparison) -> Sequence[_Part]:
    """The whole, then each part."""
    own = [item for item in found.items if item.path in OWN_PATHS]
    rest = [item for item in found.items if item.path not in OWN_PATHS]
    new = found.a_wall_ns - sum(item.a_ns for item in own)
    base = found.b_wall_ns - sum(item.b_ns for item in own)
    of_a, of_b = lost_time.of_sides(found)
    lost = [of_a.of(item.path, item.a_ns) - of_b.of(item.path, item.b_ns) for item in rest]
    whole = Difference(new, base, found.gap_ci_ns, found.noise, chance=found.gap_chance)
    parts = [_Part(str(item.path), item, ns, base) for item, ns in zip(rest, lost, strict=True)]
    return [_Part(WALL, whole, sum(lost), base), *parts]


def _judged(part: _Part, limit: float, *, certain: bool, other: bool) -> Component:
    """Judge a part.

    Args:
        part: The part.
        limit: Growth that is let pass, as a share of base.
        certain: Whether it grew beyond noise by the intervals of all parts; it says nothing where there are none.
        other: Whether the new side ran on another kind of machine.
    """
    times, grown = part.times, part.times.delta_ns
    unclear = _is_noise_alone(part, grown) if times.ci_ns is None else not certain
    noise = times.noise or (grown > 0 and unclear)
    beyond = not noise and grown > limit * times.b_ns
    matters = grown > part.least_ns
    slower = beyond and matters
    doubtful = (other or _is_explained(part, limit)) if slower else _may_hide(part, limit)
    return Component(
        part.name,
        times.b_ns,
        times.a_ns,
        times.ci_ns,
        noise,
        slower and not doubtful,
        beyond and not matters,
        doubtful,
        part.lost_ns,
    )


def _is_noise_alone(part: _Part, grown: int) -> bool:
    """Whether growth of a part, seen in a run or two, is no more than parts differ between equal runs."""
    return part.name != WALL and grown < _ALONE_SHARE * part.wall_ns


def _is_explained(part: _Part, limit: float) -> bool:
    """Whether growth may be what the machine took: a good part of it, or what is beyond the limit."""
    grown = part.times.delta_ns
    left = grown - part.lost_ns
    return part.lost_ns > 0 and (
        part.lost_ns >= _OF_GROWTH * grown or left <= max(limit * part.times.b_ns, part.least_ns)
    )


def _may_hide(part: _Part, limit: float) -> bool:
    """Whether a part would have regressed, had the machine taken no more of base than of the new side."""
    taken, base = -part.lost_ns, part.times.b_ns + part.lost_ns
    grown = part.times.a_ns - base
    if taken < max(_OF_GROWTH * grown, 1) or grown <= max(limit * base, part.least_ns):
        return False
    ci = part.times.ci_ns
    return grown >= max(_ALONE_SHARE * part.wall_ns, base / 5) if ci is None else ci[0] + taken > 0
