"""How much of each part of a side's time the machine took: no change of what runs explains that.

Of waiting for a core it is measured phase by phase, by what the kernel counts of the main thread, where other programs
used cores: threads that wait for each other alone are a matter of what runs. The rest is what `doubts` knows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dlprof.analysis import scheduling
from dlprof.analysis.compare import Comparison
from dlprof.analysis.doubts import OTHERS_PCT, STARTS, Doubt, GpuThrottled, HeldBack, LowClock, StartWaited, Stolen
from dlprof.analysis.scheduling import MainThread
from dlprof.schema.tree_paths import Tree, TreePath
from dlprof.store.run import Run

_READS_FILES = (Tree.STARTUP, Tree.IMPORT)


@dataclass(frozen=True)
class LostTime:
    """What the machine took of one side; shares are of the time of a part, and 0 where nothing was seen.

    Attributes:
        waits: By phase, how long its main thread waited for a core that others had.
        of_all: The same of all phases in which it was measured: it stands for those in which it was not.
        everywhere: What a quota, the host of a virtual machine or a low clock took more than on the other side.
        in_training: The share of samples in which a GPU was throttled, more than on the other side.
        disk_ns: What starting waited more for its files (ns).
    """

    waits: Mapping[TreePath, float]
    of_all: float = 0.0
    everywhere: float = 0.0
    in_training: float = 0.0
    disk_ns: int = 0

    def of(self, path: TreePath, ns: int) -> int:
        """The most that it can have been of a part (ns).

        Args:
            path: The part.
            ns: Its time on this side.
        """
        root = _root(path)
        share = self.waits.get(root, self.of_all) + self.everywhere
        share += 0.0 if root in STARTS else self.in_training
        return min(ns, round(share * ns) + (self.disk_ns if root in _READS_FILES else 0))


def of_sides(found: Comparison) -> tuple[LostTime, LostTime]:
    """What the machine took of A and of B."""
    roots = sorted({_root(item.path) for item in found.items})
    return (
        _of_side(found.a.runs, roots, [one for one in found.doubts if one.of_a]),
        _of_side(found.b.runs, roots, [one for one in found.doubts if not one.of_a]),
    )


def _of_side(runs: Sequence[Run], roots: Sequence[TreePath], doubts: Sequence[Doubt]) -> LostTime:
    seen = {root: [_waited(run, root) for run in runs] for root in roots}
    waits = {root: share for root, told in seen.items() if (share := _share(told)) is not None}
    everywhere, throttled, disk_ns = 0.0, 0.0, 0
    for state in (one.state for one in doubts):
        match state:
            case HeldBack():
                everywhere += state.share - (state.other or 0.0)
            case Stolen():
                everywhere += state.share - state.other
            case LowClock():
                everywhere += 1 - state.mhz / state.other
            case GpuThrottled():
                throttled += state.share - (state.other or 0.0)
            case StartWaited():
                disk_ns += state.disk_ns
    of_all = _share([one for told in seen.values() for one in told])
    return LostTime(waits, of_all or 0.0, everywhere, throttled, disk_ns)


def _waited(run: Run, root: TreePath) -> MainThread | None:
    """What the main thread did in a phase; its waiting counts where other programs used cores in the run."""
    told = scheduling.main_thread(run, root)
    others = scheduling.mean_of_machine(run, (0, run.wall_ns or 0), "others_cpu_pct")
    if told is None or (others is not None and others >= OTHERS_PCT):
        return told
    return MainThread(told.run_ns + told.wait_ns, 0, told.stood_ns)


def _share(told: Sequence[MainThread | None]) -> float | None:
    """Of the time of a phase over all runs that was waited; None: it was measured in none of them."""
    known = [one for one in told if one is not None]
    whole = sum(one.run_ns + one.wait_ns + one.stood_ns for one in known)
    return sum(one.wait_ns for one in known) / whole if whole else None


def _root(path: TreePath) -> TreePath:
    return TreePath(path.partition("/")[0])
