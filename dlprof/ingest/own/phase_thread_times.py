"""For how long the threads that phases are of ran, and waited for a core, out of what is sampled of each thread."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dlprof.schema.manifest import PhaseThread

_Times = tuple[int, int]
"""On a core, and waiting for one, since a thread began (ns)."""


@dataclass
class _Last:
    time: int
    main: _Times
    others: dict[int, _Times]


class PhaseThreadTimes:
    """Counters of the main thread that go on with those of another one while phases are of that.

    Args:
        turns: When they are, in order.
    """

    def __init__(self, turns: Sequence[PhaseThread] = ()) -> None:
        self._turns = turns
        self._wanted = {turn.system_id for turn in turns}
        self._now: dict[int, _Times] = {}
        self._last = _Last(0, (0, 0), {})
        self._run = self._wait = 0.0
        self._next = 0
        """The first turn that is not over yet."""
        self._is_known = True

    def take(self, threads: Iterable[Sequence[int]]) -> None:
        """Take what was sampled of threads beside the main one: system number and both times (ns)."""
        self._now.update((number, (run, wait)) for number, run, wait in threads if number in self._wanted)

    def at(self, time_ns: int, run_ns: int | None, wait_ns: int | None) -> tuple[int | None, int | None]:
        """Both counters at a moment, later than the one before.

        Args:
            time_ns: The moment, on the run's timeline.
            run_ns: For how long the main thread ran by then.
            wait_ns: For how long it waited for a core.

        Returns:
            Both; None once phases were of a thread whose number for the system is not known.
        """
        if not self._turns or run_ns is None or wait_ns is None:
            return run_ns, wait_ns
        inside, run, wait = self._of_turns(time_ns)
        last, self._last = self._last, _Last(time_ns, (run_ns, wait_ns), dict(self._now))
        elapsed = max(1, time_ns - last.time)
        left = 1 - min(1.0, inside / elapsed)
        run, wait = run + left * max(0, run_ns - last.main[0]), wait + left * max(0, wait_ns - last.main[1])
        most = min(1.0, elapsed / max(1.0, run + wait))  # where one hands over to the other both may have run
        self._run, self._wait = self._run + most * run, self._wait + most * wait
        return (round(self._run), round(self._wait)) if self._is_known else (None, None)

    def _of_turns(self, until: int) -> tuple[int, float, float]:
        """How much of the time since the last sample is of other threads (ns), and by how much these grew."""
        inside, grew = 0, {}
        for turn in self._turns[self._next :]:
            if turn.start_ns >= until:
                break
            inside += max(0, min(until, turn.end_ns) - max(self._last.time, turn.start_ns))
            if turn.system_id is None:
                self._is_known = False
            else:
                now, before = (of.get(turn.system_id, (0, 0)) for of in (self._now, self._last.others))
                grew[turn.system_id] = now[0] - before[0], now[1] - before[1]
            if turn.end_ns <= until:
                self._next += 1
        return inside, sum(run for run, _ in grew.values()), sum(wait for _, wait in grew.values())
