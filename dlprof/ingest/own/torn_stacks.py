"""Stacks that py-spy read in part, because Python ran on while it did: what is outside of their frames is put back.

py-spy does not stop the process. Where calls come and go fast, such as those of an engine that starts one small
operation after the other, it often gets the innermost frames alone: the line of the user's that called them is missing,
and what runs fastest is seen least. A whole stack of the same thread that has the same frame tells what is around it.
"""

from __future__ import annotations

from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from dlprof.ingest.parse.sampled_stacks import Frame, StackInterval

_SHARE_OF_ROOTS = 0.1
"""Share of a thread's stacks that begin in a function where threads do begin: torn ones begin anywhere."""
_Thread = tuple[object, int]
_Function = tuple[str, str]


class WholeStacks:
    """What the whole stacks of a run say of those that were read in part, growing segment by segment."""

    def __init__(self) -> None:
        self._threads: dict[_Thread, _Around] = defaultdict(_Around)

    def complete(self, told: Sequence[StackInterval]) -> tuple[list[StackInterval], int]:
        """Stacks of a segment with what was around those that were read in part, and how many these were.

        Of the whole stacks that have the outermost frame that was read, the nearest in time is taken, and one of an
        earlier segment where this one has none; a stack that no whole one explains stays as it is.

        Args:
            told: Stacks of any threads; those of each in the order of time.
        """
        by_thread: dict[_Thread, list[StackInterval]] = defaultdict(list)
        for one in told:
            if one.stack:
                by_thread[one.thread.process, one.thread.number].append(one)
        for thread, own in by_thread.items():
            self._threads[thread].add(own)
        found = [self._threads[one.thread.process, one.thread.number].whole(one) if one.stack else one for one in told]
        return found, sum(one is not other for one, other in zip(found, told, strict=True))


class _Around:
    """What is around the frames of a thread."""

    def __init__(self) -> None:
        self._stacks = 0
        self._first: Counter[_Function] = Counter()
        self._called: set[_Function] = set()
        self._roots: set[_Function] = set()
        self._near: dict[Frame | _Function, _Places] = {}
        """Where frames and functions are in the whole stacks of this segment: those with which its torn ones begin."""
        self._last: dict[Frame | _Function, tuple[tuple[Frame, ...], int]] = {}
        """The last whole stack that had a frame, or a function, and at which depth: of all segments."""

    def add(self, told: Sequence[StackInterval]) -> None:
        """Look through the stacks of a segment."""
        self._stacks += len(told)
        self._first.update(_function(one.stack[0]) for one in told)
        self._called.update(_function(frame) for stack in {one.stack for one in told} for frame in stack[1:])
        self._roots = self._where_threads_begin()
        whole = [one for one in told if self._is_whole(one)]
        torn = [one.stack[0] for one in told if not self._is_whole(one)]
        self._near = {about: _Places() for frame in torn for about in (frame, _function(frame))}
        for one in whole if self._near else ():
            for depth, frame in _outermost_last(one.stack):
                for places in (self._near.get(frame), self._near.get(_function(frame))):
                    if places is not None:
                        places.put(one.start_us, one.stack[:depth])
        for stack in {one.stack: None for one in whole}:
            for depth, frame in _outermost_last(stack):
                self._last[frame] = self._last[_function(frame)] = stack, depth

    def _where_threads_begin(self) -> set[_Function]:
        """Functions in which stacks begin: the most usual one, and others that nothing was seen to call."""
        (first, _), *others = self._first.most_common()
        least = _SHARE_OF_ROOTS * self._stacks
        return {first, *(one for one, count in others if count >= least and one not in self._called)}

    def _is_whole(self, one: StackInterval) -> bool:
        return _function(one.stack[0]) in self._roots

    def whole(self, one: StackInterval) -> StackInterval:
        """A stack of the segment with what is around it; itself where it is whole, or nothing is known."""
        if self._is_whole(one):
            return one
        for about in (one.stack[0], _function(one.stack[0])):
            if self._near[about].starts:
                return one._replace(stack=(*self._near[about].nearest(one.start_us), *one.stack))
            if about in self._last:
                stack, depth = self._last[about]
                return one._replace(stack=(*stack[:depth], *one.stack))
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


def _outermost_last(stack: tuple[Frame, ...]) -> Iterator[tuple[int, Frame]]:
    """Frames that something called, each with its depth: of calls of itself the outermost is told last, and counts."""
    for depth in range(len(stack) - 1, 0, -1):
        yield depth, stack[depth]


def _function(frame: Frame) -> _Function:
    return frame.file, frame.function
