"""Where a rank's main thread stood in stretches of time, by its sampled stacks; and a rank that stands for good."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dlprof.analysis import phase_threads, samples
from dlprof.analysis.clocks import Clock
from dlprof.analysis.columns import integers
from dlprof.analysis.stacks import MODULE, frames_by_stack
from dlprof.store.ranked import Member
from dlprof.store.run import Run

Span = tuple[int, int]
_SAMPLED_NS = 1_000_000_000
"""Of less that was sampled no shares are told."""
_HUNG_NS = 1_000_000_000
_HUNG_STEPS = 10
"""A rank that makes no progress for this time, and for so many steps, stands for good."""
_WITH_OTHERS = (
    "torch/distributed/", "torch/autograd/", "torch/nn/parallel/", "torch/_tensor.py", "jax/", "jaxlib/", "tensorflow/",
    "keras/", "mxnet/", "horovod/", "mpi4py/", "ray/",
)  # fmt: skip
"""Files in which a rank may wait for others."""


@dataclass(frozen=True)
class Stand:
    """Where a thread stood for most of some time.

    Attributes:
        function: The innermost function of the user's own.
        file, line: Where in it.
        ns: For how long, by the samples (ns).
        of_ns: How much was sampled at all (ns).
        is_with_others: It called what ranks do together: it may have waited for them there.
    """

    function: str
    file: str
    line: int
    ns: int
    of_ns: int
    is_with_others: bool

    @property
    def place(self) -> str:
        """The function, or that it is none's."""
        return "the script itself" if self.function == MODULE else f"{self.function}()"


def of_run(run: Run, times: Sequence[Span]) -> Stand | None:
    """Where the main thread stood for longest.

    Args:
        run: The run.
        times: (begin, end) on its own timeline (ns), none before the other.

    Returns:
        The line of the user's; None: nothing was sampled then, or nothing of the user's.
    """
    found = stood(run, times).places
    return _longest(found) if found else None


def by_itself(run: Run, times: Sequence[Span]) -> Stand | None:
    """Where the main thread stood for longest by itself, waiting for no other rank; arguments as of `of_run`."""
    found = {place: ns for place, ns in stood(run, times).places.items() if not place.with_others}
    return _longest(found) if found else None


@dataclass(frozen=True)
class More:
    """What a rank does by itself that another one does not.

    Attributes:
        share: Of its time, beyond what the other spends by itself, 0 to 1.
        stand: The line that has most of it.
    """

    share: float
    stand: Stand


def more(slow: Stood, other: Stood) -> More | None:
    """What one rank does by itself, beyond what another one does.

    Returns:
        None: one was hardly sampled, or does no more by itself than the other.
    """
    if min(slow.sampled_ns, other.sampled_ns) < _SAMPLED_NS:
        return None
    own, others = slow.alone, other.alone
    excess = sum(own.values()) - sum(others.values())
    if excess <= 0:
        return None
    by_line = {place: share - others.get(place, 0.0) for place, share in own.items()}
    place, share = max(by_line.items(), key=lambda item: item[1])
    ns = int(share * slow.whole_ns)
    return More(excess, Stand(place.function, place.file, place.line, ns, slow.whole_ns, is_with_others=False))


class _Place(NamedTuple):
    """The innermost frame of the user's own, and whether it called what ranks do together."""

    function: str
    file: str
    line: int
    with_others: bool


def _longest(found: Mapping[_Place, int]) -> Stand:
    place, ns = max(found.items(), key=lambda item: item[1])
    return Stand(place.function, place.file, place.line, ns, sum(found.values()), place.with_others)


@dataclass(frozen=True)
class Stood:
    """Where a rank's main thread stood in some stretches of its time, by its samples.

    Attributes:
        places: For how long in each (ns).
        whole_ns: How long the stretches are, sampled or not (ns).
    """

    places: Mapping[_Place, int]
    whole_ns: int

    @property
    def sampled_ns(self) -> int:
        """How much of them was sampled (ns)."""
        return sum(self.places.values())

    @property
    def alone(self) -> dict[_Place, float]:
        """The places in which it waited for no other rank, with their shares of what was sampled."""
        return {place: ns / self.sampled_ns for place, ns in self.places.items() if not place.with_others}


def stood(run: Run, times: Sequence[Span]) -> Stood:
    """Where the main thread stood in stretches of its own timeline: (begin, end) in ns, none before the other."""
    return Stood(_places(run, times), sum(end - begin for begin, end in times))


def _places(run: Run, times: Sequence[Span]) -> dict[_Place, int]:
    table = run.table("stacks", ("thread", "start_ns", "dur_ns", "stack_id"))
    table = phase_threads.of_run(run).of_stacks(table)
    if not table.num_rows or not times:
        return {}
    start, dur = integers(table["start_ns"]), integers(table["dur_ns"])
    inside = np.zeros(len(start), np.int64)
    for begin, end in times:
        inside += np.maximum(0, np.minimum(start + dur, end) - np.maximum(start, begin))
    numbers = integers(table["stack_id"])
    used, which = np.unique(numbers[inside > 0], return_inverse=True)
    sums = np.bincount(which, inside[inside > 0], len(used))
    frames, users = frames_by_stack(run), samples.user_files(run)
    found: dict[_Place, int] = {}
    for number, ns in zip(used.tolist(), sums.tolist(), strict=True):
        stack = frames.get(number, ())
        own = next((depth for depth, frame in enumerate(stack) if frame.file in users), None)
        if own is not None:
            frame, called = stack[own], stack[:own]
            with_others = any(one.file.startswith(_WITH_OTHERS) for one in called)
            place = _Place(frame.name, frame.file, frame.line, with_others)
            found[place] = found.get(place, 0) + int(ns)
    return found


@dataclass(frozen=True)
class Hung:
    """A rank that stood still for good, while all others waited for it.

    Attributes:
        rank: Which.
        stand: Where.
        since_ns: For how long before the first process ended (ns).
        others: Where one of the others stood meanwhile; None: it was not sampled.
    """

    rank: int
    stand: Stand
    since_ns: int
    others: Stand | None


def hung(members: Sequence[Member], clock: Clock, progress: Mapping[int, int], step_ns: int) -> Hung | None:
    """The one rank that stands elsewhere than in what ranks do together, when none has made a step for long.

    Args:
        members: The ranks.
        clock: How their clocks stand to each other.
        progress: Rank to when it last ended a step or a collective, on the clock in common (ns).
        step_ns: A usual step.
    """
    if clock.unknown is not None or len(progress) < 2:
        return None
    ends = {
        one.rank: clock.placements[one.rank].shift_ns + one.run.wall_ns
        for one in members
        if one.run.wall_ns is not None and one.rank in clock.placements
    }
    if not ends:
        return None
    last, end = max(progress.values()), min(ends.values())
    if end - last < max(_HUNG_NS, _HUNG_STEPS * step_ns):
        return None
    stands = {}
    for one in members:
        place = clock.placements[one.rank]
        own = [int(place.own(np.array([moment]))[0]) for moment in (last + (end - last) // 10, end)]
        stands[one.rank] = of_run(one.run, [(own[0], own[1])])
    alone = [rank for rank, stand in stands.items() if stand is not None and not stand.is_with_others]
    together = [stand for stand in stands.values() if stand is not None and stand.is_with_others]
    if len(alone) != 1 or not together:
        return None
    stand = stands[alone[0]]
    return None if stand is None else Hung(alone[0], stand, end - last, together[0])
