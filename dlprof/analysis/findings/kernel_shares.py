"""Kernels of devices that rules choose by their names, as shares of the tree's leaves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dlprof.analysis import kernels
from dlprof.analysis.findings.case import Case
from dlprof.analysis.kernels import Row
from dlprof.schema.tree_paths import TreePath
from dlprof.schema.vocabulary import EventKind, StepPart, known_category


@dataclass(frozen=True)
class Chosen:
    """Kernels of some sort among all kernels of the devices.

    Attributes:
        rows: They, by name, operator and layer, those with most time first.
        ns: Their time (ns), as they were traced.
        share: Of the time of all kernels.
        by_category: Category to their share of its kernels' time.
    """

    rows: Sequence[Row]
    ns: int
    share: float
    by_category: dict[str, float]

    def takes(self, case: Case, gain: float) -> dict[TreePath, int]:
        """A share of their time, by leaf of the tree (ns)."""
        taken: dict[TreePath, int] = {}
        for category, share in self.by_category.items():
            places = [root / StepPart.KERNELS / category for root in case.devices.roots]
            taken.update(case.takes(*places, share=share * gain))
        return taken


def chosen(case: Case, is_one: Callable[[Row], bool]) -> Chosen:
    """The kernels of devices that are of a sort."""
    rows = of_devices(case)
    mine = [row for row in rows if is_one(row)]
    whole, parts = _sums(rows), _sums(mine)
    ns = sum(parts.values())
    return Chosen(
        mine, ns, ns / max(1, sum(whole.values())), {name: ns / max(1, whole[name]) for name, ns in parts.items()}
    )


def of_devices(case: Case) -> list[Row]:
    """All kernels of devices, by name, operator and layer."""
    return [
        row for row in kernels.summarise(case.run, "kernel", kinds=(EventKind.KERNEL.word,)).rows if not row.on_host
    ]


def name(row: Row) -> str:
    """The name of a kernel."""
    return str(row.keys["name"])


def _sums(rows: Sequence[Row]) -> Counter[str]:
    """Category to time (ns)."""
    sums: Counter[str] = Counter()
    for row in rows:
        sums[known_category(row.category)] += row.total_ns
    return sums
