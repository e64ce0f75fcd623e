"""Whether a new version is slower than the one before, component by component."""

from __future__ import annotations

from dataclasses import dataclass

from dlprof.analysis.compare import Comparison, Difference
from dlprof.schema.tree_paths import OWN_PATHS

_LEAST_SHARE = 0.01
"""A component that grew by less than this share of the wall time does not stop anyone."""
_LEAST_NEW_SHARE = 0.02
"""The same of a component that was not there before: of such a one no growth in percent tells how much it is."""


@dataclass(frozen=True)
class Component:
    """A part of the run, before and after (ns).

    Attributes:
        name: `wall`, a phase, or a part of the steps.
        base_ns, new_ns: Means over the runs.
        ci_ns: 95 % interval of new less base; None with too few runs.
        noise: Whether the change is within noise.
        regressed: Whether it grew beyond noise, beyond the threshold, and by enough to matter.
        too_small: Whether it grew beyond noise and the threshold, but by too little of the wall time to matter.
    """

    name: str
    base_ns: int
    new_ns: int
    ci_ns: tuple[int, int] | None
    noise: bool
    regressed: bool
    too_small: bool = False

    @property
    def change(self) -> float | None:
        """Growth as a share of base; None: there was nothing before."""
        return self.new_ns / self.base_ns - 1 if self.base_ns else None


def components(found: Comparison, limit: float) -> list[Component]:
    """The wall time and every part of it; what regressed first, and among them what grew most.

    Args:
        found: New version (A) against base (B). dlprof's own time counts nowhere.
        limit: Growth that is let pass, as a share of base.
    """
    own = [item for item in found.items if item.path in OWN_PATHS]
    new = found.a_wall_ns - sum(item.a_ns for item in own)
    base = found.b_wall_ns - sum(item.b_ns for item in own)
    whole = Difference(new, base, found.gap_ci_ns, found.noise)
    parts = [(str(item.path), item) for item in found.items if item.path not in OWN_PATHS]
    judged = [_judged(name, part, limit, base) for name, part in (("wall", whole), *parts)]
    return sorted(judged, key=lambda part: (not part.regressed, part.name != "wall", part.base_ns - part.new_ns))


def _judged(name: str, part: Difference, limit: float, wall_ns: int) -> Component:
    grown = part.delta_ns
    least = _LEAST_SHARE if part.b_ns else _LEAST_NEW_SHARE
    beyond = not part.noise and grown > limit * part.b_ns
    matters = grown > least * wall_ns
    return Component(name, part.b_ns, part.a_ns, part.ci_ns, part.noise, beyond and matters, beyond and not matters)
