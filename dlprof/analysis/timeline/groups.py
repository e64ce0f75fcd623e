"""A run as one timeline: groups of tracks with slices and curves, as viewers of traces draw them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from dlprof.analysis.timeline import devices, program
from dlprof.analysis.timeline.series import Series, all_series
from dlprof.analysis.timeline.slices import Slices
from dlprof.errors import NoInputError
from dlprof.store.run import Run

PROGRAM = "program"
SERIES = "series"
_ONE_TRACK: Sequence[tuple[str, str, Callable[[Run], Slices]]] = (
    ("phase_intervals", "phases", program.phases),
    ("epochs", "epochs", program.epochs),
    ("steps", "steps", program.steps),
    ("collectives", "collectives", program.collectives),
    ("kernel_windows", "kernel windows", program.windows),
)
"""Tables, the track of each, and what makes its slices."""


@dataclass
class Group:
    """Tracks and curves that belong together: a program, its operators on the host, a GPU, the machine.

    Attributes:
        name: What it is.
        tracks: Name and slices of each; slices of one track nest or do not touch, and are in the order of
            `dlprof.analysis.timeline.lanes`.
        series: Curves.
    """

    name: str
    tracks: list[tuple[str, Slices]] = field(default_factory=list)
    series: list[Series] = field(default_factory=list)

    def add(self, name: str, slices: Slices) -> None:
        """Add slices, on as many tracks as they need."""
        for number, lane in enumerate(slices.lanes(), 1):
            self.tracks.append((name if number == 1 else f"{name} #{number}", lane))


@dataclass
class Timeline:
    """The whole of it.

    Attributes:
        groups: In the order in which they are drawn.
        shift_ns: What is to be added to times so that none is negative; 0 in most runs.
    """

    groups: list[Group]
    shift_ns: int

    @property
    def said(self) -> str:
        """How much there is, in words."""
        slices = sum(len(slices.start_ns) for group in self.groups for _, slices in group.tracks)
        curves = sum(len(group.series) for group in self.groups)
        return f"{slices:,} slices on {sum(len(group.tracks) for group in self.groups)} tracks, {curves} counters"


def of_run(run: Run, *, without: Collection[str] = ()) -> Timeline:
    """The timeline of a run.

    Args:
        run: The run.
        without: Tables of the program that are left out; `SERIES`: all curves are.

    Raises:
        NoInputError: Nothing in it has a time.
    """
    groups = {PROGRAM: _program(run, without)}

    def group(name: str) -> Group:
        return groups.setdefault(name, Group(name))

    for device, lane, slices in devices.kernels(run):
        group(device).add(lane, slices)
    for device, slices in devices.gaps(run):
        group(device).add("idle", slices)
    for series in all_series(run) if SERIES not in without else ():
        group(series.group).series.append(series)
    found = [one for one in groups.values() if one.tracks or one.series]
    if not found:
        raise NoInputError(f"{run.name} has nothing with a time in it.", hint=f"dlprof report {run.typed}")
    return Timeline(found, max(0, -_first_ns(found)))


def _program(run: Run, without: Collection[str]) -> Group:
    group = Group(PROGRAM)
    for table, name, made in _ONE_TRACK:
        if table not in without:
            group.add(name, made(run))
    for thread, slices in program.calls(run) if "spans" not in without else ():
        group.add(f"calls: {thread}", slices)
    if "gc" not in without:
        group.add("garbage collection", program.collections(run))
    if "processes" not in without:
        group.add("processes", program.lives(run))
    for thread, slices in program.samples(run) if "stacks" not in without else ():
        group.add(f"sampled stacks: {thread}", slices)
    return group


def _first_ns(groups: Sequence[Group]) -> int:
    slices = [int(slices.start_ns.min()) for group in groups for _, slices in group.tracks]
    return min(slices + [int(series.time_ns.min()) for group in groups for series in group.series])
