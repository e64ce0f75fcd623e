"""What makes a comparison doubtful in words: the state of the machine, the same wherever two sides are told of."""

from __future__ import annotations

from collections.abc import Sequence

from dlprof.analysis.doubts import (
    Contended,
    Doubt,
    GpuThrottled,
    HeldBack,
    LowClock,
    StartWaited,
    State,
    Stolen,
)
from dlprof.units import duration


def doubtful(clauses: Sequence[str]) -> str:
    """Sentences that stand before a comparison; empty: nothing makes it doubtful."""
    if not clauses:
        return ""
    return f"Doubtful: {'; '.join(clauses)}. The gap may be that: measure again on a machine in one state."


def clauses(doubts: Sequence[Doubt], names: tuple[str, str]) -> tuple[str, ...]:
    """What makes a comparison doubtful, a clause each.

    Args:
        doubts: The doubts.
        names: What A and B are called.
    """
    return tuple(_of_state(one.state, *(names if one.of_a else names[::-1])) for one in doubts)


def _of_state(state: State, mine: str, other: str) -> str:
    """A clause."""
    match state:
        case Contended():
            return (
                f"other programs used {state.others_pct:.0f} % of a core while {mine} trained, and its threads spent "
                f"{100 * state.waiting:.0f} % of their runnable time without one ({other}: {_load(state)})"
            )
        case HeldBack():
            return f"a quota held {mine} back for {_share(state.share)} of its time ({other}: {_share(state.other)})"
        case Stolen():
            return (
                f"the host of the virtual machine gave {_share(state.share)} of the time of {mine}'s cores to others "
                f"({other}: {_share(state.other)})"
            )
        case GpuThrottled():
            return (
                f"the GPU of {mine} was throttled in {_share(state.share)} of the samples "
                f"({other}: {_share(state.other)})"
            )
        case LowClock():
            return f"the busy cores of {mine} ran at {state.mhz:.0f} MHz ({other}: {state.other:.0f} MHz)"
        case StartWaited():
            return f"{mine} waited while it started and ended, {_waits(state)} more than {other}"


def _load(state: Contended) -> str:
    if state.other_pct is None or state.other_waiting is None:
        return "not measured"
    return f"{state.other_pct:.0f} % and {100 * state.other_waiting:.0f} %"


def _share(share: float | None) -> str:
    return "not measured" if share is None else f"{100 * share:.0f} %"


def _waits(state: StartWaited) -> str:
    waits = [f"{duration(state.wait_ns)} for a core that others had"] if state.wait_ns else []
    if state.disk_ns:
        waits.append(
            f"{duration(state.disk_ns)} for its files ({state.pages:,} pages from disk against {state.other_pages:,})"
        )
    return " and ".join(waits)
