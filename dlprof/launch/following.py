"""The Pythons below a program that load an engine: each has a folder of its own, and is looked at from outside too.

The processes make their folders themselves (`dlprof_probes.inproc.followed`); here they are noticed, looked at, and
waited for. None of them is ended from here, and none is dlprof's child: their parents wait for them.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from dlprof.config import TraceConfig
from dlprof.launch import budget, follow_folder, payload, ranks, signals
from dlprof.launch.beside import Beside
from dlprof.launch.process import Outcome
from dlprof.launch.process_end import End, Ends, Watched, left_status
from dlprof.launch.recorded import Child, ProbeStates, Recorded, clock_between, read_anchor
from dlprof.launch.sampler import SAMPLED
from dlprof.rundir import CHILDREN, RunDir
from dlprof.schema.manifest import Anchor, GpuTracer
from dlprof.schema.process_config import ChildFacts, decode_facts
from dlprof.schema.vocabulary import CHILD_FACTS, ProbeState

MOST_LOOKED_AT = 8
"""Children beside which helpers run at one time."""
NO_LINES = "a followed process is traced from its import of an engine on: its lines are sampled, not counted"
_TOO_MANY = f"more than {MOST_LOOKED_AT} followed processes ran at one time"
_GONE = "the process ended before it could be looked at"
_STOP_S = 12.0

Begin = Callable[[RunDir, ChildFacts], None]
"""Takes a child when it is found: its run begins."""


@dataclass
class _Live:
    child: Child
    states: ProbeStates
    start: Anchor
    watched: Watched | None
    beside: Beside | None
    replaced: End | None = None
    stopping: threading.Thread | None = None

    @property
    def samples_stacks(self) -> bool:
        return self.beside is not None and self.stopping is None and self.beside.samples_stacks

    @property
    def end(self) -> End | None:
        return self.replaced or (self.watched.end if self.watched is not None else None)


class Following:
    """Notices children, and measures beside them.

    Args:
        config: How to trace.
        run: The run folder of the program.
        begin: Takes each child as it is found.
        tracer: What traces GPUs, for the records of the children.
    """

    def __init__(self, config: TraceConfig, run: RunDir, begin: Begin, tracer: GpuTracer) -> None:
        self._config = config
        self._run = run
        self._begin = begin
        self._tracer = tracer
        self._ends = Ends()
        self._live: list[_Live] = []
        self._known: set[str] = set()
        self._program: int | None = None

    def started(self, program: int) -> None:
        """The program runs, as this process."""
        self._program = program

    def tick(self) -> tuple[int, ...]:
        """See who is new and who has ended; returns the processes of helpers."""
        for folder in self._new():
            self._take(folder)
        for one in self._live:
            if one.end is not None:
                self._stop_beside(one)
            elif one.beside is not None:
                one.beside.tick()
        return tuple(pid for one in self._live if one.beside is not None for pid in one.beside.helpers())

    def sampled(self) -> frozenset[int]:
        """The processes whose stacks are sampled here."""
        return frozenset(one.child.facts.pid for one in self._live if one.samples_stacks)

    def _new(self) -> list[Path]:
        """Folders of children that have said what they are."""
        try:
            names = sorted(set(os.listdir(self._run.path / CHILDREN)) - self._known)  # noqa: PTH208  (hot)
        except OSError:
            return []
        folders = [self._run.path / CHILDREN / name for name in names]
        return [folder for folder in folders if (folder / CHILD_FACTS).is_file()]

    def _take(self, path: Path) -> None:
        self._known.add(path.name)
        facts = decode_facts((path / CHILD_FACTS).read_bytes())
        (path / CHILD_FACTS).unlink()
        if facts is None:
            return
        child = Child(RunDir(path), facts)
        self._replace(facts)
        one = _Live(child, ProbeStates.of(self._config), read_anchor(), self._watch(child), None)
        if self._config.wants("lines"):
            one.states.note("lines", ProbeState.UNAVAILABLE, NO_LINES)
        self._look(one)
        self._live.append(one)
        self._begin(child.folder, facts)

    def _replace(self, facts: ChildFacts) -> None:
        """The same process may be another program by now: what it was before is over.

        Both may be found at once, after the process has ended. A number that the kernel gave away again is another
        process: that one began at another time.
        """
        for one in self._live:
            before = one.child.facts
            if one.replaced is None and (before.pid, before.started) == (facts.pid, facts.started):
                one.replaced = End(facts.boot_ns, None)
                one.child.replaced = True

    def _watch(self, child: Child) -> Watched | None:
        try:
            watched = Watched(child.facts.pid, child.folder.raw / "exit")
        except OSError:
            return None
        self._ends.watch(watched)
        return watched

    def _look(self, one: _Live) -> None:
        """Start helpers beside a child, if it is there and there are not too many."""
        there = sum(1 for other in self._live if other.beside is not None and other.stopping is None)
        if one.watched is None or there >= MOST_LOOKED_AT:
            reason = _GONE if one.watched is None else _TOO_MANY
            for name in (*SAMPLED, "stacks"):
                if self._config.wants(name):
                    one.states.note(name, ProbeState.UNAVAILABLE, reason)
            return
        pid, together = one.child.facts.pid, ranks.on_its_machine(one.child.facts.ranks) or there + 1
        config = budget.among_ranks(self._config, together)
        one.beside = Beside(config, one.child.folder, pid, one.states, signals.unblock, program=self._program)
        one.beside.start(lambda: pid, tree=False, apart=lambda: self.sampled() - {pid})  # it may be a launcher itself
        one.beside.tick()

    @staticmethod
    def _stop_beside(one: _Live) -> None:
        if one.beside is not None and one.stopping is None:
            one.stopping = threading.Thread(target=one.beside.stop)
            one.stopping.start()

    def stop(self, interrupts: int) -> list[Child]:
        """The program is over: what was recorded of each child, in the order of their folders.

        Args:
            interrupts: How many times Ctrl-C came.
        """
        self.tick()
        for one in self._live:
            self._stop_beside(one)
        for one in self._live:
            if one.stopping is not None:
                one.stopping.join(_STOP_S)
        self._ends.close()
        for one in self._live:
            self._record(one, interrupts)
        return sorted((one.child for one in self._live), key=lambda child: child.folder.path.name)

    @property
    def counts(self) -> tuple[int, int]:
        """How many Pythons began below the program, and how many that loaded an engine were not followed."""
        return follow_folder.counts(self._run)

    @staticmethod
    def _judge_phases(one: _Live) -> None:
        reason = payload.failure(one.child.folder)
        if reason is not None:
            one.states.note("phases", ProbeState.FAILED, reason)
        with contextlib.suppress(OSError):
            payload.status_file(one.child.folder).unlink(missing_ok=True)
            (one.child.folder.raw / "exit").unlink(missing_ok=True)

    def _record(self, one: _Live, interrupts: int) -> None:
        facts, end = one.child.facts, one.end or _unseen_end(one)
        end_ns = end.time_ns if end is not None else time.perf_counter_ns()
        one.child.went_on = end is None and one.watched is not None
        user_ns, system_ns = one.watched.used_ns if one.watched is not None else (0, 0)
        outcome = Outcome(
            exit_code=end.exit_code if end is not None else None,
            signal=end.signal if end is not None else None,
            start_ns=facts.boot_ns,
            end_ns=max(end_ns, facts.begun_ns),
            user_ns=user_ns,
            system_ns=system_ns,
            interrupts=interrupts,
            left={},
            killed=False,
            went_on=one.child.went_on,
        )
        clock = clock_between(one.start, read_anchor(), facts.boot_ns)
        self._judge_phases(one)
        one.child.recorded = Recorded(outcome, facts.pid, clock, self._tracer, one.states.all_probes())


def _unseen_end(one: _Live) -> End | None:
    """The end of a child that was over when it was found: what it wrote last tells when."""
    if one.watched is not None:
        return None
    raw = one.child.folder.raw
    with contextlib.suppress(OSError):
        age_ns = time.time_ns() - (raw / "inproc.wire").stat().st_mtime_ns
        return End(time.perf_counter_ns() - max(0, age_ns), left_status(raw / "exit"))
    return End(time.perf_counter_ns(), left_status(raw / "exit"))
