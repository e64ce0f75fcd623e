"""For how long the threads that phases are of ran, and waited for a core, out of what is sampled of each thread."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dlprof.schema.manifest import PhaseThread

_Times = tuple[int, int]
"""On a core, and waiting for one, since a thread began (ns)."""


class Counters(NamedTuple):
    """What is counted of a process at a moment (ns); None: it was not looked at."""

    run: int | None
    """For how long all of its threads that are there ran."""
    wait: int | None
    main_run: int | None
    main_wait: int | None


@dataclass
class _Last:
    time: int
    whole: _Times
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
        self._last = _Last(0, (0, 0), (0, 0), {})
        self._run = self._wait = 0.0
        self._ended: _Times = 0, 0
        """Of threads that have ended: the sums over all of them have lost these."""
        self._next = 0
        """The first turn that is not over yet."""
        self._is_known = True

    def take(self, threads: Iterable[Sequence[int]]) -> None:
        """Take what was sampled of threads beside the main one: system number and both times (ns)."""
        self._now.update((number, (run, wait)) for number, run, wait in threads if number in self._wanted)

    def at(self, time_ns: int, told: Counters) -> Counters:
        """The counters at a moment, later than the one before.

        Args:
            time_ns: The moment, on the run's timeline.
            told: As they were counted, the main thread's by itself.

        Returns:
            Those of the thread that phases are of in the place of the main one's, None once phases were of a thread
            whose number for the system is not known; the sums with those of such threads that have ended.
        """
        run, wait, main_run, main_wait = told
        if not self._turns or run is None or wait is None or main_run is None or main_wait is None:
            return told
        inside, grew_run, grew_wait = self._of_turns(time_ns)
        self._see_ended(time_ns, run)
        last, self._last = self._last, _Last(time_ns, (run, wait), (main_run, main_wait), dict(self._now))
        elapsed = max(1, time_ns - last.time)
        left = 1 - min(1.0, inside / elapsed)
        grew_run += left * max(0, main_run - last.main[0])
        grew_wait += left * max(0, main_wait - last.main[1])
        most = min(1.0, elapsed / max(1.0, grew_run + grew_wait))  # where one hands over to another both may have run
        self._run, self._wait = self._run + most * grew_run, self._wait + most * grew_wait
        own = (round(self._run), round(self._wait)) if self._is_known else (None, None)
        return Counters(run + self._ended[0], wait + self._ended[1], *own)

    def _see_ended(self, time_ns: int, run_ns: int) -> None:
        """Where the sum over all threads became less, one that had its turn before may be the one that is gone."""
        for turn in reversed(self._turns[: self._next]):
            times = self._now.get(turn.system_id or 0)
            if times is not None and run_ns < self._last.whole[0] and turn.end_ns <= time_ns:
                del self._now[turn.system_id or 0]
                self._ended = self._ended[0] + times[0], self._ended[1] + times[1]
                return

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
