"""Which of the user's lines the main thread stood at, at some moments: by the sampled stacks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis import program, samples
from dlprof.analysis.columns import Integers, integers
from dlprof.analysis.stacks import Frame, frames_by_stack
from dlprof.store.run import Run

_NEAR_NS = 150_000_000
"""A stack that was seen so shortly before or after a moment still speaks of it: clocks and rates differ."""
Place = tuple[str, int]
"""File and line."""


class Places:
    """The main thread's stacks over time.

    Args:
        run: The run.
    """

    def __init__(self, run: Run) -> None:
        pieces = [
            piece.filter(pc.equal(piece["thread"].cast(pa.string()), "MainThread"))
            for piece in program.pieces_of(run, "stacks", ("pid", "thread", "start_ns", "dur_ns", "stack_id"))
        ]
        columns = [[integers(piece[name]) for piece in pieces] for name in ("start_ns", "dur_ns", "stack_id")]
        start, dur, stack = (np.concatenate(one) if one else np.empty(0, np.int64) for one in columns)
        order = np.argsort(start, kind="stable")
        self._start, self._end, self._stack = start[order], (start + dur)[order], stack[order]
        frames = frames_by_stack(run.table("frames")) if len(order) else {}
        files = samples.user_files(run) if len(order) else set()
        self._place = {number: _users(frames_of, files) for number, frames_of in frames.items()}

    @property
    def is_empty(self) -> bool:
        """Whether no stack of the main thread was sampled."""
        return not len(self._start)

    def at(self, moments: Integers) -> list[Place | None]:
        """The innermost line of the user's own at each moment (ns); None: none was seen there, or near it."""
        if self.is_empty:
            return [None] * len(moments)
        before = np.maximum(np.searchsorted(self._start, moments, side="right") - 1, 0)
        after = np.minimum(before + 1, len(self._start) - 1)
        late = np.maximum(moments - self._end[before], 0)
        early = np.abs(self._start[after] - moments)
        nearest = np.where(late <= early, before, after)
        near = np.minimum(late, early) <= _NEAR_NS
        return [
            self._place.get(int(self._stack[row])) if is_near else None
            for row, is_near in zip(nearest, near, strict=True)
        ]


def _users(frames: Sequence[Frame], files: set[str]) -> Place | None:
    return next(((frame.file, frame.line) for frame in frames if frame.file in files), None)
