"""What makes a comparison doubtful in words."""

from __future__ import annotations

import pytest

from dlprof.analysis.doubts import Contended, Doubt, GpuThrottled, HeldBack, LowClock, StartWaited, State, Stolen
from dlprof.report import doubt_words
from tests.unit.runs import MS, S


@pytest.mark.parametrize(
    ("state", "text"),
    [
        (
            Contended(181.0, 0.43, 3.0, 0.0),
            (
                "other programs used 181 % of a core while A trained, and its threads spent 43 % of their runnable time "
                "without one (B: 3 % and 0 %)"
            ),
        ),
        (
            Contended(181.0, 0.43, None, None),
            (
                "other programs used 181 % of a core while A trained, and its threads spent 43 % of their runnable time "
                "without one (B: not measured)"
            ),
        ),
        (HeldBack(0.4, None), "a quota held A back for 40 % of its time (B: not measured)"),
        (
            Stolen(0.12, 0.0),
            "the host of the virtual machine gave 12 % of the time of A's cores to others (B: 0 %)",
        ),
        (GpuThrottled(0.4, 0.0), "the GPU of A was throttled in 40 % of the samples (B: 0 %)"),
        (LowClock(2000.0, 3000.0), "the busy cores of A ran at 2000 MHz (B: 3000 MHz)"),
        (
            StartWaited(2 * S, 500 * MS, 4120, 12),
            (
                "A waited while it started and ended, 2.00 s for a core that others had and 500 ms for its files "
                "(4,120 pages from disk against 12) more than B"
            ),
        ),
    ],
)
def test_a_state_names_the_side_that_it_slowed(state: State, text: str) -> None:
    """With the figure of the other."""
    assert doubt_words.clauses([Doubt(of_a=True, state=state)], ("A", "B")) == (text,)


def test_a_state_of_b_names_b() -> None:
    """The names change places."""
    assert doubt_words.clauses([Doubt(of_a=False, state=HeldBack(0.4, 0.0))], ("tf", "torch")) == (
        "a quota held torch back for 40 % of its time (tf: 0 %)",
    )


def test_what_is_doubtful_comes_with_what_to_do() -> None:
    """Where nothing is, nothing is said."""
    assert doubt_words.doubtful(["x", "y"]) == (
        "Doubtful: x; y. The gap may be that: measure again on a machine in one state."
    )
    assert doubt_words.doubtful([]) == ""
