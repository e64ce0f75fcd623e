"""What makes a comparison of times doubtful: in the slower run the machine was in another state than in the other.

Other programs had the cores, a quota or the host held the process back, a GPU or the cores were throttled, or the start
waited. A difference that this may explain is nothing to be put down to what was run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dlprof.analysis import cold_files, scheduling, utilisation
from dlprof.analysis.scheduling import MainThread, Threads
from dlprof.schema.tree_paths import Tree
from dlprof.store.run import Run

OTHERS_PCT, WAITING = 25.0, 0.04
"""Other programs matter from a quarter of a core on, where threads waited for one for this share of their time."""
GPU_THROTTLED = 0.05
"""A GPU is throttled where this share of its samples gives a reason for lower clocks."""
STARTS = (Tree.STARTUP, Tree.IMPORT, Tree.TEARDOWN)
"""Phases in which what the main thread waits for is no matter of the training."""
_CLOCK = 0.9
"""Cores at a lower share of the other run's clock."""
_OF_GAP, _OF_WALL = 0.2, 0.02
"""What explains less than this share of the gap, or took less than this share of the wall time, is no doubt."""


@dataclass(frozen=True)
class Contended:
    """Other programs had cores while one side trained; of the other side None: not measured.

    Attributes:
        others_pct: What they used meanwhile, in percent of a core.
        waiting: Share of their runnable time that threads had no core.
        other_pct, other_waiting: The same of the other side.
    """

    others_pct: float
    waiting: float
    other_pct: float | None
    other_waiting: float | None


@dataclass(frozen=True)
class HeldBack:
    """The quota of the control group held the process back for a share of its time; None: not known of the other."""

    share: float
    other: float | None


@dataclass(frozen=True)
class Stolen:
    """The host of a virtual machine gave a share of the cores' time to others; 0: no more than is usual."""

    share: float
    other: float


@dataclass(frozen=True)
class GpuThrottled:
    """A share of the samples of a GPU in which it was throttled; None: no GPU of the other side tells."""

    share: float
    other: float | None


@dataclass(frozen=True)
class LowClock:
    """The mean clock of busy cores (MHz)."""

    mhz: float
    other: float


@dataclass(frozen=True)
class StartWaited:
    """What the start and the end of the process waited more than on the other side (ns).

    Attributes:
        wait_ns: The main thread could run, and had no core.
        disk_ns: It stood still, and read far more pages from disk; 0: no more than the other.
        pages, other_pages: Pages read from disk before the training.
    """

    wait_ns: int
    disk_ns: int
    pages: int | None
    other_pages: int | None


State = Contended | HeldBack | Stolen | GpuThrottled | LowClock | StartWaited


@dataclass(frozen=True)
class Doubt:
    """A state of the machine that may explain a good part of a gap.

    Attributes:
        of_a: Whether it slowed A; else B.
        state: What it was.
    """

    of_a: bool
    state: State


def of_pair(a: Run, b: Run, gap_ns: int, *, noise: bool) -> tuple[Doubt, ...]:
    """The doubts about which of two runs is the slower; empty: nothing was seen that would explain much of the gap.

    Args:
        a: One run.
        b: The other.
        gap_ns: Wall time of A less that of B.
        noise: Whether the gap is within noise: then it may hide a difference in either direction.
    """
    doubts = []
    for of_a, pair in ((True, _Pair(a, b, gap_ns)), (False, _Pair(b, a, -gap_ns))):
        if noise or pair.gap_ns > 0:
            doubts += [Doubt(of_a, state) for state in pair.states()]
    return tuple(doubts)


