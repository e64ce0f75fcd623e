"""When threads that phases are of began and ended their work, by sampled stacks: spans tell only what the probe saw.

A thread makes its data before it makes a model, and writes results behind its training; a thread of a server waits for
the next job, while the main one may do something. Stacks tell whether a thread works, and whether the main one waits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import structs

from dlprof.analysis.columns import Integers, integers, truths
from dlprof.analysis.stretches import Stretches
from dlprof.schema.manifest import PhaseThread
from dlprof.schema.vocabulary import MAIN_THREAD

_AT_REST = tuple(
    f"<python>/{name}"
    for name in (
        "threading.py",
        "queue.py",
        "selectors.py",
        "concurrent/",
        "multiprocessing/connection.py",
        "socket.py",
    )
)
"""Beginnings of the names of Python's own files in which a thread waits for something to do, or for another one."""
_NEAR_NS = 300_000_000
"""Samples may be so far apart: what is shorter is no pause."""


def settled(
    turns: Sequence[PhaseThread], stacks: Iterable[pa.Table], frames: pa.Table, busy: Mapping[int, Stretches]
) -> tuple[PhaseThread, ...]:
    """Turns of which begin and end follow the stacks; cut where their thread waits while the main one does something.

    Turns whose thread the stacks do not have, or whose number for the system is not known, stay as they are.

    Args:
        turns: In order of time.
        stacks: Pieces of the table `stacks`, of the program alone.
        frames: Table `frames`.
        busy: When the probe saw each thread do something, by its number: it has no pause there.
    """
    resting = _resting(frames)
    work, rest = _by_thread(turns, stacks, resting)
    found: list[PhaseThread] = []
    for place, turn in enumerate(turns):
        own = work.get(turn.system_id)
        if own is None or turn.thread_id not in busy:
            found.append(turn)
            continue
        low = turns[place - 1].end_ns if place else 0
        high = turns[place + 1].start_ns if place + 1 < len(turns) else int(np.iinfo(np.int64).max)
        whole = _stretched(turn, own, rest, low, high)
        found += _parts(whole, own.joined(busy[turn.thread_id]), rest)
    return tuple(found)


def _stretched(turn: PhaseThread, own: Stretches, rest: Stretches, low: int, high: int) -> PhaseThread:
    """A turn made longer by the time in which its thread works right before and after it, and the main one waits."""
    before, after = _around(own, turn.start_ns), _around(own, turn.end_ns)
    waits, waited = _around(rest, turn.start_ns), _around(rest, turn.end_ns)
    start = max(low, before[0], waits[0]) if before and waits else turn.start_ns
    end = min(high, after[1], waited[1]) if after and waited else turn.end_ns
    return structs.replace(turn, start_ns=min(turn.start_ns, start), end_ns=max(turn.end_ns, end))


def _around(stretches: Stretches, moment: int) -> tuple[int, int] | None:
    """The stretch that a moment is in, or near; None: there is none."""
    place = int(np.searchsorted(stretches.begin, moment + _NEAR_NS, side="right")) - 1
    if place < 0 or stretches.end[place] < moment - _NEAR_NS:
        return None
    return int(stretches.begin[place]), int(stretches.end[place])


def _parts(turn: PhaseThread, own: Stretches, rest: Stretches) -> Iterator[PhaseThread]:
    """The turn without the pauses in which its thread waits and the main one does something."""
    begin = turn.start_ns
    for start, end in own.outside(turn.start_ns, turn.end_ns).times:
        if end - start >= _NEAR_NS and end < turn.end_ns and start > turn.start_ns:
            away = rest.outside(start, end)
            if away.ns >= _NEAR_NS:
                yield structs.replace(turn, start_ns=begin, end_ns=start)
                begin = end
    yield structs.replace(turn, start_ns=begin)


def _resting(frames: pa.Table) -> Integers:
    """Numbers of the stacks that stand in what waits, in order."""
    depth, stack = integers(frames["depth"]), integers(frames["stack_id"])
    order = np.lexsort((depth, stack))
    last = np.append(stack[order][1:] != stack[order][:-1], True) if len(order) else np.empty(0, bool)
    innermost = frames.take(pa.array(order[last]))
    files = innermost["file"].cast(pa.string())
    waits = np.zeros(len(files), bool)
    for name in _AT_REST:
        waits |= truths(pc.starts_with(files, name))
    return np.sort(integers(innermost["stack_id"])[waits])


def _by_thread(
    turns: Sequence[PhaseThread], stacks: Iterable[pa.Table], resting: Integers
) -> tuple[dict[int | None, Stretches], Stretches]:
    """When each thread that has a turn works, and when the main one waits."""
    wanted = {turn.system_id for turn in turns} - {None}
    work: dict[int | None, list[npt.NDArray[np.int64]]] = {}
    rest: list[npt.NDArray[np.int64]] = []
    for piece in stacks:
        start, number = integers(piece["start_ns"]), integers(piece["thread_id"])
        times = np.stack((start, start + integers(piece["dur_ns"])), axis=1)
        waits = np.isin(integers(piece["stack_id"]), resting)
        rest.append(times[truths(pc.equal(piece["thread"].cast(pa.string()), MAIN_THREAD)) & waits])
        for one in wanted:
            work.setdefault(one, []).append(times[(number == one) & ~waits])
    return {one: _joined(times) for one, times in work.items() if any(len(part) for part in times)}, _joined(rest)


def _joined(times: Sequence[npt.NDArray[np.int64]]) -> Stretches:
    """Stretches of which those that nearly touch are one."""
    both = np.concatenate(times) if times else np.empty((0, 2), np.int64)
    found = Stretches.covered(both[:, 0], both[:, 1] + _NEAR_NS)
    return Stretches(found.begin, found.end - _NEAR_NS)
