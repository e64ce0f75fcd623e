"""Whether a new version is slower than the one before, component by component."""

from __future__ import annotations

from dataclasses import dataclass

from dlprof.analysis.breakdown import OWN
from dlprof.analysis.compare import Comparison, Item

_LEAST_SHARE = 0.01
"""A component that grew by less than this share of the wall time does not stop anyone."""


@dataclass(frozen=True)
class Component:
    """A part of the run, before and after (ns).

    Attributes:
        name: `wall`, a phase, or a part of the steps.
        base_ns, new_ns: Means over the runs.
        ci_ns: 95 % interval of new less base; None with too few runs.
        noise: Whether the change is within noise.
        regressed: Whether it grew beyond noise, beyond the threshold, and by enough to matter.
    """

    name: str
    base_ns: int
    new_ns: int
    ci_ns: tuple[int, int] | None
    noise: bool
    regressed: bool

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
    own = [item for item in found.items if item.path in OWN]
    new, base = (
        wall - sum(getattr(item, side) for item in own)
        for wall, side in ((found.a_wall_ns, "a_ns"), (found.b_wall_ns, "b_ns"))
    )
    whole = Item("wall", new, base, found.gap_ci_ns, found.noise)
    parts = [item for item in found.items if item.path not in OWN]
    judged = [_judged(item, limit, base) for item in (whole, *parts)]
    return sorted(judged, key=lambda one: (not one.regressed, one.name != "wall", one.base_ns - one.new_ns))


def _judged(item: Item, limit: float, wall_ns: int) -> Component:
    grown = item.delta_ns
    regressed = not item.noise and grown > limit * item.b_ns and grown > _LEAST_SHARE * wall_ns
    return Component(item.path, item.b_ns, item.a_ns, item.ci_ns, item.noise, regressed)
