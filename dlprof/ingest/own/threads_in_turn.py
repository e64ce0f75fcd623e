"""Threads that had one number in turn: Python gives that of a thread that has ended to another one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

_Numbers = npt.NDArray[np.int64]


class SystemThread(NamedTuple):
    """A thread of the traced process."""

    thread: int
    """Its number for Python."""
    number: int
    """Its number for the system."""
    span: int
    """The first span that was of it, not of one that had its number before."""
    name: str


@dataclass
class ThreadsInTurn:
    """What the stream tells of threads; of Pythons before 3.8 nothing.

    Attributes:
        all: The threads, in its order.
    """

    all: list[SystemThread] = field(default_factory=list)

    def add(self, thread: int, number: int, span: int, name: str) -> None:
        """Add a thread."""
        self.all.append(SystemThread(thread, number, span, name))

    def of(self, threads: _Numbers, spans: _Numbers) -> _Numbers:
        """Which thread each span is of, a place in `all`; -1: it is not known.

        Args:
            threads: Of each span the number of its thread for Python.
            spans: Their own numbers.
        """
        if not self.all:
            return np.full(len(spans), -1, np.int64)
        known, code = np.unique(np.array([one.thread for one in self.all], np.int64), return_inverse=True)
        keys = (code.reshape(-1) << 32) + np.array([one.span for one in self.all], np.int64)
        order = np.argsort(keys, kind="stable")
        own = np.minimum(np.searchsorted(known, threads), len(known) - 1)
        place = np.searchsorted(keys[order], (own << 32) + spans, side="right") - 1
        found = order[np.maximum(place, 0)]
        fits = (place >= 0) & (known[own] == threads) & (keys[found] >> 32 == own)
        return np.where(fits, found, -1)
