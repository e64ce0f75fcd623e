"""Stacks that py-spy read in part, because Python ran on while it did: what is outside of their frames is put back.

py-spy does not stop the process. Where calls come and go fast, such as those of an engine that starts one small
operation after the other, it often gets the innermost frames alone: the line of the user's that called them is missing,
and what runs fastest is seen least. A whole stack of the same thread that has the same frame tells what is around it.
"""

from __future__ import annotations

from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Sequence

from dlprof.ingest.parse.sampled_stacks import Frame, StackInterval

_SHARE_OF_ROOTS = 0.1
"""Share of a thread's stacks that begin in a function where threads do begin: torn ones begin anywhere."""
_Thread = tuple[object, int]
_Function = tuple[str, str]


def completed(told: Sequence[StackInterval]) -> tuple[list[StackInterval], int]:
    """Stacks with what was around those that were read in part, and how many these were.

    Of the whole stacks that have the outermost frame that was read, the nearest in time is taken; a stack that no whole
    one explains stays as it is.

    Args:
        told: Stacks of any threads; those of each in the order of time.
    """
    by_thread: dict[_Thread, list[StackInterval]] = defaultdict(list)
    for one in told:
        if one.stack:
            by_thread[one.thread.process, one.thread.number].append(one)
    around = {thread: _Around(own) for thread, own in by_thread.items()}
    found = [one if not one.stack else around[one.thread.process, one.thread.number].whole(one) for one in told]
    return found, sum(one is not other for one, other in zip(found, told, strict=True))


class _Around:
    """What is around the frames of a thread."""

    def __init__(self, told: Sequence[StackInterval]) -> None:
        self._roots = _roots(told)
        self._frames: dict[Frame, _Places] = {}
        self._functions: dict[_Function, _Places] = {}
        for one in told:
            if _function(one.stack[0]) not in self._roots:
                self._frames.setdefault(one.stack[0], _Places())
                self._functions.setdefault(_function(one.stack[0]), _Places())
        for one in told if self._frames else ():
            if _function(one.stack[0]) in self._roots:
                self._add(one)

    def _add(self, one: StackInterval) -> None:
        """Note where what is asked for is in a whole stack: of calls of itself the outermost."""
        for depth in range(len(one.stack) - 1, 0, -1):
            frame = one.stack[depth]
            for places in (self._frames.get(frame), self._functions.get(_function(frame))):
                if places is not None:
                    places.put(one.start_us, one.stack[:depth])

    def whole(self, one: StackInterval) -> StackInterval:
        """A stack with what is around it; itself where it is whole, or nothing is known."""
        outermost = one.stack[0]
        if _function(outermost) in self._roots:
            return one
        for places in (self._frames[outermost], self._functions[_function(outermost)]):
            if places.starts:
                return one._replace(stack=(*places.nearest(one.start_us), *one.stack))
        return one


class _Places:
    """Where something is in whole stacks: when these began (us), and what was around it."""

    def __init__(self) -> None:
        self.starts: list[float] = []
        self.outer: list[tuple[Frame, ...]] = []

    def put(self, start_us: float, outer: tuple[Frame, ...]) -> None:
        """Note a place; the last one of a stack counts."""
        if self.starts and self.starts[-1] == start_us:
            self.outer[-1] = outer
        else:
            self.starts.append(start_us)
            self.outer.append(outer)

    def nearest(self, time_us: float) -> tuple[Frame, ...]:
        """What was around it in the stack nearest in time."""
        after = bisect(self.starts, time_us)
        near = range(max(0, after - 1), min(len(self.starts), after + 1))
        return self.outer[min(near, key=lambda at: abs(self.starts[at] - time_us))]


def _roots(told: Sequence[StackInterval]) -> set[_Function]:
    """Functions in which stacks begin: the most usual one, and others that nothing was seen to call."""
    counts = Counter(_function(one.stack[0]) for one in told)
    called = {_function(frame) for one in told for frame in one.stack[1:]}
    (first, _), *others = counts.most_common()
    return {first, *(one for one, count in others if count >= _SHARE_OF_ROOTS * len(told) and one not in called)}


def _function(frame: Frame) -> _Function:
    return frame.file, frame.function
