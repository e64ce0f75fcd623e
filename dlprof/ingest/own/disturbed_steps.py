"""Steps of a kernel window that something else has made long: they would be most of it, and tell nothing of the others.

A tracer that needs memory in the middle of a step, another program, a page that had to be read from disk: one of two
traced steps then took 4.4 s of 0.3, and four fifths of all kernels were page faults.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dlprof.ingest.kernels.events import Integers

_TIMES_PLAIN = 3.0
_TIMES_TRACED = 3.0
_LEAST_NS = 500_000_000
"""A step that is less longer than the others is left where it is: steps of some tenths of a second may well differ."""


@dataclass(frozen=True)
class Undisturbed:
    """What is left of a window: the longest row of steps, of several the first.

    Attributes:
        first, last: Places of its first step and behind its last one.
        left_out: How many are not among them.
        longest_ns: The longest of these (ns).
    """

    first: int
    last: int
    left_out: int
    longest_ns: int


def undisturbed(traced_ns: Integers, plain_ns: float | None) -> Undisturbed | None:
    """The steps of a window without those that were disturbed; None: there are none of these, or nobody can tell.

    Args:
        traced_ns: Time of each step in the window, in their order (ns).
        plain_ns: Median of the steps outside of windows in which nothing was compiled (ns); None: there are none.
    """
    if plain_ns is None or len(traced_ns) < 2:
        return None
    usual = min(float(np.median(traced_ns)), float(traced_ns.min()) * _TIMES_TRACED)
    limit = max(_TIMES_PLAIN * plain_ns, _TIMES_TRACED * float(traced_ns.min()), usual + _LEAST_NS)
    odd = traced_ns > limit
    if not odd.any():
        return None
    edges = np.flatnonzero(np.diff(np.concatenate(([True], odd, [True])).astype(np.int8)))
    first, last = max(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True), key=lambda row: row[1] - row[0])
    return Undisturbed(first, last, len(traced_ns) - (last - first), int(traced_ns[odd].max()))