@dataclass(frozen=True)
class _Pair:
    """A run that may have been slowed, the other, and by how much the first took longer (ns)."""

    mine: Run
    theirs: Run
    gap_ns: int

    def states(self) -> Iterator[State]:
        """What may have slowed it, and did not slow the other as much."""
        yield from self._contended()
        yield from self._held_back()
        yield from self._throttled()
        yield from self._start()

    def _explains(self, lost_ns: float) -> bool:
        return lost_ns >= max(_OF_GAP * abs(self.gap_ns), _OF_WALL * (self.mine.wall_ns or 0), 1)

    def _contended(self) -> Iterator[Contended]:
        pct, threads = _load(self.mine)
        other_pct, other = _load(self.theirs)
        if pct is None or threads is None or pct - (other_pct or 0.0) < OTHERS_PCT or threads.waiting < WAITING:
            return
        more = threads.waiting - (other.waiting if other else 0.0)
        begin, end = scheduling.training_span(self.mine, self.mine.wall_ns or 0)
        # Where threads wait for each other, each waits for the one that has no core.
        lost_ns = min(more * _cores(self.mine), 1.0) * (end - begin)
        if more >= WAITING and self._explains(min(lost_ns, threads.wait_ns)):
            yield Contended(pct, threads.waiting, other_pct, other.waiting if other else None)

    def _held_back(self) -> Iterator[HeldBack | Stolen]:
        held, other = (scheduling.held_back(run) for run in (self.mine, self.theirs))
        if held and self._explains((held - (other or 0.0)) * (self.mine.wall_ns or 0)):
            yield HeldBack(held, other)
        stolen, other_stolen = (scheduling.stolen(run) or 0.0 for run in (self.mine, self.theirs))
        if stolen and self._explains((stolen - other_stolen) * (self.mine.wall_ns or 0)):
            yield Stolen(stolen, other_stolen)

    def _throttled(self) -> Iterator[GpuThrottled | LowClock]:
        share, other = _gpu_throttled(self.mine), _gpu_throttled(self.theirs)
        if share is not None and share - (other or 0.0) >= GPU_THROTTLED:
            yield GpuThrottled(share, other)
        clock, other_clock = scheduling.core_clock(self.mine), scheduling.core_clock(self.theirs)
        if clock is not None and other_clock is not None and clock < _CLOCK * other_clock:
            yield LowClock(clock, other_clock)

    def _start(self) -> Iterator[StartWaited]:
        more = start_difference(self.mine, self.theirs)
        pages, other = (cold_files.pages_from_disk(run) for run in (self.mine, self.theirs))
        if more is None:
            return
        wait_ns = max(0, more.wait_ns)
        disk_ns = max(0, more.stood_ns) if cold_files.is_colder(pages, other) else 0
        if self._explains(wait_ns + disk_ns):
            yield StartWaited(wait_ns, disk_ns, pages, other)


def start_difference(run: Run, other: Run) -> MainThread | None:
    """What the main thread of a run did more than that of another while the process started and ended (ns).

    Phases of which it is not known on both sides are left out; None: of none it is.
    """
    pairs = [(scheduling.main_thread(run, place), scheduling.main_thread(other, place)) for place in STARTS]
    known = [(mine, theirs) for mine, theirs in pairs if mine is not None and theirs is not None]
    if not known:
        return None
    return MainThread(
        sum(mine.run_ns - theirs.run_ns for mine, theirs in known),
        sum(mine.wait_ns - theirs.wait_ns for mine, theirs in known),
        sum(mine.stood_ns - theirs.stood_ns for mine, theirs in known),
    )


def _load(run: Run) -> tuple[float | None, Threads | None]:
    span = scheduling.training_span(run, run.wall_ns or 0)
    return scheduling.mean_of_machine(run, span, "others_cpu_pct"), scheduling.threads(run, span)


def _cores(run: Run) -> int:
    machine = run.manifest.machine
    return machine.at_once(machine.usable_cores or machine.cores or 1) or 1


def _gpu_throttled(run: Run) -> float | None:
    shares = [gpu.throttled_share for gpu in utilisation.gpus(run.table("gpu"), run.manifest)]
    return max((share for share in shares if share is not None), default=None)
